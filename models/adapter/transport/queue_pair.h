// All that the adapter keeps of one queue pair.
#pragma once

#include "models/adapter/receive_queue/receive_queue_state.h"
#include "models/adapter/requester/requester_state.h"
#include "models/adapter/responder/responder_state.h"
#include "models/adapter/send_queue/send_queue_state.h"
#include "models/adapter/transport/qp_attributes.h"
#include "models/base/units.h"

namespace hca::adapter {

/// One queue pair: its context and the state of each stage. Owned by QpTable; stages get references.
struct QueuePair {
  QpNumber number;
  QpAttributes attributes;
  SendQueueState send;
  ReceiveQueueState receive;
  RequesterState requester;
  ResponderState responder;
  Time contextReadyAt;  ///< when the context that an arriving packet asked for is on chip

  [[nodiscard]] bool mayReceive() const {
    return attributes.state == QpState::kReadyToReceive || attributes.state == QpState::kReadyToSend ||
           attributes.state == QpState::kSendQueueDrain || attributes.state == QpState::kSendQueueError;
  }
  /// Whether requests may begin.
  [[nodiscard]] bool maySend() const { return attributes.state == QpState::kReadyToSend; }
  /// Whether requests that began go on: a send queue that drains finishes them.
  [[nodiscard]] bool isSending() const { return maySend() || attributes.state == QpState::kSendQueueDrain; }
  /// Whether requests complete as flushed.
  [[nodiscard]] bool flushesSends() const { return inError() || attributes.state == QpState::kSendQueueError; }
  /// Whether send doorbells are listened to.
  [[nodiscard]] bool takesRequests() const { return isSending() || flushesSends(); }
  [[nodiscard]] bool inError() const { return attributes.state == QpState::kError; }
  [[nodiscard]] bool usesSharedQueue() const { return attributes.receiveQueueType == RqType::kSrq; }
  /// The shared queue that it receives from: its own one, or that of the message under way.
  [[nodiscard]] SrqNumber sharedQueue() const { return isXrc() ? responder.sharedQueue : attributes.srq; }
  [[nodiscard]] bool isXrc() const { return attributes.service == QpService::kXrc; }
  /// Bytes of the receive queue's part of the buffer; the send queue follows.
  [[nodiscard]] std::uint64_t receiveBytes() const {
    if (attributes.receiveQueueType != RqType::kOwn) return 0;
    return std::uint64_t{1} << (attributes.logReceiveQueueSize + attributes.logReceiveStride);
  }
};

}  // namespace hca::adapter
