// Which packets a send opcode becomes.
#pragma once

#include "models/network/packet.h"
#include "models/wire/wqe.h"

namespace hca::adapter {

/// Whether the requester executes `opcode`; any other fails as a local queue pair operation error.
[[nodiscard]] constexpr bool isSupported(wire::SendOpcode opcode) {
  switch (opcode) {
    case wire::SendOpcode::kSend:
    case wire::SendOpcode::kSendImmediate:
    case wire::SendOpcode::kWrite:
    case wire::SendOpcode::kWriteImmediate:
    case wire::SendOpcode::kRead:
    case wire::SendOpcode::kCompareSwap:
    case wire::SendOpcode::kFetchAdd:
      return true;
    default:
      return false;
  }
}

/// Operation of one packet of a message. Precondition: isSupported(opcode).
[[nodiscard]] constexpr network::Operation operationFor(wire::SendOpcode opcode, bool first, bool last) {
  using network::Operation;
  if (opcode == wire::SendOpcode::kRead) return Operation::kReadRequest;
  if (opcode == wire::SendOpcode::kCompareSwap) return Operation::kCompareSwap;
  if (opcode == wire::SendOpcode::kFetchAdd) return Operation::kFetchAdd;
  const bool isWrite = opcode == wire::SendOpcode::kWrite || opcode == wire::SendOpcode::kWriteImmediate;
  const bool immediate = opcode == wire::SendOpcode::kSendImmediate || opcode == wire::SendOpcode::kWriteImmediate;
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

}  // namespace hca::adapter
