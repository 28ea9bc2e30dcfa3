// Shared receive queues of ThreadClient.
#include <memory>
#include <utility>

#include "sim/driver/client_tables.h"
#include "sim/driver/completion_parser.h"
#include "sim/driver/page_list_of.h"
#include "sim/driver/thread_client.h"

namespace hca::driver {

void ThreadClient::createSrq(const SrqRequest& request, std::function<void(SrqCreated)> done) {
  SrqCreated refused;
  refused.error = VerbsError::kInvalid;
  const auto size = sharedQueueSize(request, driver_.capabilities().limits);
  if (!size) return done(refused);
  const std::uint64_t length = std::uint64_t{size->entries} << size->logStride;
  auto srq = std::make_shared<ClientSrq>(memory_.allocate(length), records_.allocate(), *size);
  srq->handle = handOut<ClientSrq, SrqHandle>(srqs_);
  adapter::SrqAttributes attributes;
  attributes.pd = pd_;
  attributes.logSize = static_cast<std::uint8_t>(logOf(size->entries));
  attributes.logStride = static_cast<std::uint8_t>(size->logStride);
  attributes.buffer = pageListOf(srq->buffer, length);
  attributes.doorbellRecord = srq->record.bus;
  if (request.xrc && !setXrc(request, *srq, attributes)) {
    memory_.free(srq->buffer);
    records_.free(srq->record);
    return done(refused);
  }
  driver_.createSrq(owner_, attributes, [this, srq, done = std::move(done)](const Answer<SrqNumber>& answer) {
    finishCreateSrq(*srq, answer, done);
  });
}

void ThreadClient::finishCreateSrq(ClientSrq& srq, const Answer<SrqNumber>& answer,
                                   const std::function<void(SrqCreated)>& done) {
  SrqCreated created;
  created.error = errorOf(answer.result);
  if (!answer.ok()) {
    memory_.free(srq.buffer);
    records_.free(srq.record);
    return done(created);
  }
  srq.number = created.number = answer.value;
  created.handle = srq.handle;
  created.maxWr = srq.ring.size().maxPosted;
  created.maxSge = srq.ring.size().maxScatter;
  srqs_[srq.handle.value()] = std::make_unique<ClientSrq>(std::move(srq));
  done(created);
}

// The kernel refuses a limit that the queue never reaches (mlx5_ib_modify_srq).
void ThreadClient::modifySrq(SrqHandle handle, std::uint32_t limit, std::function<void(VerbsError)> done) {
  const ClientSrq* srq = find(srqs_, handle);
  if (srq == nullptr || limit >= srq->ring.size().entries) return done(VerbsError::kInvalid);
  driver_.armSrq(owner_, srq->number, static_cast<std::uint16_t>(limit),
                 [done = std::move(done)](const Answer<int>& answer) { done(errorOf(answer.result)); });
}

void ThreadClient::destroySrq(SrqHandle handle, std::function<void(VerbsError)> done) {
  const ClientSrq* srq = find(srqs_, handle);
  if (srq == nullptr) return done(VerbsError::kInvalid);
  driver_.destroySrq(owner_, srq->number, [this, handle, done = std::move(done)](const Answer<int>& answer) {
    if (answer.ok()) {
      const ClientSrq& gone = *srqs_[handle.value()];
      memory_.free(gone.buffer);
      records_.free(gone.record);
      srqs_[handle.value()].reset();
    }
    done(errorOf(answer.result));
  });
}

PostResult ThreadClient::postSrqReceive(SrqHandle handle, const std::vector<ReceiveWorkRequest>& list) {
  ClientSrq& srq = *srqs_[handle.value()];
  PostResult result;
  thread_.charge(cost().postCall);
  for (const ReceiveWorkRequest& request : list) {
    result.error = srq.ring.post(request);
    if (result.error != VerbsError::kNone) break;
    ++result.accepted;
    thread_.charge(cost().postPerWqe);
    thread_.charge(cost().postPerSge * static_cast<std::int64_t>(request.scatterGather.size()));
    reportStage(observe::Stage::kPosted, requestId(srq, srq.ring.lastIndex()));
  }
  if (result.accepted != 0) srq.ring.publish();
  return result;
}

observe::WorkRequestId ThreadClient::requestId(const ClientSrq& srq, std::uint64_t index) const {
  return {environment_.host, environment_.adapter, QpNumber(srq.number.value()), observe::WorkQueue::kSharedReceive,
          index};
}

observe::WorkRequestId ThreadClient::lastPosted(SrqHandle handle) const {
  const ClientSrq& srq = *srqs_[handle.value()];
  return requestId(srq, srq.ring.lastIndex());
}

}  // namespace hca::driver
