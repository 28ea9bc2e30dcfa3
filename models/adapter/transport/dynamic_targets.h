// What a target of dynamic connections keeps of each initiator.
#pragma once

#include <tuple>

#include "models/adapter/transport/queue_pair.h"
#include "models/network/packet.h"

namespace hca::adapter {

/// Which initiator, to which target.
struct DynamicPeer {
  QpNumber target;
  QpNumber initiator;
  Lid lid;
  network::Gid gid{};

  friend bool operator<(const DynamicPeer& a, const DynamicPeer& b) {
    return std::tie(a.target, a.initiator, a.lid, a.gid) < std::tie(b.target, b.initiator, b.lid, b.gid);
  }
};

/// Contexts come with a request for a connection, and go with its end or with the target.
class DynamicTargets {
 public:
  /// The context of `packet`'s initiator, which then executes the packet; nullptr if that was about the connection
  /// itself, or if there is no such connection.
  virtual QueuePair* contextOf(QueuePair& target, const network::Packet& packet) = 0;

 protected:
  ~DynamicTargets() = default;
};

}  // namespace hca::adapter
