// The data path of ThreadClient: post, poll, arm.
#include <algorithm>
#include <cassert>

#include "models/wire/mmio_map.h"
#include "models/wire/wqe.h"
#include "sim/driver/client_tables.h"
#include "sim/driver/completion_parser.h"
#include "sim/driver/inline_scatter.h"
#include "sim/driver/thread_client.h"

namespace hca::driver {
namespace {

using wire::UarPage;

std::int64_t inlineBytes(const SendWorkRequest& request) {
  std::int64_t length = 0;
  for (const ScatterGather& piece : request.scatterGather) length += piece.length;
  return length;
}

}  // namespace

PostResult ThreadClient::postSend(QpHandle handle, const std::vector<SendWorkRequest>& list) {
  return post(qpOf(handle), list.data(), list.size());
}

PostResult ThreadClient::post(ClientQp& qp, const SendWorkRequest* requests, std::size_t count) {
  PostResult result;
  thread_.charge(cost().postCall);
  bool inlined = false;
  for (std::size_t i = 0; i < count; ++i) {
    const SendWorkRequest& request = requests[i];
    if (request.opcode == SendOpcode::kBindWindow) result.error = checkBind(request.bind);
    if (result.error != VerbsError::kNone) break;
    result.error = qp.send ? qp.send->post(request, memory_.memory()) : VerbsError::kInvalid;
    if (result.error != VerbsError::kNone) break;
    ++result.accepted;
    inlined = inlined || request.inlineData;
    thread_.charge(cost().postPerWqe);
    if (request.inlineData) {
      thread_.charge(cost().postPerInlineByte * inlineBytes(request));
    } else {
      thread_.charge(cost().postPerSge * static_cast<std::int64_t>(request.scatterGather.size()));
    }
    reportStage(observe::Stage::kPosted, requestId(qp, observe::WorkQueue::kSend, qp.send->lastIndex()));
  }
  if (result.accepted != 0) ringSendDoorbell(qp, result.accepted, inlined);
  return result;
}

// rdma-core providers/mlx5/qp.c, post_send_db: record first, then the register; one request that is inline, or all
// single ones where that is preferred, are copied whole if they fit half of the register.
void ThreadClient::ringSendDoorbell(ClientQp& qp, std::size_t requests, bool inlined) {
  const SendRing::Doorbell doorbell = qp.send->ring();
  const std::uint32_t half = driver_.capabilities().blueFlameRegisterSize / 2;
  RegisterAccess access;
  access.qp = qp.handle;
  access.wqe = doorbell.wqe;
  access.offset = static_cast<std::uint32_t>(UarPage::kBlueFlame) + blueFlameHalf_;
  const bool copies =
      requests == 1 && (inlined || preferBlueFlame_) && doorbell.bytes > wire::kSegmentUnit && doorbell.bytes <= half;
  if (copies) {
    constexpr std::uint32_t kBlock = wire::kSendBlockSize;
    access.bytes = (doorbell.bytes + kBlock - 1) / kBlock * kBlock;
    thread_.charge(cost().writeCombining * std::int64_t{access.bytes / kBlock});
  } else {
    thread_.charge(cost().doorbell);
  }
  blueFlameHalf_ ^= half;
  registerAccesses_.send(thread_.time(), access);
}

void ThreadClient::issue(RegisterAccess& access) {
  std::uint8_t word[wire::kSendDoorbellSize];
  if (access.kind == RegisterAccess::Kind::kReadBack) {
    return driver_.readBack([this] { thread_.found(); });
  }
  if (access.kind == RegisterAccess::Kind::kArm) {
    wire::storeBigEndian(word, access.word);
    return driver_.ringDoorbell(uar_, access.offset, {word, sizeof word});
  }
  const ClientQp* qp = qps_.find(access.qp.value());
  if (qp == nullptr) return;  // destroyed by a program that didn't wait for its own doorbell
  if (access.bytes != 0) return copyBlueFlame(*qp, access);
  std::memcpy(word, access.wqe, sizeof word);
  driver_.ringDoorbell(uar_, access.offset, {word, sizeof word});
}

// The ring may end within the request.
void ThreadClient::copyBlueFlame(const ClientQp& qp, const RegisterAccess& access) {
  std::uint8_t copy[UarPage::kBlueFlameHalf];
  assert(access.bytes <= sizeof copy);
  const std::uint8_t* ring = qp.buffer.bytes + qp.sendOffset();
  const std::uint8_t* end = ring + std::size_t{qp.sendSize.blocks} * wire::kSendBlockSize;
  const std::size_t first = std::min<std::size_t>(access.bytes, static_cast<std::size_t>(end - access.wqe));
  std::memcpy(copy, access.wqe, first);
  std::memcpy(copy + first, ring, access.bytes - first);
  driver_.ringDoorbell(uar_, access.offset, {copy, access.bytes});
}

PostResult ThreadClient::postReceive(QpHandle handle, const std::vector<ReceiveWorkRequest>& list) {
  ClientQp& qp = qpOf(handle);
  PostResult result;
  thread_.charge(cost().postCall);
  for (const ReceiveWorkRequest& request : list) {
    result.error = qp.receive ? qp.receive->post(request) : VerbsError::kInvalid;
    if (result.error != VerbsError::kNone) break;
    ++result.accepted;
    thread_.charge(cost().postPerWqe);
    thread_.charge(cost().postPerSge * static_cast<std::int64_t>(request.scatterGather.size()));
    reportStage(observe::Stage::kPosted, requestId(qp, observe::WorkQueue::kReceive, qp.receive->lastIndex()));
  }
  if (result.accepted != 0) qp.receive->publish();
  return result;
}

std::size_t ThreadClient::poll(CqHandle handle, std::size_t max, std::vector<WorkCompletion>& out) {
  ClientCq& cq = cqOf(handle);
  const std::size_t before = out.size();
  bool found = false;
  while (out.size() - before < max && cq.ring.ready()) {
    found = true;
    const wire::Cqe cqe = cq.ring.take();
    if (cq.ring.ready()) prefetchForMessage(qps_.find(cq.ring.nextUserIndex()));
    thread_.charge(cost().pollCompletion);
    probes_.cq.fire([&] {
      return observe::CqEvent{observe::CqAction::kPolled, thread_.time(), environment_.host,
                              environment_.adapter,       cq.number,      cq.ring.consumerIndex() - 1};
    });
    completeEntry(cq, cqe, out);
  }
  cq.ring.publish();
  cq.taken += out.size() - before;
  if (found) {
    cq.emptyReported = false;
  } else {
    thread_.charge(cost().pollEmpty);
    reportEmpty(cq);
  }
  return out.size() - before;
}

// Entries that complete nothing, or name a queue pair that is gone, are passed over.
bool ThreadClient::completeEntry(const ClientCq& cq, const wire::Cqe& cqe, std::vector<WorkCompletion>& out) {
  const CompletedQueue queue = completedQueue(wire::OpOwn::Opcode::get(cqe.opOwn));
  const std::uint32_t userIndex = wire::Cqe::UserIndex::get(cqe.userIndex);
  if (queue == CompletedQueue::kReceive && (userIndex & kSharedQueueIndex) != 0) {
    return completeSharedEntry(cq, cqe, out);
  }
  ClientQp* const named = queue == CompletedQueue::kNone ? nullptr : qps_.find(userIndex);
  if (named == nullptr) return false;
  ClientQp& qp = *named;
  out.push_back(parseCompletion(cqe));
  observe::WorkRequestId request;
  if (queue == CompletedQueue::kSend && qp.send) {
    takeInlineData(cq, cqe, *qp.send, out.back());
    const SendRing::Retired retired = qp.send->retire(cqe.wqeCounter.host());
    out.back().workRequestId = retired.workRequestId;
    // The entry tells a bind from an invalidation no more than the request did: both are UMRs.
    if (retired.opcode == SendOpcode::kBindWindow) out.back().opcode = WcOpcode::kBindWindow;
    if (retired.opcode == SendOpcode::kLocalInvalidate) out.back().opcode = WcOpcode::kLocalInvalidate;
    request = requestId(qp, observe::WorkQueue::kSend, retired.index);
  } else if (queue == CompletedQueue::kReceive && (qp.receive || qp.srq)) {
    if (qp.srq) {
      takeInlineData(cq, cqe, srqs_[qp.srq->value()]->ring, out.back());
    } else {
      takeInlineData(cq, cqe, *qp.receive, out.back());
    }
    out.back().workRequestId = retireReceive(qp, cqe.wqeCounter.host(), request).workRequestId;
  } else {
    return true;
  }
  reportStage(observe::Stage::kPolled, request);
  reportCompletion(cq, request, out.back());
  return true;
}

// Data that came in the entry go where the request wanted them (rdma-core providers/mlx5/qp.c, mlx5_copy_to_recv_wqe
// and its sisters). Copying costs what it costs into a request.
template <class Ring>
void ThreadClient::takeInlineData(const ClientCq& cq, const wire::Cqe& cqe, const Ring& ring,
                                  WorkCompletion& completion) {
  const ByteView room = cq.ring.inlineData(cqe);
  if (room.empty()) return;
  const std::size_t length = std::min<std::size_t>(completion.byteLength, room.size());
  scatterList_.clear();
  ring.scatterList(cqe.wqeCounter.host(), scatterList_);
  thread_.charge(cost().postPerInlineByte * static_cast<std::int64_t>(length));
  completion.status = scatter(room.subview(0, length), scatterList_, memory_.memory());
}

// Of its own queue, or of the shared one, where the entry is free from now on.
ReceiveRing::Retired ThreadClient::retireReceive(ClientQp& qp, std::uint16_t wqeCounter,
                                                 observe::WorkRequestId& request) {
  if (!qp.srq) {
    const ReceiveRing::Retired retired = qp.receive->retire(wqeCounter);
    request = requestId(qp, observe::WorkQueue::kReceive, retired.index);
    return retired;
  }
  ClientSrq& srq = *srqs_[qp.srq->value()];
  const ReceiveRing::Retired retired = srq.ring.retire(wqeCounter);
  request = requestId(srq, retired.index);
  return retired;
}

void ThreadClient::arm(CqHandle handle, bool solicitedOnly) {
  ClientCq& cq = cqOf(handle);
  endRound(cq);
  thread_.charge(cost().arm + cost().doorbell);
  RegisterAccess access;
  access.kind = RegisterAccess::Kind::kArm;
  access.offset = static_cast<std::uint32_t>(UarPage::kCqArm);
  access.word = cq.ring.arm(cq.number, solicitedOnly);
  registerAccesses_.send(thread_.time(), access);
  probes_.cq.fire([&] {
    observe::CqEvent event{observe::CqAction::kArmIssued, thread_.time(), environment_.host,
                           environment_.adapter,          cq.number,      cq.ring.consumerIndex()};
    event.solicitedOnly = solicitedOnly;
    event.sequenceNumber = cq.ring.sequenceNumber();
    return event;
  });
}

void ThreadClient::reportCompletion(const ClientCq& cq, const observe::WorkRequestId& request,
                                    const WorkCompletion& completion) {
  probes_.completion.fire([&] {
    return observe::CompletionEvent{thread_.time(),
                                    request,
                                    cq.number,
                                    completion.workRequestId,
                                    static_cast<std::uint8_t>(completion.opcode),
                                    static_cast<std::uint8_t>(completion.status),
                                    completion.byteLength,
                                    completion.qp};
  });
}

void ThreadClient::reportEmpty(ClientCq& cq) {
  if (cq.emptyReported) return;
  cq.emptyReported = true;
  reportCq(observe::CqAction::kPolledEmpty, cq);
}

void ThreadClient::reportCq(observe::CqAction action, const ClientCq& cq) {
  probes_.cq.fire([&] {
    return observe::CqEvent{action,    thread_.time(),         environment_.host, environment_.adapter,
                            cq.number, cq.ring.consumerIndex()};
  });
}

void ThreadClient::reportStage(observe::Stage stage, const observe::WorkRequestId& request) {
  probes_.stage.fire([&] { return observe::StageEvent{stage, thread_.time(), request}; });
}

observe::WorkRequestId ThreadClient::requestId(const ClientQp& qp, observe::WorkQueue queue,
                                               std::uint64_t index) const {
  return {environment_.host, environment_.adapter, qp.number, queue, index};
}

observe::WorkRequestId ThreadClient::lastPosted(QpHandle handle, observe::WorkQueue queue) const {
  const ClientQp& qp = qpOf(handle);
  if (queue == observe::WorkQueue::kSend) return requestId(qp, queue, qp.send ? qp.send->lastIndex() : 0);
  return requestId(qp, queue, qp.receive ? qp.receive->lastIndex() : 0);
}

}  // namespace hca::driver
