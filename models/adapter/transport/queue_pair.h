// All that the adapter keeps of one queue pair.
#pragma once

#include <cstddef>

#include "models/adapter/receive_queue/receive_queue_state.h"
#include "models/adapter/requester/requester_state.h"
#include "models/adapter/responder/responder_state.h"
#include "models/adapter/send_queue/send_queue_state.h"
#include "models/adapter/transport/qp_attributes.h"
#include "models/base/prefetch.h"

namespace hca::adapter {

/// One queue pair: its context and the state of each stage. Owned by QpTable; stages get references.
///
/// With thousands of queue pairs each is out of the processor's cache when its turn comes. So what a message needs lies
/// in few cache lines: the first, and those from `send` to the beginning of `responder`.
struct alignas(kCacheLine) QueuePair {
  QpNumber number;
  QpAttributes attributes;
  alignas(kCacheLine) SendQueueState send;
  RequesterState requester;
  ResponderState responder;
  ReceiveQueueState receive;

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
  /// By what number software knows it: a context of a target is the target's.
  [[nodiscard]] QpNumber reportedNumber() const {
    return attributes.service == QpService::kDcResponder ? attributes.target : number;
  }
  /// Bytes of the receive queue's part of the buffer; the send queue follows.
  [[nodiscard]] std::uint64_t receiveBytes() const {
    if (attributes.receiveQueueType != RqType::kOwn) return 0;
    return std::uint64_t{1} << (attributes.logReceiveQueueSize + attributes.logReceiveStride);
  }
};

/// Starts to bring what a message needs into the processor's cache; null does nothing.
inline void prefetchForMessage(const QueuePair* qp) {
  static_assert(offsetof(QueuePair, attributes) + offsetof(QpAttributes, path) < kCacheLine);
  constexpr std::size_t kHotBegin = offsetof(QueuePair, send);
  constexpr std::size_t kHotEnd = offsetof(QueuePair, responder) + offsetof(ResponderState, receive);
  static_assert(kHotEnd - kHotBegin <= 3 * kCacheLine);
  if (qp == nullptr) return;
  const auto* const bytes = reinterpret_cast<const char*>(qp);
  prefetch(bytes, kCacheLine);
  prefetch(bytes + kHotBegin, kHotEnd - kHotBegin);
}

}  // namespace hca::adapter
