// A raw packet queue pair, as verbs know it: a send queue and a receive queue with what they need.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/driver/ethernet_driver.h"

namespace hca::driver {

/// Numbers of its parts. Linux drivers/infiniband/hw/mlx5/mlx5_ib.h, struct mlx5_ib_raw_packet_qp.
struct RawQueuePair {
  std::optional<QpNumber> sendQueue;
  std::optional<QpNumber> receiveQueue;
  std::uint32_t sendInterface = 0;
  std::uint32_t receiver = 0;
  // As they were brought to.
  wire::WorkQueueState sendState = wire::WorkQueueState::kReset;
  wire::WorkQueueState receiveState = wire::WorkQueueState::kReset;

  /// By which software knows it: the send queue's, if there is one.
  [[nodiscard]] QpNumber number() const { return sendQueue ? *sendQueue : receiveQueue.value_or(QpNumber()); }
};

struct RawQueuePairAttributes {
  adapter::TransportDomainNumber domain;
  std::optional<adapter::QpAttributes> sendQueue;
  std::optional<adapter::QpAttributes> receiveQueue;
  bool takesOwnUnicast = false;
  bool takesOwnMulticast = false;
};

/// Creates all parts, or none (create_raw_packet_qp of the stock driver).
void createRawQueuePair(EthernetDriver& driver, OwnerId owner, const RawQueuePairAttributes& attributes,
                        Done<RawQueuePair> done);
/// Brings both queues to the states that belong to a queue pair's `transition`; `pair` tells them afterwards and must
/// live so long (modify_raw_packet_qp of the stock driver: frames are received from INIT on, sent in RTS alone).
void modifyRawQueuePair(EthernetDriver& driver, OwnerId owner, RawQueuePair& pair, adapter::QpTransition transition,
                        Done<int> done);
/// Refused as busy, with all parts there, while rules lead to it.
void destroyRawQueuePair(EthernetDriver& driver, OwnerId owner, const RawQueuePair& pair, Done<int> done);

}  // namespace hca::driver
