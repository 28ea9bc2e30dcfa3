// A transport packet: every header field as the wire has it, with its payload.
#pragma once

#include <array>
#include <cstdint>

#include "models/base/ids.h"
#include "models/kernel/payload_pool.h"
#include "models/observe/work_request_id.h"

namespace hca::network {

enum class LinkLayer : std::uint8_t { kInfiniBand, kRoceV2 };

/// Base transport header operation, InfiniBand Architecture volume 1, section 9.2: [7:5] service, [4:0] operation.
/// kRaw is no service of InfiniBand: the payload is a whole Ethernet frame, without its frame check sequence.
/// kDc, dynamic connections, is the vendor's: in the range of codes that is left to manufacturers (an assumption).
enum class Service : std::uint8_t { kRc = 0, kUc = 1, kRd = 2, kUd = 3, kXrc = 5, kDc = 6, kRaw = 7 };
enum class Operation : std::uint8_t {
  kSendFirst = 0,
  kSendMiddle = 1,
  kSendLast = 2,
  kSendLastImmediate = 3,
  kSendOnly = 4,
  kSendOnlyImmediate = 5,
  kWriteFirst = 6,
  kWriteMiddle = 7,
  kWriteLast = 8,
  kWriteLastImmediate = 9,
  kWriteOnly = 10,
  kWriteOnlyImmediate = 11,
  kReadRequest = 12,
  kReadResponseFirst = 13,
  kReadResponseMiddle = 14,
  kReadResponseLast = 15,
  kReadResponseOnly = 16,
  kAcknowledge = 17,
  kAtomicAcknowledge = 18,
  kCompareSwap = 19,
  kFetchAdd = 20,
  kResync = 21,
  kSendLastInvalidate = 22,
  kSendOnlyInvalidate = 23,
  kConnect = 24,     ///< of kDc alone: the target makes a context for the initiator
  kDisconnect = 25,  ///< of kDc alone: the context ends
};

using Gid = std::array<std::uint8_t, 16>;

/// The fields of LRH/GRH or Ethernet/IP/UDP that the model uses.
struct Route {
  LinkLayer linkLayer = LinkLayer::kInfiniBand;
  Lid sourceLid;
  Lid destinationLid;
  std::uint8_t serviceLevel = 0;
  std::uint8_t virtualLane = 0;  ///< InfiniBand
  bool globalRoute = false;      ///< GRH present (always with RoCE)
  Gid sourceGid{};
  Gid destinationGid{};
  std::uint8_t trafficClass = 0;
  std::uint32_t flowLabel = 0;
  std::uint8_t hopLimit = 64;
  std::array<std::uint8_t, 6> sourceMac{};
  std::array<std::uint8_t, 6> destinationMac{};
  std::uint16_t udpSourcePort = 0xC000;
};

/// A packet but for its payload. Which extension fields count follows from `operation` (see carries...()).
struct PacketFields {
  Route route;

  // Base transport header.
  Service service = Service::kRc;
  Operation operation = Operation::kSendOnly;
  bool solicited = false;
  bool ackRequest = false;
  bool migrated = true;  ///< MigReq: the path is the migrated one, as it is when migration is not used
  std::uint16_t partitionKey = 0xFFFF;
  QpNumber destinationQp;
  std::uint32_t psn = 0;  ///< 24 bits

  // Extended transport headers.
  std::uint64_t remoteAddress = 0;  ///< RETH, AtomicETH
  MemoryKey remoteKey;              ///< RETH, AtomicETH
  std::uint32_t dmaLength = 0;      ///< RETH: length of the whole message in bytes
  std::uint64_t swapOrAdd = 0;      ///< AtomicETH
  std::uint64_t compare = 0;        ///< AtomicETH
  std::uint64_t atomicResult = 0;   ///< AtomicAckETH
  std::uint8_t syndrome = 0;        ///< AETH [31:24]
  std::uint32_t msn = 0;            ///< AETH [23:0], message sequence number
  std::uint32_t immediate = 0;      ///< ImmDt, host order of the big-endian word; IETH: the key to invalidate
  std::uint32_t queueKey = 0;       ///< DETH
  QpNumber sourceQp;                ///< DETH, and requests of kDc
  std::uint64_t accessKey = 0;      ///< requests of kDc
  std::uint32_t connection = 0;     ///< requests of kDc: which of the initiator's
  SrqNumber sharedQueue;            ///< XRCETH

  std::uint32_t payloadLength = 0;  ///< bytes, 0..MTU

  bool looped = false;  ///< a multicast or raw packet for the sender's own port

  // Of kRaw. What the sending adapter is to do with it, and who may not get it back.
  bool insertNetworkChecksum = false;
  bool insertTransportChecksum = false;
  std::uint32_t transportDomain = 0;  ///< of the sender's queue; means something in its own adapter alone
  // Of kRaw, found out by the receiving adapter.
  std::uint32_t flowTag = 0;  ///< of the rule that steered it
  std::uint16_t vlanTag = 0;  ///< what was taken out of the frame
  bool hadVlanTag = false;
  std::uint32_t rssHash = 0;
  std::uint8_t rssHashType = 0;  ///< as completions have it; 0: none

  bool corrupted = false;          ///< the receiver's CRC check will fail
  observe::WorkRequestId request;  ///< of the requester, for observers; not on the wire
};

/// One packet. Move-only: the payload moves.
struct Packet : PacketFields {
  kernel::Payload payload;  ///< `payloadLength` bytes, or empty: timing only

  [[nodiscard]] Packet clone() const { return {static_cast<const PacketFields&>(*this), payload.clone()}; }
};

[[nodiscard]] constexpr bool carriesReth(Operation o) {
  return o == Operation::kWriteFirst || o == Operation::kWriteOnly || o == Operation::kWriteOnlyImmediate ||
         o == Operation::kReadRequest;
}
[[nodiscard]] constexpr bool carriesAeth(Operation o) {
  return o == Operation::kAcknowledge || o == Operation::kAtomicAcknowledge || o == Operation::kReadResponseFirst ||
         o == Operation::kReadResponseLast || o == Operation::kReadResponseOnly;
}
[[nodiscard]] constexpr bool carriesImmediate(Operation o) {
  return o == Operation::kSendLastImmediate || o == Operation::kSendOnlyImmediate ||
         o == Operation::kWriteLastImmediate || o == Operation::kWriteOnlyImmediate;
}
[[nodiscard]] constexpr bool carriesInvalidate(Operation o) {
  return o == Operation::kSendLastInvalidate || o == Operation::kSendOnlyInvalidate;
}
[[nodiscard]] constexpr bool carriesAtomic(Operation o) {
  return o == Operation::kCompareSwap || o == Operation::kFetchAdd;
}

/// Responses go to a queue pair alone; requests of this service name a shared receive queue besides.
[[nodiscard]] constexpr bool carriesXrcHeader(Service service, Operation o) {
  return service == Service::kXrc && !(o >= Operation::kReadResponseFirst && o <= Operation::kAtomicAcknowledge);
}

/// Requests of dynamic connections say whose they are.
[[nodiscard]] constexpr bool carriesDynamicHeader(Service service, Operation o) {
  return service == Service::kDc && !(o >= Operation::kReadResponseFirst && o <= Operation::kAtomicAcknowledge);
}

/// Bytes on the wire from the local route header to the variant CRC (InfiniBand), or from the Ethernet header to the
/// frame check sequence with preamble and gap (RoCE v2).
[[nodiscard]] std::uint32_t wireBytes(const Packet& packet);

}  // namespace hca::network
