// Headers of packets on a link. InfiniBand: InfiniBand Architecture volume 1, chapters 7 to 9. RoCE v2: its annex A17,
// with IEEE 802.3, RFC 791, RFC 8200, RFC 768.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/wire/endian.h"
#include "models/wire/field.h"

namespace hca::wire {

/// LRH, 8 bytes.
struct LocalRouteHeader {
  std::uint8_t laneVersion = 0;
  std::uint8_t levelNext = 0;
  Be16 destinationLid;
  Be16 length;  ///< 4-byte words from the LRH to the invariant CRC, both included
  Be16 sourceLid;

  using VirtualLane = Field<std::uint8_t, 7, 4>;     ///< of laneVersion
  using LinkVersion = Field<std::uint8_t, 3, 0>;     ///< of laneVersion: 0
  using ServiceLevel = Field<std::uint8_t, 7, 4>;    ///< of levelNext
  using NextHeader = Field<std::uint8_t, 1, 0>;      ///< of levelNext: the two below, or raw
  using Length = Field<std::uint16_t, 10, 0>;        ///< of length
  static constexpr std::uint8_t kNextTransport = 2;  ///< BTH follows
  static constexpr std::uint8_t kNextGlobal = 3;     ///< GRH follows, then BTH
};

static_assert(sizeof(LocalRouteHeader) == 8);
static_assert(offsetof(LocalRouteHeader, laneVersion) == 0 && offsetof(LocalRouteHeader, levelNext) == 1);
static_assert(offsetof(LocalRouteHeader, destinationLid) == 2 && offsetof(LocalRouteHeader, length) == 4);
static_assert(offsetof(LocalRouteHeader, sourceLid) == 6);

/// GRH of InfiniBand, and the header of IPv6: 40 bytes.
struct GlobalRouteHeader {
  Be32 versionClassFlow;
  Be16 payloadLength;  ///< bytes after this header; InfiniBand: without the variant CRC
  std::uint8_t nextHeader = 0;
  std::uint8_t hopLimit = 0;
  std::uint8_t sourceGid[16] = {};
  std::uint8_t destinationGid[16] = {};

  using Version = Field<std::uint32_t, 31, 28>;       ///< of versionClassFlow: 6
  using TrafficClass = Field<std::uint32_t, 27, 20>;  ///< of versionClassFlow
  using FlowLabel = Field<std::uint32_t, 19, 0>;      ///< of versionClassFlow
  static constexpr std::uint8_t kVersion = 6;
  static constexpr std::uint8_t kNextTransport = 0x1B;  ///< BTH
};

static_assert(sizeof(GlobalRouteHeader) == 40);
static_assert(offsetof(GlobalRouteHeader, versionClassFlow) == 0 && offsetof(GlobalRouteHeader, payloadLength) == 4);
static_assert(offsetof(GlobalRouteHeader, nextHeader) == 6 && offsetof(GlobalRouteHeader, hopLimit) == 7);
static_assert(offsetof(GlobalRouteHeader, sourceGid) == 8 && offsetof(GlobalRouteHeader, destinationGid) == 24);

/// Ethernet, 14 bytes, without tag.
struct EthernetHeader {
  std::uint8_t destination[6] = {};
  std::uint8_t source[6] = {};
  Be16 type;

  static constexpr std::uint16_t kIpv4 = 0x0800;
  static constexpr std::uint16_t kIpv6 = 0x86DD;
  static constexpr std::size_t kMinimumFrame = 60;  ///< with this header, without the frame check sequence
};

static_assert(sizeof(EthernetHeader) == 14);
static_assert(offsetof(EthernetHeader, destination) == 0 && offsetof(EthernetHeader, source) == 6);
static_assert(offsetof(EthernetHeader, type) == 12);

/// IPv4 without options, 20 bytes.
struct Ipv4Header {
  std::uint8_t versionLength = 0x45;
  std::uint8_t trafficClass = 0;
  Be16 totalLength;
  Be16 identification;
  Be16 fragment;
  std::uint8_t timeToLive = 0;
  std::uint8_t protocol = 0;
  Be16 checksum;
  std::uint8_t source[4] = {};
  std::uint8_t destination[4] = {};

  static constexpr std::uint8_t kVersionLength = 0x45;
  static constexpr std::uint16_t kDontFragment = 0x4000;
  static constexpr std::uint8_t kUdp = 17;
};

static_assert(sizeof(Ipv4Header) == 20);
static_assert(offsetof(Ipv4Header, versionLength) == 0 && offsetof(Ipv4Header, trafficClass) == 1);
static_assert(offsetof(Ipv4Header, totalLength) == 2 && offsetof(Ipv4Header, identification) == 4);
static_assert(offsetof(Ipv4Header, fragment) == 6 && offsetof(Ipv4Header, timeToLive) == 8);
static_assert(offsetof(Ipv4Header, protocol) == 9 && offsetof(Ipv4Header, checksum) == 10);
static_assert(offsetof(Ipv4Header, source) == 12 && offsetof(Ipv4Header, destination) == 16);

/// UDP, 8 bytes.
struct UdpHeader {
  Be16 sourcePort;
  Be16 destinationPort;
  Be16 length;
  Be16 checksum;  ///< 0 in RoCE v2

  static constexpr std::uint16_t kRocePort = 4791;
};

static_assert(sizeof(UdpHeader) == 8);
static_assert(offsetof(UdpHeader, sourcePort) == 0 && offsetof(UdpHeader, destinationPort) == 2);
static_assert(offsetof(UdpHeader, length) == 4 && offsetof(UdpHeader, checksum) == 6);

/// BTH, 12 bytes.
struct BaseTransportHeader {
  std::uint8_t opcode = 0;  ///< [7:5] service, [4:0] operation
  std::uint8_t flags = 0;
  Be16 partitionKey;
  std::uint8_t congestion = 0;  ///< variant bits: FECN, BECN, reserved
  Be24 destinationQp;
  std::uint8_t acknowledge = 0;
  Be24 psn;

  using Service = Field<std::uint8_t, 7, 5>;           ///< of opcode
  using Operation = Field<std::uint8_t, 4, 0>;         ///< of opcode
  using Solicited = Field<std::uint8_t, 7, 7, bool>;   ///< of flags
  using Migrated = Field<std::uint8_t, 6, 6, bool>;    ///< of flags
  using PadCount = Field<std::uint8_t, 5, 4>;          ///< of flags: bytes after the payload
  using TransportVersion = Field<std::uint8_t, 3, 0>;  ///< of flags: 0
  using AckRequest = Field<std::uint8_t, 7, 7, bool>;  ///< of acknowledge
};

static_assert(sizeof(BaseTransportHeader) == 12);
static_assert(offsetof(BaseTransportHeader, opcode) == 0 && offsetof(BaseTransportHeader, flags) == 1);
static_assert(offsetof(BaseTransportHeader, partitionKey) == 2 && offsetof(BaseTransportHeader, congestion) == 4);
static_assert(offsetof(BaseTransportHeader, destinationQp) == 5 && offsetof(BaseTransportHeader, acknowledge) == 8);
static_assert(offsetof(BaseTransportHeader, psn) == 9);

/// DETH, 8 bytes.
struct DatagramHeader {
  Be32 queueKey;
  std::uint8_t reserved = 0;
  Be24 sourceQp;
};

static_assert(sizeof(DatagramHeader) == 8);
static_assert(offsetof(DatagramHeader, queueKey) == 0 && offsetof(DatagramHeader, sourceQp) == 5);

/// XRCETH, 4 bytes: which shared receive queue a request of XRC is for.
struct XrcHeader {
  std::uint8_t reserved = 0;
  Be24 sharedQueue;
};

static_assert(sizeof(XrcHeader) == 4 && offsetof(XrcHeader, sharedQueue) == 1);

/// Behind the base header of a request of a dynamic connection, 16 bytes. No public document has the vendor's header:
/// this one holds what the address vector of a request says, and is an assumption.
struct DynamicHeader {
  Be64 accessKey;
  std::uint8_t reserved = 0;
  Be24 sourceQp;
  Be32 connection;  ///< tells one connection of an initiator from the next
};

static_assert(sizeof(DynamicHeader) == 16);
static_assert(offsetof(DynamicHeader, accessKey) == 0 && offsetof(DynamicHeader, sourceQp) == 9 &&
              offsetof(DynamicHeader, connection) == 12);

/// RETH, 16 bytes.
struct RdmaHeader {
  Be64 address;
  Be32 key;
  Be32 length;
};

static_assert(sizeof(RdmaHeader) == 16);
static_assert(offsetof(RdmaHeader, address) == 0 && offsetof(RdmaHeader, key) == 8 &&
              offsetof(RdmaHeader, length) == 12);

/// AtomicETH, 28 bytes.
struct AtomicHeader {
  Be64Unaligned address;
  Be32 key;
  Be64Unaligned swapOrAdd;
  Be64Unaligned compare;
};

static_assert(sizeof(AtomicHeader) == 28);
static_assert(offsetof(AtomicHeader, address) == 0 && offsetof(AtomicHeader, key) == 8);
static_assert(offsetof(AtomicHeader, swapOrAdd) == 12 && offsetof(AtomicHeader, compare) == 20);

/// AETH, 4 bytes.
struct AckHeader {
  std::uint8_t syndrome = 0;
  Be24 msn;
};

static_assert(sizeof(AckHeader) == 4 && offsetof(AckHeader, syndrome) == 0 && offsetof(AckHeader, msn) == 1);

constexpr std::size_t kAtomicAckHeaderSize = 8;
constexpr std::size_t kImmediateSize = 4;
constexpr std::size_t kInvalidateSize = 4;
constexpr std::size_t kInvariantCrcSize = 4;
constexpr std::size_t kVariantCrcSize = 2;

}  // namespace hca::wire
