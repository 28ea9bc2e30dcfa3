// Names and one-line descriptions for logs and dump tools.
#pragma once

#include <string>

#include "models/wire/cqe.h"
#include "models/wire/eqe.h"
#include "models/wire/tag_matching.h"
#include "models/wire/wqe.h"

namespace hca::wire {

// "unknown" for a value outside the enumeration.
[[nodiscard]] const char* name(CqeOpcode opcode);
[[nodiscard]] const char* name(CqeFormat format);
[[nodiscard]] const char* name(CqeSyndrome syndrome);
[[nodiscard]] const char* name(SendOpcode opcode);
[[nodiscard]] const char* name(EventType type);
[[nodiscard]] const char* name(TagCompletion operation);

/// One line without a line break, such as
/// "requester RDMA_WRITE qp 0x1a counter 3 bytes 0 owner 1"; error entries with syndrome and vendor syndrome.
[[nodiscard]] std::string describe(const Cqe& cqe);
/// "completion cq 0x5 owner 0", "port change ...".
[[nodiscard]] std::string describe(const Eqe& eqe);

}  // namespace hca::wire
