#include "models/adapter/transport/qp_table.h"

#include <utility>

#include "models/adapter/completion/inline_scatter.h"
#include "models/adapter/receive_queue/receive_queue_engine.h"
#include "models/adapter/receive_queue/srq_engine.h"
#include "models/adapter/requester/requester.h"
#include "models/adapter/responder/responder.h"
#include "models/adapter/send_queue/send_queue_engine.h"
#include "models/adapter/transport/path_migration.h"
#include "models/adapter/transport/psn.h"
#include "models/adapter/transport/qp_transitions.h"
#include "models/network/partition_keys.h"
#include "models/wire/shared_receive_context.h"

namespace hca::adapter {

namespace {
constexpr std::uint8_t kMaxLogQueueSize = 15;      // 16-bit counters tell a full queue from an empty one
constexpr std::uint8_t kMaxLogReceiveStride = 10;  // 63 segments of 16 bytes and a header
constexpr std::uint8_t kMinLogReceiveStride = 4;
constexpr std::uint8_t kLogSendBlock = 6;

CommandResult refuse(CommandStatus status, Syndrome syndrome) { return {status, syndrome}; }

// Packets name the shared queue of an XRC queue pair; its context holds the number of one that is not used.
bool namesSharedQueue(const QpAttributes& attributes) {
  return attributes.receiveQueueType == RqType::kSrq && attributes.service != QpService::kXrc;
}

// Linked lists of strides are not; nor are fewer strides than 2^9, which are of later adapters.
bool isLayoutSupported(const QpAttributes& attributes) {
  if (attributes.workQueueType == wire::WorkQueueContext::kLinkedListStriding) return false;
  const StridingLayout& striding = attributes.striding;
  if (!striding.isOn) return true;
  constexpr std::uint8_t kLogMinStride = 5;  // the next segment and one data segment
  const bool sized = striding.logCount >= StridingLayout::kLogFewest && striding.logCount <= StridingLayout::kLogMost &&
                     striding.logSize >= StridingLayout::kLogSmallest &&
                     striding.logSize <= StridingLayout::kLogLargest;
  const bool isReceiveQueue = attributes.service == QpService::kRaw && attributes.receiveQueueType == RqType::kOwn;
  return sized && isReceiveQueue && attributes.logReceiveStride >= kLogMinStride;
}
}  // namespace

QpTable::QpTable(const DatapathConfig& config, CqDirectory& completionQueues, EventPort& events, std::size_t ports)
    : config_(config), completionQueues_(completionQueues), events_(events), ports_(ports), special_(ports) {}

QpTable::~QpTable() = default;

void QpTable::connect(const Stages& stages) { stages_ = std::make_unique<Stages>(stages); }

// Contexts of targets are none of software's business.
QueuePair* QpTable::nameable(QpNumber number) {
  QueuePair* qp = find(number);
  return qp != nullptr && qp->attributes.service != QpService::kDcResponder ? qp : nullptr;
}

QueuePair* QpTable::find(QpNumber number) {
  return table_.find(number.value() - kFirstNumber);  // wraps for numbers below: out of range
}

void QpTable::expect(QpNumber number) {
  if (alive_ > kFew) prefetchForMessage(find(number));
}

// ---- commands

CommandResult QpTable::check(const QpAttributes& attributes) const {
  const bool isXrc = attributes.service == QpService::kXrc;
  const bool supported =
      attributes.service == QpService::kRc || attributes.service == QpService::kUc ||
      attributes.service == QpService::kRegisteredUmr || isDatagram(attributes.service) || isXrc ||
      (config_.dynamicConnections && (attributes.service == QpService::kDci || attributes.service == QpService::kDct));
  if (!supported) return refuse(CommandStatus::kBadParameter, Syndrome::kQpServiceUnsupported);
  if (isXrc && attributes.receiveQueueType != RqType::kSrq) {
    return refuse(CommandStatus::kBadParameter, Syndrome::kQpAttributeOutOfRange);
  }
  const bool isTarget = attributes.service == QpService::kDct;
  if (isTarget && (attributes.receiveQueueType != RqType::kSrq || attributes.hasSendQueue)) {
    return refuse(CommandStatus::kBadParameter, Syndrome::kQpAttributeOutOfRange);
  }
  if (isTarget && (attributes.path.port == 0 || attributes.path.port > ports_)) {
    return refuse(CommandStatus::kBadParameter, Syndrome::kQpPortUnknown);
  }
  const bool hasOwnReceiveQueue = attributes.receiveQueueType == RqType::kOwn;
  if (attributes.logSendQueueSize > kMaxLogQueueSize || attributes.logReceiveQueueSize > kMaxLogQueueSize) {
    return refuse(CommandStatus::kBadParameter, Syndrome::kQpSizeOutOfRange);
  }
  if (hasOwnReceiveQueue &&
      (attributes.logReceiveStride < kMinLogReceiveStride || attributes.logReceiveStride > kMaxLogReceiveStride)) {
    return refuse(CommandStatus::kBadParameter, Syndrome::kQpSizeOutOfRange);
  }
  if (!isLayoutSupported(attributes))
    return refuse(CommandStatus::kBadParameter, Syndrome::kQpReceiveLayoutUnsupported);
  std::uint64_t bytes = 0;
  if (hasOwnReceiveQueue) {
    bytes += std::uint64_t{1} << (attributes.logReceiveQueueSize + attributes.logReceiveStride);
  }
  if (attributes.hasSendQueue) bytes += std::uint64_t{1} << (attributes.logSendQueueSize + kLogSendBlock);
  const PageList& buffer = attributes.buffer;
  const std::uint64_t given = buffer.pages.size() << buffer.logPageSize;
  if (buffer.offset % (1U << kLogSendBlock) != 0 || given < buffer.offset + bytes) {
    return refuse(CommandStatus::kBadParameter, Syndrome::kQpPagesWrong);
  }
  return {};
}

CommandResult QpTable::attachQueues(const QpAttributes& attributes) {
  const CommandResult unknown = refuse(CommandStatus::kBadResource, Syndrome::kQpCqUnknown);
  if (!completionQueues_.attach(attributes.sendCq).ok()) return unknown;
  if (!completionQueues_.attach(attributes.receiveCq).ok()) {
    completionQueues_.detach(attributes.sendCq);
    return unknown;
  }
  if (!namesSharedQueue(attributes) || stages_->sharedQueues.attach(attributes.srq)) return {};
  completionQueues_.detach(attributes.sendCq);
  completionQueues_.detach(attributes.receiveCq);
  return refuse(CommandStatus::kBadResource, Syndrome::kQpSrqUnknown);
}

// More than 32 bytes need entries of 128; entries of 32 have room for none.
bool QpTable::inlineScatterFits(const QpAttributes& attributes) const {
  const auto wide = [this](CqNumber cq) {
    CqAttributes queue;
    return completionQueues_.query(cq, queue).ok() && queue.stride != CqeStride::k64 && queue.stride != CqeStride::k32;
  };
  const auto narrow = [this](CqNumber cq) {
    CqAttributes queue;
    return completionQueues_.query(cq, queue).ok() && queue.stride == CqeStride::k32;
  };
  const std::uint8_t requester = attributes.requesterInlineScatter, responder = attributes.responderInlineScatter;
  const std::uint32_t sends = requesterInlineRoom(requester), receives = responderInlineRoom(responder);
  if ((sends == 0 && requester != 0) || (receives == 0 && responder != 0)) return false;
  if ((sends != 0 && narrow(attributes.sendCq)) || (receives != 0 && narrow(attributes.receiveCq))) return false;
  return (sends <= wire::kInlineScatterSmall || wide(attributes.sendCq)) &&
         (receives <= wire::kInlineScatterSmall || wide(attributes.receiveCq));
}

void QpTable::detachQueues(const QpAttributes& attributes) {
  completionQueues_.detach(attributes.sendCq);
  completionQueues_.detach(attributes.receiveCq);
  if (namesSharedQueue(attributes)) stages_->sharedQueues.detach(attributes.srq);
}

CommandResult QpTable::create(const QpAttributes& attributes, QpNumber& number) {
  if (const CommandResult result = check(attributes); !result.ok()) return result;
  if (static_cast<std::int64_t>(alive_) >= config_.maxQps) {
    return refuse(CommandStatus::kNoResources, Syndrome::kQpLimit);
  }
  if (const CommandResult result = attachQueues(attributes); !result.ok()) return result;
  if (!inlineScatterFits(attributes)) {
    detachQueues(attributes);
    return refuse(CommandStatus::kBadParameter, Syndrome::kQpInlineScatterUnsupported);
  }
  QueuePair& qp = place(attributes);
  number = qp.number;
  qp.attributes.state = attributes.service == QpService::kDct ? QpState::kReadyToReceive : QpState::kReset;
  qp.attributes.migration = MigrationState::kMigrated;
  qp.attributes.alternatePath.port = 0;  // none yet
  if (attributes.service == QpService::kRaw) qp.attributes.mtu = network::EthernetFrame::kLargest;
  return {};
}

// Precondition: there is room.
QueuePair& QpTable::place(const QpAttributes& attributes) {
  const auto limit = static_cast<std::uint32_t>(config_.maxQps);
  while (table_.find(nextSlot_) != nullptr) nextSlot_ = (nextSlot_ + 1) % limit;
  QueuePair& qp = table_.emplace(nextSlot_);
  qp.number = QpNumber(nextSlot_ + kFirstNumber);
  qp.attributes = attributes;
  // The number of a destroyed queue pair is not given out again at once: late packets for it find nobody.
  nextSlot_ = (nextSlot_ + 1) % limit;
  ++alive_;
  return qp;
}

void QpTable::remove(QueuePair& qp) {
  toReset(qp);
  table_.erase(qp.number.value() - kFirstNumber);
  --alive_;
}

CommandResult QpTable::destroy(QpNumber number) {
  QueuePair* qp = nameable(number);
  if (qp == nullptr) return refuse(CommandStatus::kBadResource, Syndrome::kUnknownQp);
  if (steering_.leadsTo(number)) return refuse(CommandStatus::kResourceBusy, Syndrome::kQpHasFlows);
  disconnectPeers(number);
  groups_.forget(number);
  detachQueues(qp->attributes);
  remove(*qp);
  return {};
}

CommandResult QpTable::checkPaths(const QueuePair& qp, QpTransition transition, std::uint32_t optionalMask,
                                  const QpAttributes& attributes) const {
  const auto hasPort = [this](const AddressPath& path) { return path.port != 0 && path.port <= ports_; };
  const auto hasPartition = [](const AddressPath& path) { return path.partitionIndex < network::kMostPartitionKeys; };
  const bool alternate = takesAlternatePath(optionalMask);
  if ((takesPort(transition, optionalMask) && !hasPort(attributes.path)) ||
      (alternate && !hasPort(attributes.alternatePath))) {
    return refuse(CommandStatus::kBadParameter, Syndrome::kQpPortUnknown);
  }
  if ((takesPartition(transition, optionalMask) && !hasPartition(attributes.path)) ||
      (alternate && !hasPartition(attributes.alternatePath))) {
    return refuse(CommandStatus::kBadParameter, Syndrome::kQpPartitionOutOfRange);
  }
  // InfiniBand volume 1, 11.2.5.2: software rearms, or makes a connection migrate; the adapter alone arms.
  const bool wishes = takesMigration(optionalMask);
  const bool mayWish =
      !isDatagram(qp.attributes.service) &&
      (attributes.migration == MigrationState::kMigrated ||
       (attributes.migration == MigrationState::kRearm && (alternate || hasPort(qp.attributes.alternatePath))));
  return wishes && !mayWish ? refuse(CommandStatus::kBadParameter, Syndrome::kQpMigrationIllegal) : CommandResult{};
}

CommandResult QpTable::modify(QpNumber number, QpTransition transition, std::uint32_t optionalMask,
                              const QpAttributes& attributes) {
  QueuePair* qp = nameable(number);
  if (qp == nullptr || qp->attributes.service == QpService::kDct) {
    return refuse(CommandStatus::kBadResource, Syndrome::kUnknownQp);
  }
  if (!isLegal(transition, qp->attributes.state)) {
    return refuse(CommandStatus::kBadQpState, Syndrome::kQpTransitionIllegal);
  }
  if (const CommandResult result = checkPaths(*qp, transition, optionalMask, attributes); !result.ok()) return result;
  if (transition == QpTransition::kToError) {
    toError(*qp);
    return {};
  }
  if (transition == QpTransition::kToReset) {
    toReset(*qp);
    return {};
  }
  if (transition == QpTransition::kResetToInit && isSpecial(qp->attributes.service) &&
      !special_.bind(attributes.path.port, qp->attributes.service, number)) {
    return refuse(CommandStatus::kResourceBusy, Syndrome::kQpSpecialTaken);
  }
  if (transition == QpTransition::kReadyToSendToDrain) {
    qp->attributes.notifyWhenDrained = attributes.notifyWhenDrained;
  }
  applyTransition(transition, optionalMask, attributes, qp->attributes);
  if (qp->attributes.service == QpService::kRaw) qp->attributes.mtu = network::EthernetFrame::kLargest;
  qp->attributes.state = stateAfter(transition);
  if (takesMigration(optionalMask)) setMigration(*qp, attributes.migration);
  enter(*qp, transition);
  return {};
}

// What a stage has to do at a transition that is no end.
void QpTable::enter(QueuePair& qp, QpTransition transition) {
  switch (transition) {
    case QpTransition::kInitToReadyToReceive:
      qp.responder.expectedPsn = qp.attributes.nextReceivePsn & kPsnMask;
      return stages_->receiveQueue.prefetch(qp);
    case QpTransition::kReadyToReceiveToReadyToSend:
      qp.requester.nextPsn = qp.attributes.nextSendPsn & kPsnMask;
      qp.requester.retriesLeft = qp.attributes.retryCount;
      qp.requester.rnrRetriesLeft = qp.attributes.rnrRetry;
      return;
    case QpTransition::kReadyToSendToDrain:
      return stages_->requester.drain(qp);
    case QpTransition::kDrainToReadyToSend:
    case QpTransition::kDrainedToReadyToSend:
      return stages_->requester.resume(qp);
    case QpTransition::kSendQueueErrorToReadyToSend:
      qp.requester.errorReported = false;
      return;
    default:
      return;
  }
}

CommandResult QpTable::query(QpNumber number, QpAttributes& attributes) const {
  const QueuePair* qp = const_cast<QpTable*>(this)->nameable(number);
  if (qp == nullptr) return refuse(CommandStatus::kBadResource, Syndrome::kUnknownQp);
  attributes = qp->attributes;
  if (qp->requester.draining) attributes.state = QpState::kSendQueueDraining;
  attributes.nextSendPsn = qp->requester.nextPsn;
  attributes.nextReceivePsn = qp->responder.expectedPsn;
  attributes.hardwareSendCounter = static_cast<std::uint16_t>(qp->send.fetched);
  attributes.softwareSendCounter = static_cast<std::uint16_t>(qp->send.producer);
  attributes.hardwareReceiveCounter = static_cast<std::uint16_t>(qp->receive.consumed);
  attributes.softwareReceiveCounter = static_cast<std::uint16_t>(qp->receive.producer);
  return {};
}

CommandResult QpTable::setFrameOptions(QpNumber number, bool stripVlan, bool scatterFcs) {
  QueuePair* qp = find(number);
  if (qp == nullptr) return refuse(CommandStatus::kBadResource, Syndrome::kUnknownQp);
  qp->attributes.stripVlan = stripVlan;
  qp->attributes.scatterFcs = scatterFcs;
  return {};
}

CommandResult QpTable::addFlow(const FlowRule& rule, std::uint64_t& name) {
  for (const auto& target : rule.targets) {
    for (const QpNumber number : *target->queues) {
      const QueuePair* qp = find(number);
      if (qp == nullptr) return refuse(CommandStatus::kBadResource, Syndrome::kUnknownQp);
      if (qp->attributes.service != QpService::kRaw || qp->attributes.receiveQueueType != RqType::kOwn) {
        return refuse(CommandStatus::kBadParameter, Syndrome::kQpServiceUnsupported);
      }
    }
  }
  name = steering_.add(rule);
  return {};
}

CommandResult QpTable::removeFlow(std::uint64_t name) {
  return steering_.remove(name) ? CommandResult{} : refuse(CommandStatus::kBadResource, Syndrome::kUnknownFlow);
}

CommandResult QpTable::attachMulticast(QpNumber number, const network::Gid& group) {
  const QueuePair* qp = find(number);
  if (qp == nullptr) return refuse(CommandStatus::kBadResource, Syndrome::kUnknownQp);
  if (qp->attributes.service != QpService::kUd) {
    return refuse(CommandStatus::kBadParameter, Syndrome::kQpServiceUnsupported);
  }
  return groups_.attach(number, group);
}

CommandResult QpTable::detachMulticast(QpNumber number, const network::Gid& group) {
  if (find(number) == nullptr) return refuse(CommandStatus::kBadResource, Syndrome::kUnknownQp);
  return groups_.detach(number, group);
}

// ---- errors

void QpTable::toError(QueuePair& qp) {
  if (qp.inError()) return stages_->receiveQueue.lookAgain(qp);
  qp.attributes.state = QpState::kError;
  stages_->responder.stop(qp);
  stages_->requester.flush(qp);
  stages_->sendQueue.resume(qp);  // what is posted but not fetched is flushed as it comes
  stages_->receiveQueue.flush(qp);
  if (namesSharedQueue(qp.attributes)) raiseLastWqe(qp);
}

// No entry of the shared queue completes on this queue pair any more (InfiniBand volume 1, 11.6.3.2): said behind the
// completions that are still on their way.
void QpTable::raiseLastWqe(const QueuePair& qp) {
  completionQueues_.whenWritten(qp.number, [this, number = qp.number] {
    const QueuePair* present = find(number);
    if (present != nullptr && present->inError()) raise(EventType::kSrqLastWqe, *present);
  });
}

// The receive side goes on (InfiniBand volume 1, 10.3.1.6).
void QpTable::toSendQueueError(QueuePair& qp) {
  if (qp.flushesSends()) return;
  qp.attributes.state = QpState::kSendQueueError;
  stages_->requester.flush(qp);
  stages_->sendQueue.resume(qp);
}

void QpTable::toReset(QueuePair& qp) {
  stages_->requester.reset(qp);
  stages_->responder.reset(qp);
  stages_->sendQueue.reset(qp);
  stages_->receiveQueue.reset(qp);
  completionQueues_.discard(qp.number);
  if (isSpecial(qp.attributes.service)) special_.release(qp.number);
  qp.attributes.state = QpState::kReset;
  qp.attributes.migration = MigrationState::kMigrated;
}

void QpTable::onRequesterError(QueuePair& qp) {
  if (isReliable(qp.attributes.service)) {
    toError(qp);
  } else {
    toSendQueueError(qp);
  }
}

void QpTable::onPostedInError(QueuePair& qp) { stages_->receiveQueue.lookAgain(qp); }

void QpTable::onSendQueueDrained(QueuePair& qp) {
  if (!qp.attributes.notifyWhenDrained) return;
  completionQueues_.whenWritten(qp.number, [this, number = qp.number] {
    const QueuePair* present = find(number);
    if (present != nullptr && present->attributes.state == QpState::kSendQueueDrain) {
      raise(EventType::kSqDrained, *present);
    }
  });
}

// ---- path migration

void QpTable::setMigration(QueuePair& qp, MigrationState wanted) {
  if (wanted == MigrationState::kMigrated && qp.attributes.migration == MigrationState::kArmed) return migrateNow(qp);
  qp.attributes.migration = wanted;
  qp.responder.migrationRefused = false;
}

void QpTable::migrateNow(QueuePair& qp) {
  migrate(qp.attributes);
  raise(EventType::kPathMigrated, qp);
}

bool QpTable::onPathFailed(QueuePair& qp) {
  if (qp.attributes.migration != MigrationState::kArmed) return false;
  migrateNow(qp);
  return true;
}

bool QpTable::takesPath(QueuePair& qp, const network::Packet& packet, std::uint8_t port) {
  switch (migrationStep(qp.attributes.migration, qp.attributes.alternatePath, packet, port)) {
    case MigrationStep::kNone:
      return true;
    case MigrationStep::kArm:
      qp.attributes.migration = MigrationState::kArmed;
      return true;
    case MigrationStep::kMigrate:
      migrateNow(qp);
      return true;
    case MigrationStep::kRefuse:
      if (!std::exchange(qp.responder.migrationRefused, true)) raise(EventType::kPathMigrationFailed, qp);
      return false;
  }
  return true;
}

void QpTable::onCommunicationEstablished(QueuePair& qp) { raise(EventType::kCommunicationEstablished, qp); }

void QpTable::onResponderError(QueuePair& qp, EventType event) {
  if (qp.attributes.service == QpService::kDcResponder) return failContext(qp, event);
  toError(qp);
  if (event != EventType::kCompletion) raise(event, qp);
}

void QpTable::onCompletionQueueFailed(QpNumber number) {
  QueuePair* qp = find(number);
  if (qp == nullptr || qp->inError()) return;
  toError(*qp);
  raise(EventType::kWqCatastrophic, *qp);
}

void QpTable::raise(EventType type, const QueuePair& qp) {
  EventRecord event;
  event.type = type;
  event.object = qp.number.value();
  events_.raise(event);
}

void QpTable::clear() {
  table_.forEach([this](QueuePair& qp) { toReset(qp); });
  table_.clear();
  peers_.clear();
  groups_.clear();
  steering_.clear();
  nextSlot_ = 0;
  alive_ = 0;
}

}  // namespace hca::adapter
