// Receive side scaling: the vectors of Microsoft's "Verifying the RSS hash calculation".
#include "models/adapter/transport/receive_hash.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/hex_bytes.h"

namespace hca::adapter {
namespace {

using hca::test::hexBytes;
using network::EthernetFrame;

ReceiveHash suite(bool ipv6, bool withPorts) {
  const std::vector<std::uint8_t> key = hexBytes(
      "6d 5a 56 da 25 5b 0e c2 41 67 25 3d 43 a3 8f b0 d0 ca 2b cb ae 7b 30 b4 77 cb 2d a3 80 30 f2 0c 6a 42 b7 3b be "
      "ac "
      "01 fa");
  ReceiveHash hash;
  hash.function = ReceiveHash::Function::kToeplitz;
  hash.ipv6 = ipv6;
  hash.fields = ReceiveHash::kAddresses | (withPorts ? ReceiveHash::kPorts : 0);
  std::copy(key.begin(), key.end(), hash.key.begin());
  return hash;
}

EthernetFrame tcp(const std::string& source, std::uint16_t sourcePort, const std::string& destination,
                  std::uint16_t destinationPort) {
  const std::vector<std::uint8_t> from = hexBytes(source), to = hexBytes(destination);
  EthernetFrame frame;
  frame.network = from.size() == 4 ? EthernetFrame::Network::kIpv4 : EthernetFrame::Network::kIpv6;
  frame.transport = EthernetFrame::Transport::kTcp;
  std::copy(from.rbegin(), from.rend(), frame.networkSource.rbegin());
  std::copy(to.rbegin(), to.rend(), frame.networkDestination.rbegin());
  frame.sourcePort = sourcePort;
  frame.destinationPort = destinationPort;
  return frame;
}

struct Vector {
  EthernetFrame frame;
  std::uint32_t addresses, all;
};

TEST(ReceiveHash, Ipv4VectorsOfTheVerificationSuite) {
  const Vector vectors[] = {
      {tcp("42 09 95 bb", 2794, "a1 8e 64 50", 1766), 0x323e8fc2, 0x51ccc178},
      {tcp("c7 5c 6f 02", 14230, "41 45 8c 53", 4739), 0xd718262a, 0xc626b0ea},
      {tcp("18 13 c6 5f", 12898, "0c 16 cf b8", 38024), 0xd2d0a5de, 0x5c2b394a},
      {tcp("26 1b cd 1e", 48228, "d1 8e a3 06", 2217), 0x82989176, 0xafc7327f},
      {tcp("99 27 a3 bf", 44251, "ca bc 7f 02", 1303), 0x5d1809c5, 0x10e828a2},
  };
  for (const Vector& each : vectors) {
    EXPECT_EQ(suite(false, false).of(each.frame).value, each.addresses);
    EXPECT_EQ(suite(false, true).of(each.frame).value, each.all);
  }
}

TEST(ReceiveHash, Ipv6VectorsOfTheVerificationSuite) {
  const Vector vectors[] = {
      {tcp("3f fe 25 01 02 00 1f ff 00 00 00 00 00 00 00 07", 2794, "3f fe 25 01 02 00 00 03 00 00 00 00 00 00 00 01",
           1766),
       0x2cc18cd5, 0x40207d3d},
      {tcp("3f fe 05 01 00 08 00 00 02 60 97 ff fe 40 ef ab", 14230, "ff 02 00 00 00 00 00 00 00 00 00 00 00 00 00 01",
           4739),
       0x0f0c461c, 0xdde51bbf},
      {tcp("3f fe 19 00 45 45 00 03 02 00 f8 ff fe 21 67 cf", 44251, "fe 80 00 00 00 00 00 00 02 00 f8 ff fe 21 67 cf",
           38024),
       0x4b61e985, 0x02d1feef},
  };
  for (const Vector& each : vectors) {
    EXPECT_EQ(suite(true, false).of(each.frame).value, each.addresses);
    EXPECT_EQ(suite(true, true).of(each.frame).value, each.all);
  }
}

TEST(ReceiveHash, TypeSaysWhatWasHashed) {
  const EthernetFrame frame = tcp("42 09 95 bb", 2794, "a1 8e 64 50", 1766);
  EXPECT_EQ(suite(false, false).of(frame).type, 0x04);
  EXPECT_EQ(suite(false, true).of(frame).type, 0x44);
  ReceiveHash udp = suite(false, true);
  udp.udp = true;
  EXPECT_EQ(udp.of(frame).type, 0) << "TCP";
  EXPECT_EQ(udp.of(frame).value, 0u);
  EXPECT_EQ(suite(true, false).of(frame).type, 0) << "IPv4";
  EXPECT_EQ(ReceiveHash().of(frame).type, 0);
}

TEST(ReceiveHash, SymmetricIsTheSameBothWays) {
  const EthernetFrame there = tcp("42 09 95 bb", 2794, "a1 8e 64 50", 1766);
  const EthernetFrame back = tcp("a1 8e 64 50", 1766, "42 09 95 bb", 2794);
  ReceiveHash hash = suite(false, true);
  EXPECT_NE(hash.of(there).value, hash.of(back).value);
  hash.symmetric = true;
  EXPECT_EQ(hash.of(there).value, hash.of(back).value);
  EXPECT_NE(hash.of(there).value, hash.of(tcp("42 09 95 bb", 2795, "a1 8e 64 50", 1766)).value);
  hash.fields = ReceiveHash::kSource;  // one end alone has nothing to be mixed with
  EXPECT_NE(hash.of(there).value, hash.of(back).value);
}

TEST(ReceiveHash, InvertedXorIsAByte) {
  ReceiveHash hash = suite(false, false);
  hash.function = ReceiveHash::Function::kInvertedXor;
  const EthernetFrame frame = tcp("01 02 04 08", 0, "10 20 40 80", 0);
  EXPECT_EQ(hash.of(frame).value, 0u);
  EXPECT_EQ(hash.of(tcp("01 02 04 08", 0, "10 20 40 00", 0)).value, 0x80u);
}

}  // namespace
}  // namespace hca::adapter
