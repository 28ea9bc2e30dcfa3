// Between a target's attributes and its context.
#pragma once

#include "models/adapter/transport/qp_attributes.h"
#include "models/base/byte_view.h"

namespace hca::adapter {

/// Preconditions: both contexts are wire::DctContext::kSize long, and what is encoded into is zero.
[[nodiscard]] QpAttributes decodeDctContext(ByteView context);
void encodeDctContext(const QpAttributes& target, MutableByteView context);

}  // namespace hca::adapter
