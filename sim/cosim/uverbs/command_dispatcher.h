// From what an ioctl names to the handler of it.
#pragma once

#include <optional>

#include "sim/cosim/uverbs/command_call.h"
#include "sim/cosim/uverbs/uverbs_context.h"

namespace hca::cosim {

/// Executes one command of `process` to `context`; `done` runs once, at once or later. `notes`: filled for a log, may
/// be null; What isn't supported answers EOPNOTSUPP.
void dispatchCommand(UverbsContext& context, std::uint64_t code, std::uint64_t address,
                     std::shared_ptr<CallingProcess> process, std::optional<OfferedPipe> pipe,
                     std::shared_ptr<CommandNotes> notes, CommandCall::Done done);

}  // namespace hca::cosim
