// Acknowledgements, and packets that wait: for a receive WQE, or for what the caches lack.
#include <utility>

#include "models/adapter/responder/responder.h"
#include "models/adapter/transport/acknowledge.h"

namespace hca::adapter {

using Message = ResponderState::Message;

// With acknowledge coalescing: now, if enough requests wait for it, or soon.
void Responder::answer(QueuePair& qp, std::uint32_t psn) {
  if (config_.ackCoalescing == 1) return acknowledge(qp, aeth::kAck, psn);
  DeferredAck& deferred = deferredAcks_[qp.number.value()];
  deferred.psn = psn;
  if (++deferred.requests == config_.ackCoalescing) return acknowledge(qp, aeth::kAck, psn);
  if (ackTimers_.deadline(qp.number.value()) == kForever)
    ackTimers_.set(qp.number.value(), context_.now() + config_.ackDelay);
}

void Responder::onAckDelay(std::uint32_t qpNumber) {
  QueuePair* qp = ports_.queuePairs.find(QpNumber(qpNumber));
  const auto deferred = deferredAcks_.find(qpNumber);
  if (deferred == deferredAcks_.end()) return;
  const std::uint32_t psn = deferred->second.psn;
  deferredAcks_.erase(deferred);
  if (qp != nullptr && qp->mayReceive()) acknowledge(*qp, aeth::kAck, psn);
}

// Any response acknowledges what came before its request (InfiniBand volume 1, 9.7.5.1.2).
void Responder::send(QueuePair& qp, const Response& response) {
  if (!deferredAcks_.empty() && deferredAcks_.erase(qp.number.value()) > 0) ackTimers_.cancel(qp.number.value());
  ports_.responses.send(qp, response);
}

void Responder::acknowledge(QueuePair& qp, std::uint8_t syndrome, std::uint32_t psn) {
  Response response;
  response.syndrome = syndrome;
  response.psn = psn;
  response.messageNumber = qp.responder.messageNumber;
  send(qp, response);
}

// Whether hardware tells software by this event is not public.
void Responder::refuseConnection(QueuePair& context, std::uint32_t psn) {
  acknowledge(context, aeth::kNakRemoteAccess, psn);
  ports_.errors.onResponderError(context, EventType::kWqAccessError);
}

// ---- packets that wait

void Responder::onReceiveAvailable(QueuePair& qp) {
  if (!std::exchange(qp.responder.waitingForReceive, false)) return;
  resumeWaiting(qp);
}

void Responder::onReceiveEmpty(QueuePair& qp) {
  ResponderState& state = qp.responder;
  if (!std::exchange(state.waitingForReceive, false)) return;
  const network::Packet refused = state.waiting.pop();
  if (!isReliable(qp.attributes.service)) {
    ++unreliableDrops_;
    state.message = Message::kNone;
    return resumeWaiting(qp);
  }
  ++rnrNaks_;
  acknowledge(qp, static_cast<std::uint8_t>(aeth::kRnrNak | (qp.attributes.minRnrNak & 0x1F)), refused.psn);
  state.nakSent = true;  // what follows this packet will be sent again after it
  resumeWaiting(qp);
}

Translation Responder::translate(const AccessRequest& request) {
  if (!hasWaited_) return ports_.translator.translate(request, segments_);
  const CachePort::Bypass bypass(ports_.cache);
  return ports_.translator.translate(request, segments_);
}

// Whether the packet has to wait for what its accesses missed; it is executed anew then.
bool Responder::missed(const QueuePair& qp) { return !hasWaited_ && ports_.cache.waits(*this, qp.number.value()); }

void Responder::onCacheReady(std::uint64_t token) {
  QueuePair* qp = ports_.queuePairs.find(QpNumber(static_cast<std::uint32_t>(token)));
  if (qp == nullptr || !std::exchange(qp->responder.waitingForCache, false) || !qp->mayReceive()) return;
  ResponderState& state = qp->responder;
  network::Packet packet = state.waiting.pop();
  hasWaited_ = true;
  process(*qp, packet);
  hasWaited_ = false;
  if (!state.isWaiting()) return resumeWaiting(*qp);
  // It waits for a receive now: back to the front.
  for (std::size_t others = state.waiting.size() - 1; others > 0; --others) state.waiting.push(state.waiting.pop());
}

void Responder::resumeWaiting(QueuePair& qp) {
  ResponderState& state = qp.responder;
  std::size_t left = state.waiting.size();
  while (left-- > 0 && qp.mayReceive()) {
    network::Packet packet = state.waiting.pop();
    if (state.isWaiting()) {
      state.waiting.push(std::move(packet));  // rotates: the order of the others stays
      continue;
    }
    process(qp, packet);
  }
}

}  // namespace hca::adapter
