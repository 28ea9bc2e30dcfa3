// What a flow rule looks at in a frame.
#pragma once

#include <array>
#include <cstdint>

#include "models/network/ethernet_frame.h"

namespace hca::adapter {

/// The first parts of a match (fte_match_param: outer headers, misc), laid out as wire::FlowMatch.
using FlowKey = std::array<std::uint8_t, 0x80>;

/// The fields of `frame` in their places; what it doesn't have is zero.
[[nodiscard]] FlowKey flowKeyOf(const network::EthernetFrame& frame);

/// All bits that `flowKeyOf` can set: what a rule can ask for.
[[nodiscard]] const FlowKey& knownFlowFields();

}  // namespace hca::adapter
