// Extended reliable connections (XRC) of ThreadClient: domains and their shared queues.
#include <memory>
#include <utility>

#include "sim/driver/client_tables.h"
#include "sim/driver/completion_parser.h"
#include "sim/driver/thread_client.h"

namespace hca::driver {

void ThreadClient::openXrcd(std::uint64_t file, std::function<void(XrcdOpened)> done) {
  if (!driver_.capabilities().xrc) return done({VerbsError::kNotSupported, XrcdHandle()});
  driver_.openXrcd(owner_, file, [this, done = std::move(done)](const Answer<adapter::XrcdNumber>& answer) {
    XrcdOpened opened;
    opened.error = errorOf(answer.result);
    if (answer.ok()) {
      opened.handle = handOut<ClientXrcd, XrcdHandle>(xrcds_);
      xrcds_.back() = std::make_unique<ClientXrcd>(ClientXrcd{answer.value});
    }
    done(opened);
  });
}

void ThreadClient::closeXrcd(XrcdHandle handle, std::function<void(VerbsError)> done) {
  const ClientXrcd* domain = find(xrcds_, handle);
  if (domain == nullptr) return done(VerbsError::kInvalid);
  driver_.closeXrcd(owner_, domain->number, [this, handle, done = std::move(done)](const Answer<int>& answer) {
    if (answer.ok()) xrcds_[handle.value()].reset();
    done(errorOf(answer.result));
  });
}

// False if there is no such domain or completion queue.
bool ThreadClient::setXrc(const SrqRequest& request, ClientSrq& srq, adapter::SrqAttributes& attributes) {
  const ClientXrcd* domain = find(xrcds_, request.xrc->domain);
  const ClientCq* cq = find(cqs_, request.xrc->cq);
  if (domain == nullptr || cq == nullptr || cq->destroyed) return false;
  srq.xrc = request.xrc;
  attributes.kind = adapter::SrqKind::kXrc;
  attributes.domain = domain->number;
  attributes.cq = cq->number;
  attributes.userIndex = kSharedQueueIndex | srq.handle.value();
  return true;
}

// The entry names the shared queue, and the target only by its number: it may be another program's.
bool ThreadClient::completeSharedEntry(const ClientCq& cq, const wire::Cqe& cqe, std::vector<WorkCompletion>& out) {
  const SrqHandle handle(wire::Cqe::UserIndex::get(cqe.userIndex) & ~kSharedQueueIndex);
  ClientSrq* srq = find(srqs_, handle);
  if (srq == nullptr || !srq->xrc) return false;
  out.push_back(parseCompletion(cqe));
  const ReceiveRing::Retired retired = srq->ring.retire(cqe.wqeCounter.host());
  out.back().workRequestId = retired.workRequestId;
  const observe::WorkRequestId request = requestId(*srq, retired.index);
  reportStage(observe::Stage::kPolled, request);
  reportCompletion(cq, request, out.back());
  return true;
}

}  // namespace hca::driver
