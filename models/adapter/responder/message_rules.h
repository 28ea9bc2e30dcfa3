// What the responder may expect of a request packet.
#pragma once

#include <cstdint>

#include "models/adapter/completion/completion_port.h"
#include "models/adapter/responder/response.h"
#include "models/adapter/transport/acknowledge.h"
#include "models/network/packet.h"

namespace hca::adapter {

[[nodiscard]] constexpr bool isSend(network::Operation o) {
  return o <= network::Operation::kSendOnlyImmediate || network::carriesInvalidate(o);
}
[[nodiscard]] constexpr bool isWrite(network::Operation o) {
  return o >= network::Operation::kWriteFirst && o <= network::Operation::kWriteOnlyImmediate;
}
/// Acknowledgements and read responses: for the requester.
[[nodiscard]] constexpr bool isResponse(network::Operation o) {
  return o >= network::Operation::kReadResponseFirst && o <= network::Operation::kAtomicAcknowledge;
}

[[nodiscard]] constexpr bool beginsMessage(network::Operation o) {
  switch (o) {
    case network::Operation::kSendMiddle:
    case network::Operation::kSendLast:
    case network::Operation::kSendLastImmediate:
    case network::Operation::kSendLastInvalidate:
    case network::Operation::kWriteMiddle:
    case network::Operation::kWriteLast:
    case network::Operation::kWriteLastImmediate:
      return false;
    default:
      return true;
  }
}

[[nodiscard]] constexpr bool endsMessage(network::Operation o) {
  switch (o) {
    case network::Operation::kSendFirst:
    case network::Operation::kSendMiddle:
    case network::Operation::kWriteFirst:
    case network::Operation::kWriteMiddle:
      return false;
    default:
      return true;
  }
}

/// Payload length rules, InfiniBand volume 1, 9.7.4.1.6: all but the last packet of a message are full, the last of
/// several isn't empty, an only packet is at most one MTU.
[[nodiscard]] inline bool hasLegalLength(const network::Packet& packet, std::uint32_t mtu) {
  if (!endsMessage(packet.operation)) return packet.payloadLength == mtu;
  if (!beginsMessage(packet.operation)) return packet.payloadLength >= 1 && packet.payloadLength <= mtu;
  return packet.payloadLength <= mtu;
}

/// Reads and atomics are answered by a response of their own instead of an acknowledgement.
[[nodiscard]] constexpr bool hasOwnResponse(network::Operation o) {
  return o == network::Operation::kReadRequest || network::carriesAtomic(o);
}

/// Sequence numbers that a request takes: a read as many as its response has packets.
[[nodiscard]] inline std::uint32_t sequenceNumbersOf(const network::Packet& packet, std::uint32_t mtu) {
  if (packet.operation != network::Operation::kReadRequest || packet.dmaLength == 0) return 1;
  return (packet.dmaLength + mtu - 1) / mtu;
}

[[nodiscard]] inline Response readResponse(const network::Packet& request, std::uint32_t messageNumber,
                                           PdNumber domain) {
  Response response;
  response.kind = Response::Kind::kRead;
  response.syndrome = aeth::kAck;
  response.psn = request.psn;
  response.messageNumber = messageNumber;
  response.address = request.remoteAddress;
  response.key = request.remoteKey;
  response.domain = domain;
  response.length = request.dmaLength;
  response.request = request.request;
  return response;
}

[[nodiscard]] inline Response atomicResponse(const network::Packet& request, std::uint32_t messageNumber) {
  Response response;
  response.kind = Response::Kind::kAtomic;
  response.syndrome = aeth::kAck;
  response.psn = request.psn;
  response.messageNumber = messageNumber;
  response.ready = false;
  response.request = request.request;
  return response;
}

/// CQE opcode of the receive completion that a message's last packet causes.
[[nodiscard]] constexpr CqeOpcode receiveOpcode(network::Operation o) {
  if (isWrite(o)) return CqeOpcode::kResponderWriteImmediate;
  if (network::carriesInvalidate(o)) return CqeOpcode::kResponderSendInvalidate;
  return network::carriesImmediate(o) ? CqeOpcode::kResponderSendImmediate : CqeOpcode::kResponderSend;
}

}  // namespace hca::adapter
