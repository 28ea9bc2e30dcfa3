// The way round inside the adapter.
#pragma once

#include <cstdint>

#include "models/adapter/adapter_context.h"
#include "models/adapter/transport/datapath_config.h"
#include "models/base/units.h"
#include "models/kernel/inbox.h"
#include "models/network/packet_receiver.h"

namespace hca::adapter {

/// Takes what a port sends to itself, which never reaches the link. It has a rate and a latency of its own.
class Loopback final {
 public:
  Loopback(const AdapterContext& context, const DatapathConfig& config);

  void connect(network::PacketReceiver& receiver) { receiver_ = &receiver; }

  /// Returns the time at which the packet's last bit is out of the sending stage.
  Time transmit(network::Packet packet);

  [[nodiscard]] std::uint64_t packets() const { return packets_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }

 private:
  void arrive(network::Packet& packet);
  void fire(observe::PacketEvent::Action action, Time time, const network::Packet& packet) const;

  AdapterContext context_;
  const DatapathConfig& config_;
  network::PacketReceiver* receiver_ = nullptr;
  kernel::Inbox<Loopback, network::Packet> flights_;
  Time freeAt_{};
  std::uint64_t packets_ = 0;
  Bytes bytes_{};
};

}  // namespace hca::adapter
