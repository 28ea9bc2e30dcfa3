#include "models/adapter/responder/response_engine.h"

#include <algorithm>
#include <utility>

#include "models/adapter/requester/send_operation.h"
#include "models/adapter/transport/acknowledge.h"
#include "models/adapter/transport/psn.h"

namespace hca::adapter {

ResponseEngine::ResponseEngine(const AdapterContext& context, EgressPipeline& egress, Translator& translator,
                               QpLookup& queuePairs, const RouteBuilder& routes)
    : context_(context),
      egress_(egress),
      translator_(translator),
      queuePairs_(queuePairs),
      routes_(routes),
      ready_(routes.ports()) {}

void ResponseEngine::send(QueuePair& qp, const Response& response) {
  if (response.kind == Response::Kind::kAcknowledge && qp.responder.responses.empty()) {
    segments_.clear();
    return egress_.send(qp, qp.responder.egress, header(qp, response), segments_, nullptr);
  }
  qp.responder.responses.push(response);
  schedule(qp);
}

void ResponseEngine::finishAtomic(QueuePair& qp, std::uint32_t psn, std::uint64_t result) {
  auto& responses = qp.responder.responses;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    if (responses[i].kind != Response::Kind::kAtomic || responses[i].psn != psn || responses[i].ready) continue;
    responses[i].ready = true;
    responses[i].result = result;
    return schedule(qp);
  }
}

void ResponseEngine::schedule(QueuePair& qp) {
  if (!std::exchange(qp.responder.responsesQueued, true)) ready_.push(qp.attributes.path.port, qp.number);
  pump();
}

void ResponseEngine::pump() {
  if (std::exchange(pumping_, true)) return;  // a packet that left at once called back
  const auto hasRoom = [this](std::uint8_t port) { return egress_.hasRoom(port, *this); };
  while (const auto next = ready_.pop(hasRoom)) {
    QueuePair* qp = queuePairs_.find(*next);
    if (qp == nullptr || !std::exchange(qp->responder.responsesQueued, false)) continue;
    if (!sendNext(*qp)) continue;
    qp->responder.responsesQueued = true;
    ready_.push(qp->attributes.path.port, qp->number);
  }
  pumping_ = false;
}

// Hands over one packet of the oldest response. False: nothing more can be sent now.
bool ResponseEngine::sendNext(QueuePair& qp) {
  auto& responses = qp.responder.responses;
  if (responses.empty() || !responses.front().ready) return false;
  Response& response = responses.front();
  if (response.kind == Response::Kind::kRead) {
    if (!sendReadPacket(qp, response)) return false;
  } else {
    segments_.clear();
    egress_.send(qp, qp.responder.egress, header(qp, response), segments_, this);
    if (!responses.empty()) responses.pop();
  }
  return !responses.empty();
}

bool ResponseEngine::sendReadPacket(QueuePair& qp, Response& response) {
  using network::Operation;
  const std::uint32_t length = std::min(response.length - response.sent, qp.attributes.mtu);
  const bool first = !response.started;
  const bool last = response.sent + length == response.length;
  network::Packet packet = header(qp, response);
  packet.operation = first ? (last ? Operation::kReadResponseOnly : Operation::kReadResponseFirst)
                           : (last ? Operation::kReadResponseLast : Operation::kReadResponseMiddle);
  packet.payloadLength = length;
  segments_.clear();
  const AccessRequest access{response.key, response.domain,    qp.number, response.address + response.sent,
                             length,       Access::kRemoteRead};
  if (translator_.translate(access, segments_).fault != AccessFault::kNone) {
    faults_->onResponseFault(qp, packet.psn);
    return false;
  }
  response.started = true;
  response.sent += length;
  response.psn = psnAdd(response.psn, 1);
  egress_.send(qp, qp.responder.egress, std::move(packet), segments_, this);
  if (last && !qp.responder.responses.empty()) qp.responder.responses.pop();
  return true;
}

network::Packet ResponseEngine::header(const QueuePair& qp, const Response& response) const {
  network::Packet packet;
  routes_.lead(packet.route, qp.attributes.path, qp.attributes.path.port);
  packet.migrated = qp.attributes.migration == MigrationState::kMigrated;
  packet.service = networkService(qp.attributes.service);
  packet.partitionKey = routes_.partitionKey(qp.attributes.path);
  packet.operation = response.kind == Response::Kind::kAtomic ? network::Operation::kAtomicAcknowledge
                                                              : network::Operation::kAcknowledge;
  packet.destinationQp = qp.attributes.remoteQp;
  packet.psn = response.psn;
  packet.syndrome = response.syndrome;
  packet.msn = response.messageNumber;
  packet.atomicResult = response.result;
  packet.request = response.request;
  return packet;
}

void ResponseEngine::onPayloadUnreadable(QueuePair& qp, std::uint32_t psn) { faults_->onResponseFault(qp, psn); }

void ResponseEngine::reset(QueuePair& qp) {
  egress_.cancel(qp.responder.egress);
  qp.responder.responses.clear();
  qp.responder.responsesQueued = false;
}

}  // namespace hca::adapter
