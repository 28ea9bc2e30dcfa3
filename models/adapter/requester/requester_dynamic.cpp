// Dynamic connections: an initiator is connected with one target at a time, that of the request under way.
#include "models/adapter/requester/requester.h"
#include "models/adapter/requester/send_operation.h"

namespace hca::adapter {

bool Requester::leadsToTarget(const QueuePair& qp, const DatagramAddress& to) {
  const QpAttributes& now = qp.attributes;
  const bool sameTarget = now.remoteQp == to.remoteQp && now.accessKey == to.accessKey;
  const bool samePlace = now.path.globalRoute == to.path.globalRoute && now.path.remoteLid == to.path.remoteLid &&
                         now.path.remoteGid == to.path.remoteGid && now.path.serviceLevel == to.path.serviceLevel;
  return qp.requester.connected && sameTarget && samePlace;
}

// Order holds across targets: one for another target begins when all before it are done.
bool Requester::waitsForTarget(const QueuePair& qp, const SendRequest& next) {
  if (next.started || next.datagram == nullptr || qp.requester.cursor == 0) return false;
  return !leadsToTarget(qp, *next.datagram);
}

// Whether the request's own packet may be built; if not, this turn went to the connection.
bool Requester::prepareConnection(QueuePair& qp, const SendRequest& request) {
  RequesterState& state = qp.requester;
  const DatagramAddress* to = request.datagram.get();
  if (!request.started && to != nullptr && !leadsToTarget(qp, *to)) {
    if (state.connected) sendControl(qp, network::Operation::kDisconnect);
    AddressPath path = to->path;
    path.port = qp.attributes.path.port;
    path.ackTimeout = qp.attributes.path.ackTimeout;
    path.partitionIndex = qp.attributes.path.partitionIndex;
    qp.attributes.path = path;
    qp.attributes.remoteQp = to->remoteQp;
    qp.attributes.accessKey = to->accessKey;
    qp.attributes.connection = ++connections_;
    state.connected = state.mustConnect = true;
  }
  if (!std::exchange(state.mustConnect, false)) return true;
  sendControl(qp, network::Operation::kConnect);
  return false;
}

// Nobody acknowledges it: the packets behind it tell whether it came.
void Requester::sendControl(QueuePair& qp, network::Operation operation) {
  const QpAttributes& now = qp.attributes;
  network::Packet packet;
  ports_.routes.lead(packet.route, now.path, now.path.port);
  packet.partitionKey = ports_.routes.partitionKey(now.path);
  packet.service = network::Service::kDc;
  packet.operation = operation;
  packet.destinationQp = now.remoteQp;
  const RequesterState& state = qp.requester;
  const bool isAgain = state.cursor < state.requests.size() && state.requests[state.cursor].started;
  packet.psn = isAgain ? state.requests[0].firstPsn : state.nextPsn;
  packet.sourceQp = qp.number;
  packet.accessKey = now.accessKey;
  packet.connection = now.connection;
  segments_.clear();
  ports_.egress.send(qp, qp.requester.egress, std::move(packet), segments_, nullptr);
}

}  // namespace hca::adapter
