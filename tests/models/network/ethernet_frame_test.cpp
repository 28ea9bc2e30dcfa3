// Headers and checksums of frames.
#include "models/network/ethernet_frame.h"

#include <gtest/gtest.h>

#include "tests/support/hex_bytes.h"

namespace hca::network {
namespace {

using test::hexBytes;

const char* const kAddresses = "02 00 00 00 00 02 02 00 00 00 00 01";
const char* const kTag = "81 00 60 05";
// UDP from 10.0.0.1:1 to 10.0.0.2:2 with 4 bytes; both checksums are right.
const char* const kIpv4Udp =
    "08 00 45 10 00 20 00 00 40 00 40 11 26 bb 0a 00 00 01 0a 00 00 02 00 01 00 02 00 0c 27 0a 61 62 63 64";
// The same over IPv6, with TCP: SYN and ACK, no data.
const char* const kIpv6Tcp =
    "86 dd 6a b1 23 45 00 14 06 40 20 01 0d b8 00 00 00 00 00 00 00 00 00 00 00 01 20 01 0d b8 00 00 00 00 00 00 00 00 "
    "00 00 00 02 12 34 00 50 00 00 00 01 00 00 00 00 50 12 10 00 00 00 00 00";

std::vector<std::uint8_t> bytesOf(const std::string& rest, bool tagged = false) {
  return hexBytes(std::string(kAddresses) + (tagged ? kTag : "") + rest);
}
EthernetFrame read(const std::vector<std::uint8_t>& bytes) { return readFrame({bytes.data(), bytes.size()}); }

TEST(EthernetFrame, TellsWhatRulesAndHashesLookAt) {
  const EthernetFrame frame = read(bytesOf(kIpv4Udp, true));
  EXPECT_EQ(frame.networkSource[12], 10);
  EXPECT_EQ(frame.networkDestination[15], 2);
  EXPECT_EQ(frame.protocol, 17);
  EXPECT_EQ(frame.trafficClass, 0x10);
  EXPECT_EQ(frame.hopLimit, 0x40);
  EXPECT_EQ(frame.sourcePort, 1);
  EXPECT_EQ(frame.destinationPort, 2);
  EXPECT_EQ(frame.tag, 0x6005);
  EXPECT_TRUE(frame.networkChecksumOk && frame.transportChecksumOk);
  const EthernetFrame other = read(bytesOf(kIpv6Tcp));
  EXPECT_EQ(other.trafficClass, 0xAB);
  EXPECT_EQ(other.flowLabel, 0x12345u);
  EXPECT_EQ(other.protocol, 6);
  EXPECT_EQ(other.networkSource[0], 0x20);
  EXPECT_EQ(other.sourcePort, 0x1234);
  EXPECT_EQ(other.tcpFlags, 0x12);
}

TEST(EthernetFrame, OneThatIsCutHasItsHeadersAndNoRightChecksum) {
  std::vector<std::uint8_t> bytes = bytesOf(kIpv4Udp);
  bytes.pop_back();
  const EthernetFrame frame = read(bytes);
  EXPECT_EQ(frame.network, EthernetFrame::Network::kIpv4);
  EXPECT_EQ(frame.destinationPort, 2);
  EXPECT_FALSE(frame.networkChecksumOk);
  EXPECT_FALSE(frame.transportChecksumOk);
  bytes = bytesOf(kIpv6Tcp);
  bytes[14 + 5] = 0x15;  // a payload of one byte more than there is
  EXPECT_EQ(read(bytes).sourcePort, 0x1234);
  EXPECT_FALSE(read(bytes).networkChecksumOk);
  bytes.resize(14 + 39);  // not even the header
  EXPECT_EQ(read(bytes).network, EthernetFrame::Network::kOther);
}

TEST(InsertChecksums, FillsWhatIsAskedFor) {
  for (const bool tagged : {false, true}) {
    const std::vector<std::uint8_t> right = bytesOf(kIpv4Udp, tagged);
    const std::size_t start = tagged ? 18 : 14;
    std::vector<std::uint8_t> bytes = right;
    bytes[start + 10] = bytes[start + 11] = 0x5A;  // what is there counts for nothing
    bytes[start + 26] = bytes[start + 27] = 0x5A;
    const std::vector<std::uint8_t> wrong = bytes;
    insertChecksums(bytes, true, false);
    EXPECT_TRUE(read(bytes).networkChecksumOk);
    EXPECT_FALSE(read(bytes).transportChecksumOk);
    insertChecksums(bytes, false, true);
    EXPECT_EQ(bytes, right);
    bytes = wrong;
    insertChecksums(bytes, false, false);
    EXPECT_EQ(bytes, wrong);
  }
}

TEST(InsertChecksums, KnowsIpv6AndTcp) {
  std::vector<std::uint8_t> bytes = bytesOf(kIpv6Tcp);
  EXPECT_FALSE(read(bytes).transportChecksumOk);
  insertChecksums(bytes, true, true);
  EXPECT_TRUE(read(bytes).transportChecksumOk);
}

TEST(InsertChecksums, UdpSaysNoZeroAndFragmentsHaveNoneOfTheSecondKind) {
  std::vector<std::uint8_t> bytes = bytesOf(kIpv4Udp);
  // Data that make the sum all ones: the checksum would be 0, which means that there is none.
  insertChecksums(bytes, false, true);
  const unsigned sum = unsigned{bytes[40]} << 8 | bytes[41];
  const unsigned first = (unsigned{bytes[42]} << 8 | bytes[43]) + sum;
  bytes[42] = static_cast<std::uint8_t>(((first & 0xFFFF) + (first >> 16)) >> 8);
  bytes[43] = static_cast<std::uint8_t>((first & 0xFFFF) + (first >> 16));
  insertChecksums(bytes, false, true);
  EXPECT_EQ(bytes[40], 0xFF);
  EXPECT_EQ(bytes[41], 0xFF);
  EXPECT_TRUE(read(bytes).transportChecksumOk);
  bytes = bytesOf(kIpv4Udp);
  bytes[14 + 7] = 1;  // an offset
  const auto before = bytes[40];
  insertChecksums(bytes, true, true);
  EXPECT_EQ(bytes[40], before);
  EXPECT_TRUE(read(bytes).networkChecksumOk);
}

}  // namespace
}  // namespace hca::network
