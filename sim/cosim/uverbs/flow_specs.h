// What a program asks a flow rule to match, as verbs write it.
#pragma once

#include "models/base/byte_view.h"
#include "sim/driver/ethernet_driver.h"

namespace hca::cosim {

/// A rule's match and action. Without receivers.
struct ParsedFlow {
  adapter::FlowKey mask{};
  adapter::FlowKey value{};
  std::uint32_t flowTag = 0;
  bool drops = false;
  bool isGroupAlone = false;  ///< nothing but a group's address is matched
};

/// Reads `count` specifications (struct ib_uverbs_flow_spec_...) that fill `specs`, as Linux
/// drivers/infiniband/hw/mlx5/fs.c, parse_flow_attr does. 0, or the errno: EINVAL for what makes no sense, EOPNOTSUPP
/// for what isn't supported.
int parseFlowSpecs(ByteView specs, std::size_t count, ParsedFlow& flow);

}  // namespace hca::cosim
