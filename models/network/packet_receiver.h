// Whoever a link delivers packets to.
#pragma once

#include "models/base/units.h"
#include "models/network/packet.h"

namespace hca::network {

class PacketReceiver {
 public:
  /// The last bit of `packet` arrived (plus the receive latency of the link's configuration). May move it away.
  virtual void onPacket(Packet& packet) = 0;
  /// `packet` is the next one to arrive. A hint: what it will need can be made ready.
  virtual void expect([[maybe_unused]] const Packet& packet) {}
  /// When the next packet may start that could do so at `earliest`, so that it finds room: link-level flow control.
  /// `onTheWay`: what was sent and has not arrived.
  [[nodiscard]] virtual Time hasRoomAt(Time earliest, [[maybe_unused]] Bytes onTheWay) const { return earliest; }

 protected:
  ~PacketReceiver() = default;
};

/// Told when a port's link comes up or goes down.
class LinkListener {
 public:
  virtual void onLinkState(bool isUp) = 0;

 protected:
  ~LinkListener() = default;
};

/// Where a port puts packets for the wire.
class PacketSender {
 public:
  /// Queues `packet` for transmission at Calendar::now(). Returns the time at which its last bit leaves.
  virtual Time transmit(Packet&& packet) = 0;
  /// Time at which a packet queued now would start; flow control against a long queue.
  [[nodiscard]] virtual Time freeAt() const = 0;

 protected:
  ~PacketSender() = default;
};

}  // namespace hca::network
