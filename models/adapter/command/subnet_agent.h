// The adapter's subnet management agent.
#pragma once

#include <cstdint>

#include "models/adapter/command/command_device.h"
#include "models/base/byte_view.h"

namespace hca::adapter {

/// Answers management datagrams about the adapter and its ports (InfiniBand volume 1, 14.3). There is no subnet
/// manager: nothing can be set, and what is wrong with a request is said in the answer's status.
class SubnetAgent {
 public:
  explicit SubnetAgent(const CommandDevice& device) : device_(device) {}

  /// `request` came in at port `port`, counted from 1; both have wire::ManagementDatagram::kSize bytes.
  void answer(ByteView request, std::uint8_t port, MutableByteView response) const;

 private:
  void fillNodeInfo(std::uint8_t port, MutableByteView data) const;
  void fillGuids(std::uint8_t port, std::uint32_t block, MutableByteView data) const;
  void fillPortInfo(std::uint8_t port, MutableByteView data) const;
  void fillPartitionKeys(std::uint8_t port, std::uint32_t block, MutableByteView data) const;
  /// The value of MAD status.
  [[nodiscard]] std::uint16_t get(ByteView request, std::uint8_t port, MutableByteView data) const;
  [[nodiscard]] const PortIdentity& portOf(std::uint8_t port) const { return device_.identity.ports[port - 1U]; }

  const CommandDevice& device_;
};

}  // namespace hca::adapter
