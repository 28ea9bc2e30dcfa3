// Bytes that are no packet, or not quite one.
#include <gtest/gtest.h>

#include <random>

#include "models/network/crc.h"
#include "models/network/packet_codec.h"
#include "tests/support/hex_bytes.h"

namespace hca::network {
namespace {

using Bytes = std::vector<std::uint8_t>;

Packet writePacket(LinkLayer layer, kernel::PayloadPool& pool) {
  Packet packet;
  packet.route.linkLayer = layer;
  packet.route.sourceGid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 1};
  packet.route.destinationGid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 2};
  packet.operation = Operation::kWriteOnly;
  packet.dmaLength = packet.payloadLength = 30;
  packet.payload = pool.copyOf(Bytes(30, 0x5A));
  return packet;
}

Bytes bytesOf(const Packet& packet) {
  Bytes bytes;
  EXPECT_TRUE(encode(packet, bytes));
  return bytes;
}

DecodeError decoded(const Bytes& bytes, LinkLayer layer) {
  kernel::PayloadPool pool;
  Packet packet;
  return decode(bytes, layer, pool, packet);
}

/// Puts the variant CRC right again after an edit, so that the check behind it is reached.
Bytes withVariantCrc(Bytes bytes) {
  VariantCrc crc;
  crc.add(ByteView(bytes).subview(0, bytes.size() - 2));
  bytes[bytes.size() - 2] = static_cast<std::uint8_t>(crc.value());
  bytes[bytes.size() - 1] = static_cast<std::uint8_t>(crc.value() >> 8);
  return bytes;
}

TEST(PacketDecode, NoticesEveryFlippedBitOfAnInfiniBandPacket) {
  kernel::PayloadPool pool;
  const Bytes good = bytesOf(writePacket(LinkLayer::kInfiniBand, pool));
  ASSERT_EQ(decoded(good, LinkLayer::kInfiniBand), DecodeError::kNone);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes bad = good;
    bad[bit / 8] = static_cast<std::uint8_t>(bad[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(decoded(bad, LinkLayer::kInfiniBand), DecodeError::kBadVariantCrc) << bit;
  }
}

TEST(PacketDecode, InvariantCrcLetsOnlyVariantBitsChange) {
  kernel::PayloadPool pool;
  const Bytes good = bytesOf(writePacket(LinkLayer::kInfiniBand, pool));
  for (std::size_t bit = 0; bit < (good.size() - 2) * 8; ++bit) {
    Bytes bad = good;
    bad[bit / 8] = static_cast<std::uint8_t>(bad[bit / 8] ^ (1 << (bit % 8)));
    const bool virtualLane = bit >= 4 && bit < 8;
    const bool congestion = bit / 8 == 8 + 4;
    const DecodeError error = decoded(withVariantCrc(bad), LinkLayer::kInfiniBand);
    EXPECT_EQ(error == DecodeError::kNone, virtualLane || congestion) << "bit " << bit << " " << name(error);
  }
}

TEST(PacketDecode, NoticesEveryFlippedInvariantBitOfARocePacket) {
  kernel::PayloadPool pool;
  const Bytes good = bytesOf(writePacket(LinkLayer::kRoceV2, pool));
  for (std::size_t bit = 14 * 8; bit < good.size() * 8; ++bit) {
    const std::size_t byte = bit / 8;
    Bytes bad = good;
    bad[byte] = static_cast<std::uint8_t>(bad[byte] ^ (1 << (bit % 8)));
    const bool variant = byte == 34 + 6 || byte == 34 + 7 || byte == 42 + 4;  // UDP checksum, congestion bits
    EXPECT_EQ(decoded(bad, LinkLayer::kRoceV2) == DecodeError::kNone, variant) << "byte " << byte;
  }
}

TEST(PacketDecode, SaysWhatIsWrong) {
  kernel::PayloadPool pool;
  const Bytes infiniBand = bytesOf(writePacket(LinkLayer::kInfiniBand, pool));
  const auto edited = [&](std::size_t offset, std::uint8_t value) {
    Bytes bytes = infiniBand;
    bytes[offset] = value;
    return decoded(withVariantCrc(bytes), LinkLayer::kInfiniBand);
  };
  EXPECT_EQ(edited(0, 0x01), DecodeError::kBadVersion) << "link version";
  EXPECT_EQ(edited(1, 0x00), DecodeError::kNotTransport) << "raw packet";
  EXPECT_EQ(edited(1, 0x03), DecodeError::kBadVersion) << "a global route header that is none";
  EXPECT_EQ(edited(5, 0x01), DecodeError::kLengthMismatch);
  EXPECT_EQ(edited(8, 0x15), DecodeError::kUnknownOperation) << "RESYNC of a reliable connection";
  EXPECT_EQ(edited(8, 0x2C), DecodeError::kUnknownOperation) << "READ of an unreliable connection";
  EXPECT_EQ(edited(8, 0x61), DecodeError::kUnknownOperation) << "fragment of a datagram";
  EXPECT_EQ(edited(8, 0x44), DecodeError::kUnsupportedService) << "reliable datagram";
  EXPECT_EQ(edited(8, 0x0C), DecodeError::kUnexpectedPayload) << "READ request with payload";
  EXPECT_EQ(edited(9, 0x61), DecodeError::kBadVersion) << "transport version";
  EXPECT_EQ(edited(20, 0xFF), DecodeError::kBadInvariantCrc);
}

TEST(PacketDecode, ChecksThePadding) {
  Packet acknowledge;
  acknowledge.operation = Operation::kAcknowledge;
  Bytes bytes = bytesOf(acknowledge);
  bytes[9] = static_cast<std::uint8_t>(bytes[9] | 0x30);
  EXPECT_EQ(decoded(withVariantCrc(bytes), LinkLayer::kInfiniBand), DecodeError::kBadPadding) << "more than there is";

  kernel::PayloadPool pool;
  Bytes roce = bytesOf(writePacket(LinkLayer::kRoceV2, pool));
  roce[17] = static_cast<std::uint8_t>(roce[17] - 1);  // one byte less, in both length fields
  roce[25] = static_cast<std::uint8_t>(roce[25] + 1);
  roce[39] = static_cast<std::uint8_t>(roce[39] - 1);
  EXPECT_EQ(decoded(roce, LinkLayer::kRoceV2), DecodeError::kBadPadding) << "no multiple of four";
}

TEST(PacketDecode, ChecksTheIpHeader) {
  kernel::PayloadPool pool;
  const Bytes roce = bytesOf(writePacket(LinkLayer::kRoceV2, pool));
  const auto edited = [&](std::size_t offset, std::uint8_t value) {
    Bytes bytes = roce;
    bytes[offset] = value;
    return decoded(bytes, LinkLayer::kRoceV2);
  };
  EXPECT_EQ(edited(13, 0x06), DecodeError::kNotTransport) << "ARP";
  EXPECT_EQ(edited(14, 0x46), DecodeError::kBadVersion) << "options";
  EXPECT_EQ(edited(24, 0x00), DecodeError::kBadHeaderChecksum);
  EXPECT_EQ(edited(36, 0x13), DecodeError::kNotTransport) << "another port";
  EXPECT_EQ(edited(39, 0x00), DecodeError::kLengthMismatch) << "UDP length";
}

TEST(PacketDecode, EveryPrefixIsRefused) {
  kernel::PayloadPool pool;
  for (const LinkLayer layer : {LinkLayer::kInfiniBand, LinkLayer::kRoceV2}) {
    const Bytes good = bytesOf(writePacket(layer, pool));
    for (std::size_t length = 0; length < good.size(); ++length) {
      EXPECT_NE(decoded(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)), layer),
                DecodeError::kNone)
          << length;
    }
  }
}

TEST(PacketDecode, TakesAPayloadOfTheLargestMtuAndNoMore) {
  kernel::PayloadPool pool;
  Packet packet = writePacket(LinkLayer::kInfiniBand, pool);
  packet.payload = {};
  packet.payloadLength = 4096;
  EXPECT_EQ(decoded(bytesOf(packet), LinkLayer::kInfiniBand), DecodeError::kNone);
  packet.payloadLength = 4097;
  EXPECT_EQ(decoded(bytesOf(packet), LinkLayer::kInfiniBand), DecodeError::kLengthMismatch);
}

TEST(PacketDecode, RandomBytesDoNoHarm) {
  std::mt19937 random(20240501);  // NOLINT: repeatable on purpose
  kernel::PayloadPool pool;
  Packet packet;
  for (int round = 0; round < 50'000; ++round) {
    Bytes bytes(random() % 160);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    EXPECT_NE(decode(bytes, LinkLayer::kRoceV2, pool, packet), DecodeError::kNone);
    // Past the link's CRC, so that random headers are looked at.
    if (bytes.size() >= 2) bytes = withVariantCrc(bytes);
    EXPECT_NE(decode(bytes, LinkLayer::kInfiniBand, pool, packet), DecodeError::kNone);
  }
}

TEST(PacketDecode, MutatedPacketsDoNoHarm) {
  std::mt19937 random(7);  // NOLINT: repeatable on purpose
  kernel::PayloadPool pool;
  Packet packet;
  for (int round = 0; round < 50'000; ++round) {
    const LinkLayer layer = round % 2 == 0 ? LinkLayer::kInfiniBand : LinkLayer::kRoceV2;
    Packet original = writePacket(layer, pool);
    original.route.globalRoute = random() % 2 == 0;
    original.route.destinationGid[0] = random() % 2 == 0 ? 0 : 0xFE;
    original.operation = static_cast<Operation>(random() % 32);
    Bytes bytes;
    if (!encode(original, bytes)) continue;
    for (int edits = 0; edits < 3; ++edits) bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 8));
    if (layer == LinkLayer::kInfiniBand && bytes.size() >= 2) bytes = withVariantCrc(bytes);
    if (decode(bytes, layer, pool, packet) == DecodeError::kNone) {
      EXPECT_EQ(packet.payload.size(), packet.payloadLength);
      EXPECT_LE(packet.payloadLength, bytes.size());
    }
  }
}

TEST(PacketDecode, NamesEveryError) {
  for (unsigned error = 0; error <= static_cast<unsigned>(DecodeError::kBadInvariantCrc); ++error) {
    EXPECT_STRNE(name(static_cast<DecodeError>(error)), "unknown");
  }
  EXPECT_STREQ(name(static_cast<DecodeError>(200)), "unknown");
}

}  // namespace
}  // namespace hca::network
