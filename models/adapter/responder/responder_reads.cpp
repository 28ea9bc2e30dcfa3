// Requests that are answered with data: reads and atomics.
#include "models/adapter/responder/message_rules.h"
#include "models/adapter/responder/responder.h"
#include "models/adapter/transport/acknowledge.h"
#include "models/adapter/transport/psn.h"

namespace hca::adapter {

bool Responder::mayRead(const QueuePair& qp, const network::Packet& packet) {
  segments_.clear();
  const AccessRequest access{packet.remoteKey, remoteDomain(qp, packet), qp.number, packet.remoteAddress,
                             packet.dmaLength, Access::kRemoteRead,      true};
  return qp.attributes.remoteRead && translate(access).fault == AccessFault::kNone;
}

Responder::Outcome Responder::executeRead(QueuePair& qp, const network::Packet& packet) {
  if (!mayRead(qp, packet)) return refuse(qp, packet, aeth::kNakRemoteAccess, EventType::kWqAccessError);
  if (missed(qp)) return Outcome::kMissed;
  qp.responder.messageNumber = psnAdd(qp.responder.messageNumber, 1);
  send(qp, readResponse(packet, qp.responder.messageNumber, remoteDomain(qp, packet)));
  return Outcome::kDone;
}

Responder::Outcome Responder::executeAtomic(QueuePair& qp, const network::Packet& packet) {
  constexpr std::uint32_t kOperandSize = 8;
  if (packet.remoteAddress % kOperandSize != 0)
    return refuse(qp, packet, aeth::kNakInvalidRequest, EventType::kWqInvalidRequest);
  segments_.clear();
  const AccessRequest access{packet.remoteKey, remoteDomain(qp, packet), qp.number, packet.remoteAddress,
                             kOperandSize,     Access::kRemoteAtomic};
  if (!qp.attributes.remoteAtomic || translate(access).fault != AccessFault::kNone) {
    return refuse(qp, packet, aeth::kNakRemoteAccess, EventType::kWqAccessError);
  }
  if (missed(qp)) return Outcome::kMissed;
  qp.responder.messageNumber = psnAdd(qp.responder.messageNumber, 1);
  send(qp, atomicResponse(packet, qp.responder.messageNumber));
  AtomicOperation operation;
  operation.compareSwap = packet.operation == network::Operation::kCompareSwap;
  operation.address = segments_.front().address;
  operation.swapOrAdd = packet.swapOrAdd;
  operation.compare = packet.compare;
  operation.qp = qp.number;
  operation.psn = packet.psn;
  ports_.atomics.execute(operation);
  return Outcome::kDone;
}

void Responder::onAtomicDone(const AtomicOperation& operation, bool ok, std::uint64_t before) {
  QueuePair* qp = ports_.queuePairs.find(operation.qp);
  if (qp == nullptr || !qp->mayReceive()) return;
  if (!ok) return onResponseFault(*qp, operation.psn);
  auto& replays = qp->responder.replays;
  if (replays.size() >= (std::size_t{1} << qp->attributes.logMaxResponderReads)) replays.pop();
  replays.push({operation.psn, before});
  ports_.responses.finishAtomic(*qp, operation.psn, before);
}

// Memory that passed the checks can't be reached: a remote operational error.
void Responder::onResponseFault(QueuePair& qp, std::uint32_t psn) {
  ports_.responses.reset(qp);
  acknowledge(qp, aeth::kNakRemoteOperation, psn);
  ports_.errors.onResponderError(qp, EventType::kCompletion);
}

}  // namespace hca::adapter
