#include "models/adapter/requester/requester.h"

#include <algorithm>
#include <utility>

#include "models/adapter/requester/send_operation.h"
#include "models/adapter/transport/acknowledge.h"
#include "models/adapter/transport/psn.h"
#include "models/adapter/transport/special_queue_pairs.h"
#include "models/adapter/transport/vendor_errors.h"
#include "models/network/ethernet_frame.h"

namespace hca::adapter {

using observe::Stage;

Requester::Requester(const AdapterContext& context, const DatapathConfig& config, const Ports& ports)
    : context_(context),
      config_(config),
      ports_(ports),
      units_(config.processingUnits),
      ready_(ports.routes.ports()),
      unitTimer_(context.calendar, kernel::Priority::kAdapter, *this, &Requester::onUnitFree),
      ackTimers_(context.calendar, kernel::Priority::kAdapter, *this, &Requester::onAckTimeout),
      rnrTimers_(context.calendar, kernel::Priority::kAdapter, *this, &Requester::onRnrTimeout) {
  ports_.memoryOperations.connect(*this);
}

// ---- scheduling

void Requester::submit(QueuePair& qp, SendRequest&& request) {
  report(Stage::kWqeFetched, qp, request, context_.now());
  if (qp.flushesSends()) {
    completeWithError(qp, request, CqeSyndrome::kWorkRequestFlushed, vendor_error::kFlushed);
    if (qp.inError()) ports_.errors.onPostedInError(qp);
    return;
  }
  qp.requester.requests.push(std::move(request));
  schedule(qp);
}

bool Requester::hasWork(const QueuePair& qp) {
  const RequesterState& state = qp.requester;
  if (!qp.isSending() || state.waitingForRnr || state.cursor >= state.requests.size()) return false;
  const SendRequest& next = state.requests[state.cursor];
  if (next.faulted || !(next.started || qp.maySend())) return false;
  if (next.fence != FenceMode::kNone && fenceHolds(state, next.fence)) return false;
  if (qp.attributes.service == QpService::kDci && waitsForTarget(qp, next)) return false;
  if (next.isMemoryOperation()) return !next.started || next.done;
  return !next.hasResponse() || state.readsInFlight < (1U << qp.attributes.logMaxOutstandingReads);
}

// A request behind a memory operation starts when that is done, so that a small fence is always kept. Strong ordering
// waits for all that went before.
bool Requester::fenceHolds(const RequesterState& state, FenceMode fence) {
  if (fence == FenceMode::kInitiatorSmall) return false;
  if (fence == FenceMode::kStrongOrdering) return state.cursor > 0;
  return state.readsInFlight > 0;
}

void Requester::schedule(QueuePair& qp) {
  failIfOldest(qp);
  if (qp.requester.queued || !hasWork(qp)) return;
  qp.requester.queued = true;
  ready_.push(qp.attributes.path.port, qp.number);
  pump();
}

void Requester::pump() {
  while (!ready_.empty()) {
    if (units_.freeAt() > context_.now()) return unitTimer_.set(units_.freeAt());
    const auto next = ready_.pop([this](std::uint8_t port) { return ports_.egress.hasRoom(port, *this); });
    if (!next) return;
    QueuePair* qp = ports_.queuePairs.find(*next);
    if (qp == nullptr || !std::exchange(qp->requester.queued, false) || !hasWork(*qp)) continue;
    if (ports_.cache.isLimited() && !isAtHand(*qp)) continue;
    units_.occupy(context_.after(config_.issueCycles));
    buildPacket(*qp);
    if (!qp->requester.queued && hasWork(*qp)) {
      qp->requester.queued = true;
      ready_.push(qp->attributes.path.port, qp->number);
    }
  }
}

// Whether the request that is next is on the chip. If not, it is fetched again, and the queue pair waits.
bool Requester::isAtHand(const QueuePair& qp) {
  const SendRequest& next = qp.requester.requests[qp.requester.cursor];
  if (next.started || next.rendezvous != nullptr) return true;
  const std::uint64_t key = workRequestKey(qp.number.value(), next.index);
  const bool cameBack = fetchedAgain_.erase(key) > 0;
  if (!cameBack && ports_.cache.misses(CachedObject::kWorkRequest, key, *this, key)) return false;
  ports_.cache.drop(CachedObject::kWorkRequest, key);
  return true;
}

void Requester::onCacheReady(std::uint64_t token) {
  constexpr unsigned kIndexBits = 32;
  QueuePair* qp = ports_.queuePairs.find(QpNumber(static_cast<std::uint32_t>(token >> kIndexBits)));
  if (qp == nullptr || !hasWork(*qp)) return;
  const SendRequest& next = qp->requester.requests[qp->requester.cursor];
  if (!next.started && workRequestKey(qp->number.value(), next.index) == token) fetchedAgain_.insert(token);
  schedule(*qp);
}

// ---- packets

void Requester::buildPacket(QueuePair& qp) {
  RequesterState& state = qp.requester;
  SendRequest& request = state.requests[state.cursor];
  if (request.isMemoryOperation()) return runMemoryOperation(qp, request);
  if (qp.attributes.service == QpService::kDci && !prepareConnection(qp, request)) return;
  if (!request.started && !start(qp, request)) return failIfOldest(qp);
  if (request.hasResponse()) return buildRead(qp, request);
  const std::uint32_t index = state.cursorPacket;
  const std::uint32_t offset = index * qp.attributes.mtu;
  const std::uint32_t length = std::min(request.length - offset, qp.attributes.mtu);
  segments_.clear();
  network::Packet packet = makePacket(qp, request, index);
  packet.payloadLength = length;
  if (qp.attributes.service == QpService::kRaw) {
    packet.transportDomain = qp.attributes.transportDomain;
    packet.insertNetworkChecksum = request.insertNetworkChecksum;
    packet.insertTransportChecksum = request.insertTransportChecksum;
    if (!frame(qp, request, packet)) {
      fault(qp, request, CqeSyndrome::kLocalProtection, vendor_error::kLocalProtection);
      return failIfOldest(qp);
    }
  } else if (request.isInline()) {
    packet.payload = context_.pool.copyOf(request.inlineData.view().subview(offset, length));
  } else if (length > 0 && !gather(qp, request, offset, length, Access::kLocalRead)) {
    fault(qp, request, CqeSyndrome::kLocalProtection, vendor_error::kLocalProtection);
    return failIfOldest(qp);
  }
  if (++state.cursorPacket == request.packets) {
    ++state.cursor;
    state.cursorPacket = 0;
  }
  ports_.egress.send(qp, state.egress, std::move(packet), segments_, this);
}

// A frame needs its header, and a port that is Ethernet's.
bool Requester::mayLeave(const QueuePair& qp, const SendRequest& request) const {
  const bool ethernet = ports_.routes.port(qp.attributes.path.port).linkLayer == network::LinkLayer::kRoceV2;
  return ethernet && request.length >= network::EthernetFrame::kHeaderSize;
}

// What the WQE holds of the frame begins the payload; the segments that are to be read fill the rest.
bool Requester::frame(const QueuePair& qp, const SendRequest& request, network::Packet& packet) {
  const ByteView header = request.header.view();
  const ByteView rest = request.inlineData.view();
  packet.payload = context_.pool.acquire(request.length);
  std::uint8_t* const bytes = packet.payload.mutableView().data();
  std::copy(header.begin(), header.end(), bytes);
  std::copy(rest.begin(), rest.end(), bytes + header.size());
  const auto left = static_cast<std::uint32_t>(request.length - header.size() - rest.size());
  return left == 0 || gather(qp, request, 0, left, Access::kLocalRead);
}

// One packet asks for all of a read, or for the rest of it when some responses are there already.
void Requester::buildRead(QueuePair& qp, SendRequest& request) {
  RequesterState& state = qp.requester;
  network::Packet packet = makePacket(qp, request, 0);
  const std::uint32_t offset = state.cursorPacket * qp.attributes.mtu;
  packet.psn = psnAdd(request.firstPsn, state.cursorPacket);
  packet.remoteAddress += offset;
  packet.dmaLength = request.isAtomic() ? 0 : request.length - offset;
  packet.swapOrAdd = request.swapOrAdd;
  packet.compare = request.compare;
  packet.ackRequest = true;
  ++state.readsInFlight;
  ++state.cursor;
  state.cursorPacket = 0;
  segments_.clear();
  if (ports_.cache.isLimited()) {
    // Where the data will go is looked up now; what is wrong with it shows when the data comes.
    gather(qp, request, offset, request.length - offset, Access::kLocalWrite);
    segments_.clear();
  }
  ports_.egress.send(qp, state.egress, std::move(packet), segments_, this);
}

// Its effect comes later; a second turn, after packets before it were sent again, only passes it.
void Requester::runMemoryOperation(QueuePair& qp, SendRequest& request) {
  RequesterState& state = qp.requester;
  if (request.done) {
    ++state.cursor;
    return;
  }
  if (!isSupported(qp.attributes.service, request.opcode)) {
    fault(qp, request, CqeSyndrome::kLocalQpOperation, vendor_error::kUnknownOpcode);
    return failIfOldest(qp);
  }
  request.started = true;
  request.firstPsn = state.nextPsn;
  report(Stage::kScheduled, qp, request, context_.now());
  ports_.memoryOperations.execute(qp, request);
}

void Requester::onMemoryOperationDone(QueuePair& qp, const MemoryOperationResult& result) {
  RequesterState& state = qp.requester;
  const auto isUnderWay = [](const SendRequest& each) {
    return each.isMemoryOperation() && each.started && !each.done;
  };
  std::uint32_t place = 0;
  while (place < state.requests.size() && !isUnderWay(state.requests[place])) ++place;
  if (place == state.requests.size()) return;
  SendRequest& request = state.requests[place];
  if (!result.ok) {
    fault(qp, request, result.syndrome, result.vendorError);
    return failIfOldest(qp);
  }
  request.done = true;
  if (state.cursor == place) ++state.cursor;
  completeMemoryOperations(qp);
  if (!qp.inError()) schedule(qp);
}

// Checks a request whose first packet is due and gives it its packet sequence numbers.
bool Requester::start(QueuePair& qp, SendRequest& request) {
  if (!isSupported(qp.attributes.service, request.opcode)) {
    fault(qp, request, CqeSyndrome::kLocalQpOperation, vendor_error::kUnknownOpcode);
    return false;
  }
  if (request.length > (std::uint64_t{1} << qp.attributes.logMaxMessage)) {
    fault(qp, request, CqeSyndrome::kLocalLength, vendor_error::kMessageTooLong);
    return false;
  }
  if (qp.attributes.service == QpService::kRaw && !mayLeave(qp, request)) {
    fault(qp, request, CqeSyndrome::kLocalLength, vendor_error::kLocalLength);
    return false;
  }
  if (isDatagram(qp.attributes.service) && request.length > qp.attributes.mtu) {
    fault(qp, request, CqeSyndrome::kLocalLength, vendor_error::kMessageTooLong);
    return false;
  }
  constexpr std::uint32_t kAtomicSize = 8;
  if (request.isAtomic() && request.length != kAtomicSize) {
    fault(qp, request, CqeSyndrome::kLocalLength, vendor_error::kLocalLength);
    return false;
  }
  request.started = true;
  request.packets = std::max(1U, (request.length + qp.attributes.mtu - 1) / qp.attributes.mtu);
  request.firstPsn = qp.requester.nextPsn;
  qp.requester.nextPsn = psnAdd(qp.requester.nextPsn, request.packets);
  report(Stage::kScheduled, qp, request, context_.now());
  return true;
}

network::Packet Requester::makePacket(const QueuePair& qp, const SendRequest& request, std::uint32_t index) const {
  const bool first = index == 0;
  const bool last = index + 1 == request.packets;
  network::Packet packet;
  const bool isDynamic = qp.attributes.service == QpService::kDci;
  const DatagramAddress* datagram = isDynamic ? nullptr : request.datagram.get();
  const std::uint8_t port = qp.attributes.path.port;
  ports_.routes.lead(packet.route, datagram == nullptr ? qp.attributes.path : datagram->path, port);
  packet.partitionKey = ports_.routes.partitionKey(qp.attributes.path);
  packet.migrated = qp.attributes.migration == MigrationState::kMigrated;
  packet.service = networkService(qp.attributes.service);
  packet.operation = operationFor(request.opcode, first, last);
  packet.destinationQp = datagram == nullptr ? qp.attributes.remoteQp : datagram->remoteQp;
  packet.psn = psnAdd(request.firstPsn, index);
  packet.solicited = request.solicited && last;
  packet.ackRequest =
      isReliable(qp.attributes.service) && (last || (index + 1) % static_cast<std::uint32_t>(config_.ackEvery) == 0);
  if (datagram != nullptr) {
    packet.queueKey = effectiveQueueKey(*datagram, qp.attributes.queueKey);
    packet.sourceQp = SpecialQueuePairs::sourceOf(qp.attributes.service, qp.number);
  }
  if (isDynamic) {
    packet.sourceQp = qp.number;
    packet.accessKey = qp.attributes.accessKey;
    packet.connection = qp.attributes.connection;
  }
  packet.sharedQueue = request.sharedQueue;
  packet.immediate = request.immediateOrKey;
  if (first) {
    packet.remoteAddress = request.remoteAddress;
    packet.remoteKey = request.remoteKey;
    packet.dmaLength = request.length;
  }
  packet.request = idOf(qp, request);
  return packet;
}

// Appends to segments_ the bus addresses of bytes [offset, offset + length) of the request.
bool Requester::gather(const QueuePair& qp, const SendRequest& request, std::uint32_t offset, std::uint32_t length,
                       Access access) {
  std::uint64_t skip = offset;
  std::uint64_t left = length;
  const PdNumber domain = request.rendezvous != nullptr ? request.rendezvous->domain : qp.attributes.pd;
  for (std::size_t i = 0; i < request.segments.size() && left > 0; ++i) {
    const DataSegment& segment = request.segments[i];
    if (skip >= segment.length) {
      skip -= segment.length;
      continue;
    }
    const std::uint64_t take = std::min<std::uint64_t>(segment.length - skip, left);
    const AccessRequest piece{segment.key, domain, qp.number, segment.address + skip, take, access};
    if (ports_.translator.translate(piece, segments_).fault != AccessFault::kNone) return false;
    left -= take;
    skip = 0;
  }
  return true;
}

void Requester::onPacketSent(QueuePair& qp, std::uint32_t psn, bool ackRequest, Time lastBit) {
  if (ackRequest && ackTimers_.deadline(qp.number.value()) == kForever) {
    const Time timeout = ackTimeout(qp.attributes.path.ackTimeout);
    if (timeout != kForever) ackTimers_.set(qp.number.value(), lastBit + timeout);
  }
  reportSent(qp, psn, lastBit);
  // Nobody acknowledges an unreliable request: it is done when its last packet has left.
  if (isReliable(qp.attributes.service)) return;
  completeThrough(qp, psn);
  failIfOldest(qp);
  const RequesterState& state = qp.requester;
  const bool orderAwaited =
      state.cursor == 0 && !state.requests.empty() && state.requests[0].fence == FenceMode::kStrongOrdering;
  if (orderAwaited) schedule(qp);
}

void Requester::reportSent(const QueuePair& qp, std::uint32_t psn, Time lastBit) const {
  if (!context_.probes.stage.hasListeners()) return;
  for (std::size_t i = 0; i < qp.requester.requests.size(); ++i) {
    const SendRequest& request = qp.requester.requests[i];
    if (!request.started) return;
    const std::int32_t index = psnDistance(psn, request.firstPsn);
    if (index < 0 || index >= static_cast<std::int32_t>(request.packets)) continue;
    if (index == 0) report(Stage::kFirstPacketSent, qp, request, context_.now());
    if (index + 1 == static_cast<std::int32_t>(request.packets)) report(Stage::kLastPacketSent, qp, request, lastBit);
    return;
  }
}

// ---- observation

observe::WorkRequestId Requester::idOf(const QueuePair& qp, const SendRequest& request) const {
  const bool isOurs = request.rendezvous != nullptr;
  return {context_.host, context_.adapter, qp.number, isOurs ? observe::WorkQueue::kTag : observe::WorkQueue::kSend,
          request.index};
}

void Requester::report(Stage stage, const QueuePair& qp, const SendRequest& request, Time when) const {
  context_.probes.stage.fire([&] { return observe::StageEvent{stage, when, idOf(qp, request)}; });
}

}  // namespace hca::adapter
