#include "sim/cosim/uverbs/qp_state_rules.h"

namespace hca::cosim {
namespace {

using M = QpMask;

enum TypeBit : unsigned {
  kRcBit = 1,
  kUcBit = 2,
  kUdBit = 4,
  kXrcSendBit = 8,
  kXrcReceiveBit = 16,
  kDciBit = 32,
  kRawBit = 64
};
constexpr unsigned kConnected = kRcBit | kUcBit | kXrcSendBit | kXrcReceiveBit;
constexpr unsigned kReliableSender = kRcBit | kXrcSendBit;
constexpr unsigned kReliableReceiver = kRcBit | kXrcReceiveBit;

unsigned bitOf(std::uint8_t type) {
  switch (type) {
    case 2:
      return kRcBit;
    case 3:
      return kUcBit;
    case 4:
      return kUdBit;
    case 8:
      return kRawBit;
    case 9:
      return kXrcSendBit;
    case 10:
      return kXrcReceiveBit;
    case 0xF5:
      return kDciBit;
    default:
      return 0;
  }
}

// A row of the table: a change, the types it is about, and what it must and may carry.
struct Row {
  VerbsState from, to;
  unsigned types;
  std::uint32_t required, optional;
};

constexpr std::uint32_t kInitConnected = M::kPkeyIndex | M::kPort | M::kAccess;
constexpr std::uint32_t kInitDatagram = M::kPkeyIndex | M::kPort | M::kQueueKey;
constexpr std::uint32_t kConnect = M::kPath | M::kPathMtu | M::kRemoteQp | M::kReceivePsn;
constexpr std::uint32_t kConnectOptional = M::kAlternatePath | M::kAccess | M::kPkeyIndex;
constexpr std::uint32_t kReliable = M::kMaxResponderReads | M::kMinRnrTimer;
constexpr std::uint32_t kStart = M::kTimeout | M::kRetryCount | M::kRnrRetry | M::kSendPsn | M::kMaxReads;
constexpr std::uint32_t kUpdate = M::kCurrentState | M::kAlternatePath | M::kAccess | M::kMigrationState;
constexpr std::uint32_t kDrainedUpdate = M::kPkeyIndex | M::kPort | M::kPath | M::kTimeout | M::kRetryCount |
                                         M::kRnrRetry | M::kMaxReads | M::kMaxResponderReads | M::kAlternatePath |
                                         M::kAccess | M::kMinRnrTimer | M::kMigrationState | M::kQueueKey;

using S = VerbsState;
constexpr Row kRows[] = {
    // Linux drivers/infiniband/hw/mlx5/qp.c, modify_dci_qp_is_ok.
    {S::kReset, S::kInit, kDciBit, M::kPkeyIndex | M::kPort, M::kAccess},
    {S::kInit, S::kInit, kDciBit, 0, M::kPkeyIndex | M::kPort | M::kAccess},
    {S::kInit, S::kReadyToReceive, kDciBit, M::kPathMtu, M::kPkeyIndex | M::kPath | M::kAccess},
    {S::kReadyToReceive, S::kReadyToSend, kDciBit, kStart, M::kMinRnrTimer | M::kAccess},
    {S::kReadyToSend, S::kReadyToSend, kDciBit, 0, M::kMinRnrTimer | M::kAccess},
    {S::kReset, S::kInit, kConnected, kInitConnected, 0},
    {S::kReset, S::kInit, kUdBit, kInitDatagram, 0},
    {S::kReset, S::kInit, kRawBit, M::kPort, 0},
    {S::kInit, S::kInit, kRawBit, 0, M::kPort},
    {S::kInit, S::kReadyToReceive, kRawBit, 0, 0},
    {S::kReadyToReceive, S::kReadyToSend, kRawBit, 0, M::kRateLimit},
    {S::kReadyToSend, S::kReadyToSend, kRawBit, 0, M::kRateLimit},
    {S::kInit, S::kInit, kConnected, 0, kInitConnected},
    {S::kInit, S::kInit, kUdBit, 0, kInitDatagram},
    {S::kInit, S::kReadyToReceive, kReliableReceiver, kConnect | kReliable, kConnectOptional},
    {S::kInit, S::kReadyToReceive, kUcBit | kXrcSendBit, kConnect, kConnectOptional},
    {S::kInit, S::kReadyToReceive, kUdBit, 0, M::kPkeyIndex | M::kQueueKey},
    {S::kReadyToReceive, S::kReadyToSend, kReliableSender, kStart, kUpdate | M::kMinRnrTimer},
    {S::kReadyToReceive, S::kReadyToSend, kXrcReceiveBit, M::kTimeout | M::kSendPsn, kUpdate | M::kMinRnrTimer},
    {S::kReadyToReceive, S::kReadyToSend, kUcBit, M::kSendPsn, kUpdate},
    {S::kReadyToReceive, S::kReadyToSend, kUdBit, M::kSendPsn, M::kCurrentState | M::kQueueKey},
    {S::kReadyToSend, S::kReadyToSend, kConnected, 0, kUpdate | M::kMinRnrTimer},
    {S::kReadyToSend, S::kReadyToSend, kUdBit, 0, M::kCurrentState | M::kQueueKey},
    {S::kReadyToSend, S::kDrain, kConnected | kUdBit, 0, M::kDrainedEvent},
    {S::kDrain, S::kReadyToSend, kConnected, 0, kUpdate | M::kMinRnrTimer},
    {S::kDrain, S::kReadyToSend, kUdBit, 0, M::kCurrentState | M::kQueueKey},
    {S::kDrain, S::kDrain, kConnected | kUdBit, 0, kDrainedUpdate},
    {S::kSendError, S::kReadyToSend, kUcBit, 0, M::kCurrentState | M::kAccess},
    {S::kSendError, S::kReadyToSend, kUdBit, 0, M::kCurrentState | M::kQueueKey},
};

}  // namespace

bool isModifyAllowed(std::uint8_t type, VerbsState from, VerbsState to, std::uint32_t mask) {
  if (to == S::kReset || to == S::kError) return (mask & ~(M::kState | M::kCurrentState)) == 0 || to == S::kError;
  for (const Row& row : kRows) {
    if (row.from != from || row.to != to || (row.types & bitOf(type)) == 0) continue;
    if ((mask & row.required) != row.required) return false;
    return (mask & ~(row.required | row.optional | M::kState | M::kCurrentState)) == 0;
  }
  return false;
}

}  // namespace hca::cosim
