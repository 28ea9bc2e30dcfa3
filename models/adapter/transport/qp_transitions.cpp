#include "models/adapter/transport/qp_transitions.h"

namespace hca::adapter {

namespace {

enum Optional : std::uint32_t {
  kAlternatePath = 1U << 0,
  kRemoteRead = 1U << 1,
  kRemoteAtomic = 1U << 2,
  kRemoteWrite = 1U << 3,
  kPartitionIndex = 1U << 4,
  kQueueKey = 1U << 5,
  kRnrTimeout = 1U << 6,
  kPrimaryPath = 1U << 7,
  kRequesterReads = 1U << 8,
  kResponderReads = 1U << 9,
  kMigration = 1U << 10,
  kRetryCount = 1U << 12,
  kRnrRetry = 1U << 13,
  kAckTimeout = 1U << 14,
  kPrimaryPort = 1U << 16,
};

void applyRights(std::uint32_t mask, const QpAttributes& from, QpAttributes& into) {
  if ((mask & kRemoteRead) != 0) into.remoteRead = from.remoteRead;
  if ((mask & kRemoteAtomic) != 0) into.remoteAtomic = from.remoteAtomic;
  if ((mask & kRemoteWrite) != 0) into.remoteWrite = from.remoteWrite;
}

void applyPath(std::uint32_t mask, const QpAttributes& from, QpAttributes& into) {
  if ((mask & kPrimaryPath) != 0) {
    const std::uint8_t timeout = into.path.ackTimeout;
    const std::uint8_t port = into.path.port;
    const std::uint16_t partition = into.path.partitionIndex;
    into.path = from.path;
    into.path.ackTimeout = timeout;
    into.path.port = port;
    into.path.partitionIndex = partition;
  }
  if ((mask & kPartitionIndex) != 0) into.path.partitionIndex = from.path.partitionIndex;
  if ((mask & kAckTimeout) != 0) into.path.ackTimeout = from.path.ackTimeout;
  if ((mask & kPrimaryPort) != 0) into.path.port = from.path.port;
  if ((mask & kAlternatePath) != 0) into.alternatePath = from.alternatePath;
}

void applyLimits(std::uint32_t mask, const QpAttributes& from, QpAttributes& into) {
  if ((mask & kQueueKey) != 0) into.queueKey = from.queueKey;
  if ((mask & kRnrTimeout) != 0) into.minRnrNak = from.minRnrNak;
  if ((mask & kRequesterReads) != 0) into.logMaxOutstandingReads = from.logMaxOutstandingReads;
  if ((mask & kResponderReads) != 0) into.logMaxResponderReads = from.logMaxResponderReads;
  if ((mask & kRetryCount) != 0) into.retryCount = from.retryCount;
  if ((mask & kRnrRetry) != 0) into.rnrRetry = from.rnrRetry;
}

// What a transition takes whatever the mask says.
std::uint32_t required(QpTransition transition) {
  switch (transition) {
    case QpTransition::kResetToInit:
      return kRemoteRead | kRemoteAtomic | kRemoteWrite | kPartitionIndex | kQueueKey | kPrimaryPort;
    case QpTransition::kInitToReadyToReceive:
      return kPrimaryPath | kResponderReads | kRnrTimeout;
    case QpTransition::kReadyToReceiveToReadyToSend:
      return kRetryCount | kRnrRetry | kAckTimeout | kRequesterReads;
    default:
      return 0;
  }
}

}  // namespace

bool isLegal(QpTransition transition, QpState state) {
  switch (transition) {
    case QpTransition::kResetToInit:
      return state == QpState::kReset;
    case QpTransition::kInitToInit:
    case QpTransition::kInitToReadyToReceive:
      return state == QpState::kInit;
    case QpTransition::kReadyToReceiveToReadyToSend:
      return state == QpState::kReadyToReceive;
    case QpTransition::kReadyToSendToReadyToSend:
    case QpTransition::kReadyToSendToDrain:
      return state == QpState::kReadyToSend;
    case QpTransition::kDrainToReadyToSend:
    case QpTransition::kDrainedToReadyToSend:
    case QpTransition::kDrainToDrain:
      return state == QpState::kSendQueueDrain;
    case QpTransition::kSendQueueErrorToReadyToSend:
      return state == QpState::kSendQueueError;
    case QpTransition::kToError:
    case QpTransition::kToReset:
      return true;
  }
  return false;
}

QpState stateAfter(QpTransition transition) {
  switch (transition) {
    case QpTransition::kResetToInit:
    case QpTransition::kInitToInit:
      return QpState::kInit;
    case QpTransition::kInitToReadyToReceive:
      return QpState::kReadyToReceive;
    case QpTransition::kReadyToReceiveToReadyToSend:
    case QpTransition::kReadyToSendToReadyToSend:
    case QpTransition::kSendQueueErrorToReadyToSend:
    case QpTransition::kDrainToReadyToSend:
    case QpTransition::kDrainedToReadyToSend:
      return QpState::kReadyToSend;
    case QpTransition::kReadyToSendToDrain:
    case QpTransition::kDrainToDrain:
      return QpState::kSendQueueDrain;
    case QpTransition::kToError:
      return QpState::kError;
    case QpTransition::kToReset:
      return QpState::kReset;
  }
  return QpState::kReset;
}

bool takesPartition(QpTransition transition, std::uint32_t optionalMask) {
  return ((optionalMask | required(transition)) & kPartitionIndex) != 0;
}

bool takesAlternatePath(std::uint32_t optionalMask) { return (optionalMask & kAlternatePath) != 0; }

bool takesMigration(std::uint32_t optionalMask) { return (optionalMask & kMigration) != 0; }

bool takesPort(QpTransition transition, std::uint32_t optionalMask) {
  return ((optionalMask | required(transition)) & kPrimaryPort) != 0;
}

void applyTransition(QpTransition transition, std::uint32_t optionalMask, const QpAttributes& from,
                     QpAttributes& into) {
  const std::uint32_t mask = optionalMask | required(transition);
  applyRights(mask, from, into);
  applyPath(mask, from, into);
  applyLimits(mask, from, into);
  if (transition == QpTransition::kInitToReadyToReceive) {
    into.mtu = from.mtu;
    into.logMaxMessage = from.logMaxMessage;
    into.remoteQp = from.remoteQp;
    into.nextReceivePsn = from.nextReceivePsn;
  }
  if (transition == QpTransition::kReadyToReceiveToReadyToSend) into.nextSendPsn = from.nextSendPsn;
}

}  // namespace hca::adapter
