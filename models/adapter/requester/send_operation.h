// Which packets a send opcode becomes.
#pragma once

#include "models/adapter/send_queue/send_request.h"
#include "models/adapter/transport/qp_attributes.h"
#include "models/network/packet.h"
#include "models/wire/wqe.h"

namespace hca::adapter {

/// Whether a queue pair of this kind executes `opcode` (InfiniBand volume 1, table 38); any other fails as a local
/// queue pair operation error.
[[nodiscard]] constexpr bool isSupported(QpService service, wire::SendOpcode opcode) {
  if (opcode == wire::SendOpcode::kNop) return service != QpService::kDct && service != QpService::kDcResponder;
  if (service == QpService::kRegisteredUmr) return opcode == wire::SendOpcode::kUmr;
  if (service == QpService::kDct || service == QpService::kDcResponder) return false;
  if (service == QpService::kRaw) return opcode == wire::SendOpcode::kSend;
  switch (opcode) {
    case wire::SendOpcode::kSend:
    case wire::SendOpcode::kSendImmediate:
      return true;
    case wire::SendOpcode::kWrite:
    case wire::SendOpcode::kWriteImmediate:
    case wire::SendOpcode::kUmr:
    case wire::SendOpcode::kLocalInvalidate:
      return !hasDatagrams(service);
    case wire::SendOpcode::kTagMatching:
      return service == QpService::kRc;
    case wire::SendOpcode::kSendInvalidate:
    case wire::SendOpcode::kRead:
    case wire::SendOpcode::kCompareSwap:
    case wire::SendOpcode::kFetchAdd:
      return isReliable(service);
    default:
      return false;
  }
}

/// Operation of one packet of a message. Precondition: isSupported, and no memory operation.
[[nodiscard]] constexpr network::Operation operationFor(wire::SendOpcode opcode, bool first, bool last) {
  using network::Operation;
  if (opcode == wire::SendOpcode::kRead) return Operation::kReadRequest;
  if (opcode == wire::SendOpcode::kCompareSwap) return Operation::kCompareSwap;
  if (opcode == wire::SendOpcode::kFetchAdd) return Operation::kFetchAdd;
  const bool isWrite = opcode == wire::SendOpcode::kWrite || opcode == wire::SendOpcode::kWriteImmediate;
  const bool immediate = opcode == wire::SendOpcode::kSendImmediate || opcode == wire::SendOpcode::kWriteImmediate;
  if (last && opcode == wire::SendOpcode::kSendInvalidate) {
    return first ? Operation::kSendOnlyInvalidate : Operation::kSendLastInvalidate;
  }
  if (first && last) {
    if (isWrite) return immediate ? Operation::kWriteOnlyImmediate : Operation::kWriteOnly;
    return immediate ? Operation::kSendOnlyImmediate : Operation::kSendOnly;
  }
  if (last) {
    if (isWrite) return immediate ? Operation::kWriteLastImmediate : Operation::kWriteLast;
    return immediate ? Operation::kSendLastImmediate : Operation::kSendLast;
  }
  if (first) return isWrite ? Operation::kWriteFirst : Operation::kSendFirst;
  return isWrite ? Operation::kWriteMiddle : Operation::kSendMiddle;
}

/// Whether packets come to and from a queue pair of this kind.
[[nodiscard]] constexpr bool isReachable(QpService service) {
  return service != QpService::kRegisteredUmr && service != QpService::kDcResponder;
}

[[nodiscard]] constexpr network::Service networkService(QpService service) {
  switch (service) {
    case QpService::kUc:
      return network::Service::kUc;
    case QpService::kUd:
    case QpService::kQp0:
    case QpService::kQp1:
      return network::Service::kUd;
    case QpService::kXrc:
      return network::Service::kXrc;
    case QpService::kDci:
    case QpService::kDct:
    case QpService::kDcResponder:
      return network::Service::kDc;
    case QpService::kRaw:
      return network::Service::kRaw;
    default:
      return network::Service::kRc;
  }
}

/// The queue key that a datagram carries: with the top bit set in the address, the sender's own (InfiniBand volume 1,
/// 10.2.5: controlled queue keys).
[[nodiscard]] inline std::uint32_t effectiveQueueKey(const DatagramAddress& address, std::uint32_t own) {
  constexpr std::uint32_t kControlled = 0x80000000;
  return (address.queueKey & kControlled) != 0 ? own : address.queueKey;
}

}  // namespace hca::adapter
