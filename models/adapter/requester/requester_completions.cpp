// How requests end: done in order, failed with their cause, or flushed.
#include <utility>

#include "models/adapter/requester/requester.h"
#include "models/adapter/transport/acknowledge.h"
#include "models/adapter/transport/psn.h"
#include "models/adapter/transport/vendor_errors.h"

namespace hca::adapter {

// Completes, in order, every request whose last packet is `psn` or before it.
void Requester::completeThrough(QueuePair& qp, std::uint32_t psn) {
  RequesterState& state = qp.requester;
  while (!state.requests.empty()) {
    SendRequest& oldest = state.requests.front();
    if (oldest.isMemoryOperation()) {
      if (!oldest.done) break;
    } else {
      if (!oldest.started || psnDistance(psn, psnAdd(oldest.firstPsn, oldest.packets - 1)) < 0) break;
      if (oldest.hasResponse()) break;  // its data complete it
    }
    const SendRequest request = std::move(oldest);
    popOldest(qp);
    complete(qp, request);
    if (qp.inError()) return;  // the completion queue refused it
  }
}

// Those that nothing is before any more.
void Requester::completeMemoryOperations(QueuePair& qp) {
  RequesterState& state = qp.requester;
  while (!qp.inError() && !state.requests.empty() && state.requests.front().done) {
    const SendRequest request = std::move(state.requests.front());
    popOldest(qp);
    complete(qp, request);
  }
}

void Requester::popOldest(QueuePair& qp) {
  RequesterState& state = qp.requester;
  const bool wasRead = state.requests.pop().hasResponse();
  if (state.cursor > 0) {
    --state.cursor;
    if (wasRead && state.readsInFlight > 0) --state.readsInFlight;
  } else {
    state.cursorPacket = 0;  // answered while it was being sent again
  }
}

void Requester::restartAckTimer(QueuePair& qp) {
  const RequesterState& state = qp.requester;
  const bool outstanding = state.cursor > 0 || state.cursorPacket > 0;
  const Time timeout = ackTimeout(qp.attributes.path.ackTimeout);
  if (outstanding && timeout != kForever) {
    ackTimers_.set(qp.number.value(), context_.now() + timeout);
  } else {
    ackTimers_.cancel(qp.number.value());
  }
}

void Requester::complete(QueuePair& qp, const SendRequest& request) { complete(qp, request, recordOf(qp, request)); }

void Requester::complete(QueuePair& qp, const SendRequest& request, const CompletionRecord& record) {
  report(observe::Stage::kAcknowledged, qp, request, context_.now());
  if (request.rendezvous != nullptr) {
    transfers_->onTransferEnded(qp, request, true);
    if (qp.requester.draining) checkDrained(qp);
    return;
  }
  const bool quiet =
      request.completion == CompletionMode::kOnError || request.completion == CompletionMode::kOnFirstError;
  if (!quiet) ports_.completions.complete(record);
  if (qp.requester.draining) checkDrained(qp);
}

void Requester::drain(QueuePair& qp) {
  qp.requester.draining = true;
  checkDrained(qp);
}

void Requester::checkDrained(QueuePair& qp) {
  RequesterState& state = qp.requester;
  if (!state.requests.empty() && state.requests.front().started) return;
  state.draining = false;
  ports_.errors.onSendQueueDrained(qp);
}

void Requester::resume(QueuePair& qp) {
  qp.requester.draining = false;
  schedule(qp);
}

CompletionRecord Requester::recordOf(const QueuePair& qp, const SendRequest& request) const {
  CompletionRecord record;
  record.cq = qp.attributes.sendCq;
  record.qp = qp.number;
  record.userIndex = qp.attributes.userIndex;
  record.opcode = CqeOpcode::kRequester;
  record.sendOpcode = static_cast<std::uint8_t>(request.opcode);
  record.wqeCounter = static_cast<std::uint16_t>(request.index);
  record.byteCount = request.length;
  record.forceEvent = request.completion == CompletionMode::kAlwaysWithEvent;
  record.request = idOf(qp, request);
  return record;
}

void Requester::completeWithError(QueuePair& qp, const SendRequest& request, CqeSyndrome syndrome,
                                  std::uint8_t vendorError) {
  if (request.rendezvous != nullptr) return transfers_->onTransferEnded(qp, request, false);
  CompletionRecord record = recordOf(qp, request);
  record.opcode = CqeOpcode::kRequesterError;
  record.syndrome = syndrome;
  record.vendorError = vendorError;
  qp.requester.errorReported = true;
  ports_.completions.complete(record);
}

void Requester::fault(QueuePair& qp, SendRequest& request, CqeSyndrome syndrome, std::uint8_t vendorError) {
  (void)qp;
  request.faulted = true;
  request.syndrome = syndrome;
  request.vendorError = vendorError;
}

void Requester::onPayloadUnreadable(QueuePair& qp, std::uint32_t psn) {
  goBackTo(qp, psn);
  RequesterState& state = qp.requester;
  if (state.cursor >= state.requests.size()) return;
  fault(qp, state.requests[state.cursor], CqeSyndrome::kLocalProtection, vendor_error::kUnreadableMemory);
  failIfOldest(qp);
}

void Requester::failIfOldest(QueuePair& qp) {
  const RequesterState& state = qp.requester;
  if (state.requests.empty() || !state.requests[0].faulted) return;
  if (!qp.isSending() || !(state.requests[0].started || qp.maySend())) return;  // not begun, and not to begin
  failOldest(qp, state.requests[0].syndrome, state.requests[0].vendorError);
}

void Requester::failOldest(QueuePair& qp, CqeSyndrome syndrome, std::uint8_t vendorError) {
  RequesterState& state = qp.requester;
  if (state.requests.empty()) return;
  const SendRequest request = state.requests.pop();
  state.cursor = 0;
  completeWithError(qp, request, syndrome, vendorError);
  ports_.errors.onRequesterError(qp);
}

void Requester::flush(QueuePair& qp) {
  RequesterState& state = qp.requester;
  ports_.egress.cancel(state.egress);
  ackTimers_.cancel(qp.number.value());
  rnrTimers_.cancel(qp.number.value());
  state.waitingForRnr = false;
  state.recovering = false;
  state.draining = false;
  state.connected = state.mustConnect = false;
  state.readsInFlight = 0;
  state.cursor = 0;
  state.cursorPacket = 0;
  while (!state.requests.empty()) {
    const SendRequest request = state.requests.pop();
    if (request.completion == CompletionMode::kOnFirstError && state.errorReported) continue;
    completeWithError(qp, request, CqeSyndrome::kWorkRequestFlushed, vendor_error::kFlushed);
  }
}

void Requester::reset(QueuePair& qp) {
  ports_.egress.cancel(qp.requester.egress);
  ackTimers_.cancel(qp.number.value());
  rnrTimers_.cancel(qp.number.value());
  qp.requester = RequesterState{};
}

}  // namespace hca::adapter
