// Which headers a packet has and how long they are: shared by the size computation and the codec.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "models/network/packet.h"
#include "models/wire/packet_headers.h"

namespace hca::network {

constexpr std::size_t kOperations = 32;  ///< 5 bits

/// Bytes of extended transport headers of each operation, those of the service aside.
constexpr std::array<std::uint8_t, kOperations> extensionTable() {
  std::array<std::uint8_t, kOperations> table{};
  for (std::size_t i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    std::size_t bytes = 0;
    if (carriesReth(operation)) bytes += sizeof(wire::RdmaHeader);
    if (carriesAtomic(operation)) bytes += sizeof(wire::AtomicHeader);
    if (carriesAeth(operation)) bytes += sizeof(wire::AckHeader);
    if (operation == Operation::kAtomicAcknowledge) bytes += wire::kAtomicAckHeaderSize;
    if (carriesImmediate(operation)) bytes += wire::kImmediateSize;
    if (carriesInvalidate(operation)) bytes += wire::kInvalidateSize;
    table[i] = static_cast<std::uint8_t>(bytes);
  }
  return table;
}
inline constexpr std::array<std::uint8_t, kOperations> kExtensionBytes = extensionTable();

/// Whether `service` has `operation`, for the services that the model's packets can carry. InfiniBand Architecture
/// volume 1, table of operation codes in section 9.2.
[[nodiscard]] constexpr bool isDefined(Service service, Operation operation) {
  const auto code = static_cast<std::uint8_t>(operation);
  switch (service) {
    case Service::kRc:
    case Service::kXrc:
      return code <= static_cast<std::uint8_t>(Operation::kFetchAdd) || carriesInvalidate(operation);
    case Service::kDc:
      return code <= static_cast<std::uint8_t>(Operation::kFetchAdd) || carriesInvalidate(operation) ||
             operation == Operation::kConnect || operation == Operation::kDisconnect;
    case Service::kUc:
      return code <= static_cast<std::uint8_t>(Operation::kWriteOnlyImmediate);
    case Service::kUd:
      return operation == Operation::kSendOnly || operation == Operation::kSendOnlyImmediate;
    case Service::kRd:
    case Service::kRaw:
      return false;
  }
  return false;
}

/// Whether packets of `operation` may have a payload.
[[nodiscard]] constexpr bool mayCarryPayload(Operation operation) {
  return operation != Operation::kReadRequest && operation != Operation::kAcknowledge &&
         operation != Operation::kAtomicAcknowledge && operation != Operation::kConnect &&
         operation != Operation::kDisconnect && !carriesAtomic(operation);
}

/// Bytes from the base transport header to the last extended one.
[[nodiscard]] inline std::size_t transportHeaderBytes(Service service, Operation operation) {
  return sizeof(wire::BaseTransportHeader) + kExtensionBytes[static_cast<std::size_t>(operation)] +
         (service == Service::kUd ? sizeof(wire::DatagramHeader) : 0) +
         (carriesXrcHeader(service, operation) ? sizeof(wire::XrcHeader) : 0) +
         (carriesDynamicHeader(service, operation) ? sizeof(wire::DynamicHeader) : 0);
}

/// Bytes after the payload that make it a multiple of four.
[[nodiscard]] constexpr std::size_t padBytes(std::size_t payloadLength) { return (0 - payloadLength) & 3; }

/// Bytes from the base transport header to the invariant CRC, both included.
[[nodiscard]] inline std::size_t transportBytes(const Packet& packet) {
  return transportHeaderBytes(packet.service, packet.operation) + packet.payloadLength +
         padBytes(packet.payloadLength) + wire::kInvariantCrcSize;
}

/// Whether `gid` stands for an IPv4 address (::ffff:a.b.c.d), which RoCE v2 then sends as IPv4.
[[nodiscard]] inline bool isIpv4Mapped(const Gid& gid) {
  static constexpr std::uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return std::memcmp(gid.data(), kPrefix, sizeof kPrefix) == 0;
}

/// Whether `gid` names a group: ff00::/8, or an IPv4 group.
[[nodiscard]] inline bool isMulticast(const Gid& gid) {
  constexpr std::uint8_t kGroup = 0xFF;
  constexpr std::uint8_t kIpv4Group = 0xE0;
  constexpr std::uint8_t kIpv4GroupMask = 0xF0;
  return gid[0] == kGroup || (isIpv4Mapped(gid) && (gid[12] & kIpv4GroupMask) == kIpv4Group);
}

/// Whether a packet is for a group of ports. InfiniBand volume 1, 4.1.3: multicast LIDs are C000 to FFFE.
[[nodiscard]] inline bool isMulticast(const Route& route) {
  constexpr std::uint16_t kFirstMulticastLid = 0xC000;
  constexpr std::uint16_t kPermissiveLid = 0xFFFF;
  if (route.linkLayer == LinkLayer::kRoceV2) return isMulticast(route.destinationGid);
  return route.destinationLid.value() >= kFirstMulticastLid && route.destinationLid.value() != kPermissiveLid;
}

/// The destination queue pair of multicast packets (InfiniBand volume 1, 9.6.1).
constexpr QpNumber kMulticastQp{0xFFFFFF};

/// Whether a RoCE v2 packet goes by IPv4: both its addresses must be such.
[[nodiscard]] inline bool usesIpv4(const Route& route) {
  return isIpv4Mapped(route.destinationGid) && isIpv4Mapped(route.sourceGid);
}

}  // namespace hca::network
