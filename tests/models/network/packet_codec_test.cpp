// Packets against hand-assembled and published bytes.
#include "models/network/packet_codec.h"

#include <gtest/gtest.h>

#include "models/network/crc.h"
#include "models/network/invariant_fields.h"
#include "tests/support/hex_bytes.h"

namespace hca::network {
namespace {

using test::hexBytes;
using Bytes = std::vector<std::uint8_t>;

// RDMA WRITE of 14 bytes with its invariant CRC: the sample packet of InfiniBand Architecture volume 1, section 7.8.
// The virtual lane (7) is ours, the variant CRC worked out apart, bit by bit.
const char* const kSample =
    "70 12 37 5c 00 0e 17 d2 0a 20 24 87 00 87 b1 b3 00 0d ec 2a 01 71 0a 1c 01 5d 40 02 38 f2 7a 05"
    "00 00 00 0e bb 88 4d 85 fd 5c fb a4 72 8b c0 69 0e d4 00 00 96 25 b7 5a 45 fa";

// SEND ONLY over an unreliable connection as Linux' software RoCE sent it (the example of scapy's RoCE layer).
const char* const kSoftwareRoce =
    "24 8a 07 a8 fa 22 24 8a 07 a8 fa 22 08 00 45 01 00 40 04 78 40 00 40 11 b4 d5 c0 a8 00 07 c0 a8"
    "00 07 c0 00 12 b7 00 2c ac a2 24 60 ff ff 00 00 00 d3 00 cf 17 10 46 30 81 8b e2 89 35 d9 0e 9a"
    "95 50 54 01 be 88 5e 50 00 00 78 f3 53 f3";

// A congestion notification captured on a ConnectX-4 Lx (the example of scapy's RoCE layer).
const char* const kCapturedNotification =
    "e4 1d 2d ab 2b c2 7c fe 90 64 3b 32 08 00 45 c2 00 3c 71 8c 40 00 40 11 91 61 0a 00 11 01 0a 00"
    "12 01 00 00 12 b7 00 28 00 00 81 00 ff ff 40 00 01 18 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
    "00 00 00 00 00 00 82 fd 00 2a";

// Acknowledge with a global route header.
const char* const kAcknowledge =
    "20 33 00 02 00 11 00 01 65 aa bc de 00 14 1b 3f fe 80 00 00 00 00 00 00 00 02 4c 00 00 00 00 01"
    "fe 80 00 00 00 00 00 00 00 02 4c 00 00 00 00 02 11 40 ff ff 00 00 12 34 00 ff ff fe 1f 00 01 02"
    "81 51 d1 ff 3a 9e";

// Datagram with immediate over IPv6, five bytes and three of padding.
const char* const kDatagram =
    "02 00 00 00 00 02 02 00 00 00 00 01 86 dd 60 01 23 45 00 2c 11 40 20 01 0d b8 00 00 00 00 00 00"
    "00 00 00 00 00 01 20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 02 c1 23 12 b7 00 2c 00 00 65 f0"
    "80 01 00 00 00 2b 00 00 00 07 11 11 11 11 00 00 00 2a ca fe 00 01 68 65 6c 6c 6f 00 00 00 86 5e"
    "be 02";

// Fetch and add over IPv4.
const char* const kFetchAdd =
    "02 00 00 00 00 02 02 00 00 00 00 01 08 00 45 68 00 48 00 00 40 00 40 11 26 3b 0a 00 00 01 0a 00"
    "00 02 c0 00 12 b7 00 34 00 00 14 40 ff ff 00 00 00 99 80 12 34 56 01 02 03 04 05 06 07 08 a1 b2"
    "c3 d4 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 a3 64 ff 1c";

// SEND ONLY without payload over IPv4: two bytes short of Ethernet's minimum.
const char* const kEmptySend =
    "02 00 00 00 00 02 02 00 00 00 00 01 08 00 45 68 00 2c 00 00 40 00 40 11 26 57 0a 00 00 01 0a 00"
    "00 02 c0 00 12 b7 00 18 00 00 04 40 ff ff 00 00 00 99 80 00 00 00 0d 88 c4 5e 00 00";

Gid ipv4Gid(std::uint8_t last) { return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, last}; }

Packet ipv4Packet() {
  Packet packet;
  packet.route.linkLayer = LinkLayer::kRoceV2;
  packet.route.sourceGid = ipv4Gid(1);
  packet.route.destinationGid = ipv4Gid(2);
  packet.route.sourceMac = {2, 0, 0, 0, 0, 1};
  packet.route.destinationMac = {2, 0, 0, 0, 0, 2};
  packet.route.trafficClass = 0x68;
  packet.destinationQp = QpNumber(0x99);
  packet.ackRequest = true;
  return packet;
}

Bytes encoded(const Packet& packet) {
  Bytes bytes;
  EXPECT_TRUE(encode(packet, bytes));
  return bytes;
}

TEST(PacketCodec, ReadsTheSamplePacketOfTheSpecification) {
  kernel::PayloadPool pool;
  Packet packet;
  ASSERT_EQ(decode(hexBytes(kSample), LinkLayer::kInfiniBand, pool, packet), DecodeError::kNone);
  EXPECT_EQ(packet.route.virtualLane, 7);
  EXPECT_EQ(packet.route.serviceLevel, 1);
  EXPECT_FALSE(packet.route.globalRoute);
  EXPECT_EQ(packet.route.destinationLid, Lid(0x375C));
  EXPECT_EQ(packet.route.sourceLid, Lid(0x17D2));
  EXPECT_EQ(packet.service, Service::kRc);
  EXPECT_EQ(packet.operation, Operation::kWriteOnly);
  EXPECT_FALSE(packet.migrated);
  EXPECT_FALSE(packet.ackRequest);
  EXPECT_EQ(packet.partitionKey, 0x2487);
  EXPECT_EQ(packet.destinationQp, QpNumber(0x87B1B3));
  EXPECT_EQ(packet.psn, 0x0DEC2AU);
  EXPECT_EQ(packet.remoteAddress, 0x01710A1C015D4002U);
  EXPECT_EQ(packet.remoteKey, MemoryKey(0x38F27A05));
  EXPECT_EQ(packet.dmaLength, 14U);
  EXPECT_EQ(packet.payloadLength, 14U);
  EXPECT_EQ(packet.payload.view()[0], 0xBB);
  EXPECT_EQ(packet.payload.view()[13], 0xD4);
  EXPECT_FALSE(packet.corrupted);
  EXPECT_EQ(encoded(packet), hexBytes(kSample));
  EXPECT_EQ(wireBytes(packet), hexBytes(kSample).size());
}

TEST(PacketCodec, ReadsAPublishedSoftwareRocePacket) {
  kernel::PayloadPool pool;
  Packet packet;
  ASSERT_EQ(decode(hexBytes(kSoftwareRoce), LinkLayer::kRoceV2, pool, packet), DecodeError::kNone);
  EXPECT_EQ(packet.service, Service::kUc);
  EXPECT_EQ(packet.operation, Operation::kSendOnly);
  EXPECT_TRUE(packet.migrated);
  EXPECT_EQ(packet.destinationQp, QpNumber(211));
  EXPECT_EQ(packet.psn, 13571856U);
  EXPECT_EQ(packet.payloadLength, 18U);
  EXPECT_EQ(packet.payload.view()[0], 'F');
  EXPECT_EQ(packet.route.sourceGid, (Gid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 168, 0, 7}));
  EXPECT_EQ(packet.route.udpSourcePort, 49152);
  EXPECT_EQ(packet.route.trafficClass, 1);
  EXPECT_EQ(packet.route.hopLimit, 64);
}

TEST(PacketCodec, InvariantCrcMatchesWhatAnAdapterSent) {
  Bytes bytes = hexBytes(kCapturedNotification);
  const Bytes sent(bytes.end() - 4, bytes.end());
  bytes.resize(bytes.size() - 4);
  const std::uint32_t crc = invariantCrc(bytes, Encapsulation::kIpv4);
  EXPECT_EQ(sent, (Bytes{static_cast<std::uint8_t>(crc), static_cast<std::uint8_t>(crc >> 8),
                         static_cast<std::uint8_t>(crc >> 16), static_cast<std::uint8_t>(crc >> 24)}));
  kernel::PayloadPool pool;
  Packet packet;
  EXPECT_EQ(decode(hexBytes(kCapturedNotification), LinkLayer::kRoceV2, pool, packet),
            DecodeError::kUnsupportedService);
}

TEST(PacketCodec, CrcsHaveTheCheckValuesOfTheirPolynomials) {
  const Bytes digits = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  InvariantCrc invariant;
  invariant.add(digits);
  EXPECT_EQ(invariant.value(), 0xCBF43926U) << "CRC-32 of Ethernet";
  // The variant CRC bit by bit: each bit, least significant first, into a register that shifts towards bit 0.
  std::uint16_t state = 0xFFFF;
  for (const std::uint8_t digit : digits) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool feedback = ((state ^ (digit >> bit)) & 1) != 0;
      state = static_cast<std::uint16_t>((state >> 1) ^ (feedback ? 0xD008 : 0));
    }
  }
  VariantCrc variant;
  variant.add(digits);
  EXPECT_EQ(variant.value(), static_cast<std::uint16_t>(~state));
}

TEST(PacketCodec, WritesAnAcknowledgeWithAGlobalRoute) {
  Packet packet;
  packet.route.globalRoute = true;
  packet.route.virtualLane = 2;
  packet.route.serviceLevel = 3;
  packet.route.sourceLid = Lid(1);
  packet.route.destinationLid = Lid(2);
  packet.route.sourceGid = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0x4C, 0, 0, 0, 0, 1};
  packet.route.destinationGid = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0x4C, 0, 0, 0, 0, 2};
  packet.route.trafficClass = 0x5A;
  packet.route.flowLabel = 0xABCDE;
  packet.route.hopLimit = 63;
  packet.operation = Operation::kAcknowledge;
  packet.destinationQp = QpNumber(0x1234);
  packet.psn = 0xFFFFFE;
  packet.syndrome = 0x1F;
  packet.msn = 0x102;
  EXPECT_EQ(encoded(packet), hexBytes(kAcknowledge));
  EXPECT_EQ(wireBytes(packet), hexBytes(kAcknowledge).size());
}

TEST(PacketCodec, ReadsAnAcknowledgeWithAGlobalRoute) {
  kernel::PayloadPool pool;
  Packet packet;
  ASSERT_EQ(decode(hexBytes(kAcknowledge), LinkLayer::kInfiniBand, pool, packet), DecodeError::kNone);
  EXPECT_TRUE(packet.route.globalRoute);
  EXPECT_EQ(packet.route.trafficClass, 0x5A);
  EXPECT_EQ(packet.route.flowLabel, 0xABCDEU);
  EXPECT_EQ(packet.route.hopLimit, 63);
  EXPECT_EQ(packet.route.destinationGid[15], 2);
  EXPECT_EQ(packet.operation, Operation::kAcknowledge);
  EXPECT_EQ(packet.syndrome, 0x1F);
  EXPECT_EQ(packet.msn, 0x102U);
  EXPECT_EQ(packet.psn, 0xFFFFFEU);
  EXPECT_EQ(packet.payloadLength, 0U);
}

TEST(PacketCodec, WritesADatagramOverIpv6) {
  kernel::PayloadPool pool;
  Packet packet;
  packet.route.linkLayer = LinkLayer::kRoceV2;
  packet.route.sourceGid = {0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  packet.route.destinationGid = {0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  packet.route.sourceMac = {2, 0, 0, 0, 0, 1};
  packet.route.destinationMac = {2, 0, 0, 0, 0, 2};
  packet.route.flowLabel = 0x12345;
  packet.route.udpSourcePort = 0xC123;
  packet.service = Service::kUd;
  packet.operation = Operation::kSendOnlyImmediate;
  packet.solicited = true;
  packet.partitionKey = 0x8001;
  packet.destinationQp = QpNumber(0x2B);
  packet.psn = 7;
  packet.queueKey = 0x11111111;
  packet.sourceQp = QpNumber(0x2A);
  packet.immediate = 0xCAFE0001;
  packet.payloadLength = 5;
  packet.payload = pool.copyOf(Bytes{'h', 'e', 'l', 'l', 'o'});
  EXPECT_EQ(encoded(packet), hexBytes(kDatagram));
  EXPECT_EQ(wireBytes(packet), hexBytes(kDatagram).size() + 4 + 8 + 12) << "check sequence, preamble, gap";
}

TEST(PacketCodec, WritesAnAtomicOverIpv4) {
  Packet packet = ipv4Packet();
  packet.operation = Operation::kFetchAdd;
  packet.psn = 0x123456;
  packet.remoteAddress = 0x0102030405060708;
  packet.remoteKey = MemoryKey(0xA1B2C3D4);
  packet.swapOrAdd = 1;
  EXPECT_EQ(encoded(packet), hexBytes(kFetchAdd));
  EXPECT_EQ(wireBytes(packet), hexBytes(kFetchAdd).size() + 4 + 8 + 12);
}

TEST(PacketCodec, PadsToTheMinimumOfEthernet) {
  const Packet packet = ipv4Packet();
  EXPECT_EQ(encoded(packet), hexBytes(kEmptySend));
  EXPECT_EQ(wireBytes(packet), 60U + 4 + 8 + 12);
  Packet larger = ipv4Packet();
  larger.payloadLength = 4;
  EXPECT_EQ(encoded(larger).size(), 62U);
  EXPECT_EQ(wireBytes(larger), 62U + 4 + 8 + 12);
}

TEST(PacketCodec, ReadsWhatFollowsAsPadding) {
  kernel::PayloadPool pool;
  Packet packet;
  Bytes bytes = hexBytes(kEmptySend);
  bytes.insert(bytes.end(), {0xDE, 0xAD, 0xBE, 0xEF});  // a frame check sequence in a capture
  ASSERT_EQ(decode(bytes, LinkLayer::kRoceV2, pool, packet), DecodeError::kNone);
  EXPECT_EQ(packet.payloadLength, 0U);
}

TEST(PacketCodec, LeftOutPayloadGoesAsZeros) {
  Packet timing = ipv4Packet();
  timing.payloadLength = 7;
  kernel::PayloadPool pool;
  Packet zeros = ipv4Packet();
  zeros.payloadLength = 7;
  zeros.payload = pool.copyOf(Bytes(7, 0));
  EXPECT_EQ(encoded(timing), encoded(zeros));
}

TEST(PacketCodec, EveryOperationComesBack) {
  kernel::PayloadPool pool;
  unsigned known = 0;
  for (const Service service : {Service::kRc, Service::kUc, Service::kUd, Service::kXrc}) {
    for (unsigned code = 0; code < 32; ++code) {
      for (const LinkLayer layer : {LinkLayer::kInfiniBand, LinkLayer::kRoceV2}) {
        Packet packet = ipv4Packet();
        packet.route.linkLayer = layer;
        packet.service = service;
        packet.operation = static_cast<Operation>(code);
        packet.immediate = 0x01020304;
        packet.dmaLength = 0x1000;
        packet.atomicResult = 0x1122334455667788;
        packet.sourceQp = QpNumber(5);
        packet.sharedQueue = SrqNumber(0xABCDEF);
        Bytes bytes;
        if (!encode(packet, bytes)) {
          EXPECT_TRUE(bytes.empty());
          continue;
        }
        ++known;
        Packet back;
        ASSERT_EQ(decode(bytes, layer, pool, back), DecodeError::kNone) << code;
        EXPECT_EQ(back.service, service);
        EXPECT_EQ(back.operation, packet.operation);
        EXPECT_EQ(encoded(back), bytes) << code;
        EXPECT_EQ(back.dmaLength, carriesReth(packet.operation) ? 0x1000U : 0U);
        EXPECT_EQ(back.sourceQp, service == Service::kUd ? QpNumber(5) : QpNumber());
        const bool namesQueue = service == Service::kXrc && !(code >= 13 && code <= 18);  // a request
        EXPECT_EQ(back.sharedQueue, namesQueue ? SrqNumber(0xABCDEF) : SrqNumber());
        EXPECT_EQ(back.atomicResult, packet.operation == Operation::kAtomicAcknowledge ? packet.atomicResult : 0);
      }
    }
  }
  EXPECT_EQ(known, 2U * (23 + 12 + 2 + 23));
}

TEST(PacketCodec, RefusesServicesItHasNoHeadersFor) {
  Packet packet;
  packet.service = Service::kRd;
  Bytes bytes = {1, 2, 3};
  EXPECT_FALSE(encode(packet, bytes));
  EXPECT_TRUE(bytes.empty());
}

TEST(PacketCodec, MarksCorruptedPackets) {
  Packet packet = ipv4Packet();
  packet.corrupted = true;
  kernel::PayloadPool pool;
  Packet back;
  EXPECT_EQ(decode(encoded(packet), LinkLayer::kRoceV2, pool, back), DecodeError::kBadInvariantCrc);
  EXPECT_TRUE(back.corrupted);
  EXPECT_EQ(back.destinationQp, packet.destinationQp);
}

TEST(PacketCodec, XrcHeaderFollowsTheBaseTransportHeader) {
  Packet packet = ipv4Packet();
  packet.service = Service::kXrc;
  packet.operation = Operation::kSendOnlyImmediate;
  packet.sharedQueue = SrqNumber(0x010203);
  packet.immediate = 0x0A0B0C0D;
  const std::uint32_t length = wireBytes(packet);
  const Bytes bytes = encoded(packet);
  const Bytes expected = {0, 1, 2, 3, 0x0A, 0x0B, 0x0C, 0x0D};
  EXPECT_NE(std::search(bytes.begin(), bytes.end(), expected.begin(), expected.end()), bytes.end());
  packet.service = Service::kRc;
  EXPECT_EQ(wireBytes(packet) + 4, length);
}

TEST(DynamicPacket, NamesItsInitiatorBehindTheBaseHeader) {
  Packet packet;
  packet.service = Service::kDc;
  packet.operation = Operation::kConnect;
  packet.destinationQp = QpNumber(0x123456);
  packet.sourceQp = QpNumber(0x654321);
  packet.accessKey = 0x0102030405060708;
  packet.connection = 9;
  std::vector<std::uint8_t> bytes;
  ASSERT_TRUE(encode(packet, bytes));
  EXPECT_EQ(bytes.size(), wireBytes(packet));
  EXPECT_EQ(bytes[8], 0xD8) << "the manufacturer's range of codes";
  EXPECT_EQ(bytes[20], 1);
  EXPECT_EQ(bytes[27], 8);
  EXPECT_EQ(bytes[29], 0x65);
  EXPECT_EQ(bytes[35], 9);
  kernel::PayloadPool pool;
  Packet back;
  ASSERT_EQ(decode(bytes, LinkLayer::kInfiniBand, pool, back), DecodeError::kNone);
  EXPECT_EQ(back.operation, Operation::kConnect);
  EXPECT_EQ(back.sourceQp, packet.sourceQp);
  EXPECT_EQ(back.accessKey, packet.accessKey);
  EXPECT_EQ(back.connection, packet.connection);
}

TEST(DynamicPacket, AnswersNeedNoSuchHeader) {
  Packet packet;
  packet.service = Service::kDc;
  packet.operation = Operation::kAcknowledge;
  Packet reliable;
  reliable.operation = Operation::kAcknowledge;
  EXPECT_EQ(wireBytes(packet), wireBytes(reliable));
}

}  // namespace
}  // namespace hca::network
