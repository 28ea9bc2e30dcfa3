// The reading half of models/network/packet_codec.h.
#include <algorithm>
#include <cstring>

#include "models/network/crc.h"
#include "models/network/invariant_fields.h"
#include "models/network/ipv4_checksum.h"
#include "models/network/packet_codec.h"
#include "models/network/packet_layout.h"
#include "models/wire/packet_headers.h"

namespace hca::network {
namespace {

constexpr std::size_t kMaximumMtu = 4096;

/// Reads headers from the front of a packet.
class Decoder {
 public:
  Decoder(ByteView bytes, Packet& packet) : bytes_(bytes), packet_(packet) {}

  DecodeError decode(kernel::PayloadPool& pool) {
    DecodeError error = packet_.route.linkLayer == LinkLayer::kInfiniBand ? readInfiniBandRoute() : readRoceRoute();
    if (error == DecodeError::kNone) error = readTransport();
    if (error == DecodeError::kNone) error = readExtensions();
    if (error == DecodeError::kNone) error = readPayload(pool);
    return error == DecodeError::kNone ? checkInvariantCrc() : error;
  }

 private:
  /// Bytes between here and the end of what the length fields cover.
  [[nodiscard]] std::size_t left() const { return end_ - offset_; }

  template <class Header>
  [[nodiscard]] bool take(Header& header) {
    if (left() < sizeof header) return false;
    header = structFrom<Header>(bytes_.subview(offset_, sizeof header));
    offset_ += sizeof header;
    return true;
  }

  DecodeError readInfiniBandRoute();
  DecodeError readGlobalRoute(std::uint8_t nextHeader);
  DecodeError readRoceRoute();
  DecodeError readIpv4();
  DecodeError readUdp();
  DecodeError readTransport();
  DecodeError readExtensions();
  DecodeError readRdma();
  DecodeError readAcknowledge();
  DecodeError readPayload(kernel::PayloadPool& pool);
  DecodeError checkInvariantCrc();

  ByteView bytes_;
  Packet& packet_;
  std::size_t offset_ = 0;
  std::size_t end_ = 0;
  std::size_t pad_ = 0;
  Encapsulation encapsulation_ = Encapsulation::kLocal;
};

DecodeError Decoder::readInfiniBandRoute() {
  using Header = wire::LocalRouteHeader;
  if (bytes_.size() < sizeof(Header) + wire::kVariantCrcSize) return DecodeError::kTooShort;
  end_ = bytes_.size() - wire::kVariantCrcSize;
  VariantCrc crc;
  crc.add(bytes_.subview(0, end_));
  const auto sent = static_cast<std::uint16_t>(bytes_[end_] | bytes_[end_ + 1] << 8);
  if (crc.value() != sent) return DecodeError::kBadVariantCrc;

  Header header;
  if (!take(header)) return DecodeError::kTooShort;
  if (Header::LinkVersion::get(header.laneVersion) != 0) return DecodeError::kBadVersion;
  if (std::size_t{Header::Length::get(header.length)} * 4 != end_) return DecodeError::kLengthMismatch;
  Route& route = packet_.route;
  route.virtualLane = Header::VirtualLane::get(header.laneVersion);
  route.serviceLevel = Header::ServiceLevel::get(header.levelNext);
  route.sourceLid = Lid(header.sourceLid.host());
  route.destinationLid = Lid(header.destinationLid.host());
  const std::uint8_t next = Header::NextHeader::get(header.levelNext);
  if (next == Header::kNextTransport) return DecodeError::kNone;
  if (next != Header::kNextGlobal) return DecodeError::kNotTransport;
  encapsulation_ = Encapsulation::kGlobal;
  return readGlobalRoute(wire::GlobalRouteHeader::kNextTransport);
}

DecodeError Decoder::readGlobalRoute(std::uint8_t nextHeader) {
  using Header = wire::GlobalRouteHeader;
  Header header;
  if (!take(header)) return DecodeError::kTooShort;
  if (Header::Version::get(header.versionClassFlow) != Header::kVersion) return DecodeError::kBadVersion;
  if (header.nextHeader != nextHeader) return DecodeError::kNotTransport;
  if (header.payloadLength.host() > left()) return DecodeError::kLengthMismatch;
  const bool mayTrail = encapsulation_ == Encapsulation::kIpv6;
  if (!mayTrail && header.payloadLength.host() != left()) return DecodeError::kLengthMismatch;
  end_ = offset_ + header.payloadLength.host();
  Route& route = packet_.route;
  route.globalRoute = true;
  route.trafficClass = static_cast<std::uint8_t>(Header::TrafficClass::get(header.versionClassFlow));
  route.flowLabel = Header::FlowLabel::get(header.versionClassFlow);
  route.hopLimit = header.hopLimit;
  std::memcpy(route.sourceGid.data(), header.sourceGid, sizeof header.sourceGid);
  std::memcpy(route.destinationGid.data(), header.destinationGid, sizeof header.destinationGid);
  return DecodeError::kNone;
}

DecodeError Decoder::readRoceRoute() {
  end_ = bytes_.size();
  wire::EthernetHeader header;
  if (!take(header)) return DecodeError::kTooShort;
  std::memcpy(packet_.route.destinationMac.data(), header.destination, sizeof header.destination);
  std::memcpy(packet_.route.sourceMac.data(), header.source, sizeof header.source);
  DecodeError error = DecodeError::kNotTransport;
  if (header.type.host() == wire::EthernetHeader::kIpv4) {
    encapsulation_ = Encapsulation::kIpv4;
    error = readIpv4();
  } else if (header.type.host() == wire::EthernetHeader::kIpv6) {
    encapsulation_ = Encapsulation::kIpv6;
    error = readGlobalRoute(wire::Ipv4Header::kUdp);
  }
  return error == DecodeError::kNone ? readUdp() : error;
}

DecodeError Decoder::readIpv4() {
  using Header = wire::Ipv4Header;
  Header header;
  if (!take(header)) return DecodeError::kTooShort;
  if (header.versionLength != Header::kVersionLength) return DecodeError::kBadVersion;
  if (ipv4Checksum(bytesOf(header)) != 0) return DecodeError::kBadHeaderChecksum;
  constexpr std::uint16_t kFragmentMask = 0x3FFF;  // more fragments, offset
  if ((header.fragment.host() & kFragmentMask) != 0 || header.protocol != Header::kUdp) {
    return DecodeError::kNotTransport;
  }
  const std::size_t total = header.totalLength.host();
  if (total < sizeof header || total - sizeof header > left()) return DecodeError::kLengthMismatch;
  end_ = offset_ + total - sizeof header;
  Route& route = packet_.route;
  route.globalRoute = true;
  route.trafficClass = header.trafficClass;
  route.hopLimit = header.timeToLive;
  for (Gid* gid : {&route.sourceGid, &route.destinationGid}) (*gid)[10] = (*gid)[11] = 0xFF;
  std::memcpy(route.sourceGid.data() + 12, header.source, sizeof header.source);
  std::memcpy(route.destinationGid.data() + 12, header.destination, sizeof header.destination);
  return DecodeError::kNone;
}

DecodeError Decoder::readUdp() {
  const std::size_t datagram = left();
  wire::UdpHeader header;
  if (!take(header)) return DecodeError::kTooShort;
  if (header.destinationPort.host() != wire::UdpHeader::kRocePort) return DecodeError::kNotTransport;
  if (header.length.host() != datagram) return DecodeError::kLengthMismatch;
  packet_.route.udpSourcePort = header.sourcePort.host();
  return DecodeError::kNone;
}

DecodeError Decoder::readTransport() {
  using Header = wire::BaseTransportHeader;
  Header header;
  if (left() < sizeof header + wire::kInvariantCrcSize) return DecodeError::kTooShort;
  if (!take(header)) return DecodeError::kTooShort;
  end_ -= wire::kInvariantCrcSize;
  if (Header::TransportVersion::get(header.flags) != 0) return DecodeError::kBadVersion;
  packet_.service = static_cast<Service>(Header::Service::get(header.opcode));
  packet_.operation = static_cast<Operation>(Header::Operation::get(header.opcode));
  const bool known = packet_.service == Service::kRc || packet_.service == Service::kUc ||
                     packet_.service == Service::kUd || packet_.service == Service::kXrc ||
                     packet_.service == Service::kDc;
  if (!known) return DecodeError::kUnsupportedService;
  if (!isDefined(packet_.service, packet_.operation)) return DecodeError::kUnknownOperation;
  packet_.solicited = Header::Solicited::get(header.flags);
  packet_.migrated = Header::Migrated::get(header.flags);
  packet_.ackRequest = Header::AckRequest::get(header.acknowledge);
  packet_.partitionKey = header.partitionKey.host();
  packet_.destinationQp = QpNumber(header.destinationQp.host());
  packet_.psn = header.psn.host();
  pad_ = Header::PadCount::get(header.flags);
  return DecodeError::kNone;
}

DecodeError Decoder::readExtensions() {
  if (packet_.service == Service::kUd) {
    wire::DatagramHeader header;
    if (!take(header)) return DecodeError::kTooShort;
    packet_.queueKey = header.queueKey.host();
    packet_.sourceQp = QpNumber(header.sourceQp.host());
  }
  if (carriesXrcHeader(packet_.service, packet_.operation)) {
    wire::XrcHeader header;
    if (!take(header)) return DecodeError::kTooShort;
    packet_.sharedQueue = SrqNumber(header.sharedQueue.host());
  }
  if (carriesDynamicHeader(packet_.service, packet_.operation)) {
    wire::DynamicHeader header;
    if (!take(header)) return DecodeError::kTooShort;
    packet_.accessKey = header.accessKey.host();
    packet_.sourceQp = QpNumber(header.sourceQp.host());
    packet_.connection = header.connection.host();
  }
  if (const DecodeError error = readRdma(); error != DecodeError::kNone) return error;
  if (const DecodeError error = readAcknowledge(); error != DecodeError::kNone) return error;
  if (carriesImmediate(packet_.operation) || carriesInvalidate(packet_.operation)) {
    wire::Be32 immediate;
    if (!take(immediate)) return DecodeError::kTooShort;
    packet_.immediate = immediate.host();
  }
  return DecodeError::kNone;
}

DecodeError Decoder::readRdma() {
  if (carriesReth(packet_.operation)) {
    wire::RdmaHeader header;
    if (!take(header)) return DecodeError::kTooShort;
    packet_.remoteAddress = header.address.host();
    packet_.remoteKey = MemoryKey(header.key.host());
    packet_.dmaLength = header.length.host();
  }
  if (carriesAtomic(packet_.operation)) {
    wire::AtomicHeader header;
    if (!take(header)) return DecodeError::kTooShort;
    packet_.remoteAddress = header.address.host();
    packet_.remoteKey = MemoryKey(header.key.host());
    packet_.swapOrAdd = header.swapOrAdd.host();
    packet_.compare = header.compare.host();
  }
  return DecodeError::kNone;
}

DecodeError Decoder::readAcknowledge() {
  if (carriesAeth(packet_.operation)) {
    wire::AckHeader header;
    if (!take(header)) return DecodeError::kTooShort;
    packet_.syndrome = header.syndrome;
    packet_.msn = header.msn.host();
  }
  if (packet_.operation == Operation::kAtomicAcknowledge) {
    wire::Be64 result;
    if (!take(result)) return DecodeError::kTooShort;
    packet_.atomicResult = result.host();
  }
  return DecodeError::kNone;
}

DecodeError Decoder::readPayload(kernel::PayloadPool& pool) {
  if (left() < pad_) return DecodeError::kBadPadding;
  const std::size_t length = left() - pad_;
  if (padBytes(length) != pad_) return DecodeError::kBadPadding;
  if (length > kMaximumMtu) return DecodeError::kLengthMismatch;
  if (length != 0 && !mayCarryPayload(packet_.operation)) return DecodeError::kUnexpectedPayload;
  packet_.payloadLength = static_cast<std::uint32_t>(length);
  if (length != 0) packet_.payload = pool.copyOf(bytes_.subview(offset_, length));
  return DecodeError::kNone;
}

DecodeError Decoder::checkInvariantCrc() {
  const std::uint32_t crc = invariantCrc(bytes_.subview(0, end_), encapsulation_);
  std::uint32_t sent = 0;
  for (unsigned i = 0; i < wire::kInvariantCrcSize; ++i) sent |= std::uint32_t{bytes_[end_ + i]} << (8 * i);
  packet_.corrupted = crc != sent;
  return packet_.corrupted ? DecodeError::kBadInvariantCrc : DecodeError::kNone;
}

}  // namespace

DecodeError decode(ByteView bytes, LinkLayer layer, kernel::PayloadPool& pool, Packet& packet) {
  packet = Packet{};
  packet.route.linkLayer = layer;
  return Decoder(bytes, packet).decode(pool);
}

const char* name(DecodeError error) {
  switch (error) {
    case DecodeError::kNone:
      return "none";
    case DecodeError::kTooShort:
      return "too short";
    case DecodeError::kLengthMismatch:
      return "length mismatch";
    case DecodeError::kNotTransport:
      return "not an InfiniBand transport packet";
    case DecodeError::kBadVersion:
      return "bad version";
    case DecodeError::kBadHeaderChecksum:
      return "bad IPv4 header checksum";
    case DecodeError::kUnsupportedService:
      return "unsupported service";
    case DecodeError::kUnknownOperation:
      return "unknown operation";
    case DecodeError::kBadPadding:
      return "bad padding";
    case DecodeError::kUnexpectedPayload:
      return "unexpected payload";
    case DecodeError::kBadVariantCrc:
      return "bad variant CRC";
    case DecodeError::kBadInvariantCrc:
      return "bad invariant CRC";
  }
  return "unknown";
}

}  // namespace hca::network
