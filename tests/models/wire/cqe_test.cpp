#include "models/wire/cqe.h"

#include <gtest/gtest.h>

#include "models/base/byte_view.h"
#include "models/wire/describe.h"
#include "models/wire/wqe.h"
#include "tests/support/hex_bytes.h"

namespace hca::wire {
namespace {

using test::hexBytes;

// Receive of an immediate on queue pair 0x00004b with user index 0x112233, from QP 0x0000d4, SLID 3, SL 2, GRH in the
// buffer, 4096 bytes, solicited, third pass of an odd ring (owner 1).
const char* const kReceive =
    "00 00 00 07 00 00 00 00 00 00 00 00 01 02 03 04 05 81 00 00 be ef 00 03 12 00 00 d4 07 30 01 23"
    "00 11 22 33 ca fe ba be 00 00 00 00 00 00 10 00 01 02 03 04 05 06 07 08 00 00 00 4b ab cd 5a 33";

TEST(Cqe, ReadsAHandAssembledReceive) {
  const auto cqe = structFrom<Cqe>(hexBytes(kReceive));
  EXPECT_EQ(cqe.wqeId.host(), 7);
  EXPECT_EQ(cqe.rssHash.host(), 0x01020304U);
  EXPECT_EQ(cqe.rssHashType, 5);
  EXPECT_EQ(cqe.pathBits & 0x7F, 1);
  EXPECT_EQ(cqe.checksum.host(), 0xBEEF);
  EXPECT_EQ(cqe.sourceLid.host(), 3);
  EXPECT_EQ(Cqe::RemoteQp::get(cqe.flagsRemoteQp), 0xD4U);
  EXPECT_EQ(Cqe::ServiceLevel::get(cqe.flagsRemoteQp), 2U);
  EXPECT_TRUE(Cqe::GrhInBuffer::get(cqe.flagsRemoteQp));
  EXPECT_FALSE(Cqe::GrhInEntry::get(cqe.flagsRemoteQp));
  EXPECT_EQ(cqe.headerFlags, 7);
  EXPECT_EQ(cqe.headerTypes, 0x30);
  EXPECT_EQ(cqe.vlan.host(), 0x123);
  EXPECT_EQ(Cqe::UserIndex::get(cqe.userIndex), 0x112233U);
  EXPECT_EQ(cqe.immediate.host(), 0xCAFEBABEU);
  EXPECT_EQ(cqe.byteCount.host(), 4096U);
  EXPECT_EQ(cqe.timestamp.host(), 0x0102030405060708U);
  EXPECT_EQ(Cqe::LocalQp::get(cqe.opcodeQp), 0x4BU);
  EXPECT_EQ(cqe.wqeCounter.host(), 0xABCD);
  EXPECT_EQ(cqe.signature, 0x5A);
  EXPECT_EQ(OpOwn::Opcode::get(cqe.opOwn), CqeOpcode::kResponderSendImmediate);
  EXPECT_EQ(OpOwn::Format::get(cqe.opOwn), CqeFormat::kPlain);
  EXPECT_TRUE(OpOwn::Solicited::get(cqe.opOwn));
  EXPECT_TRUE(OpOwn::Owner::get(cqe.opOwn));
}

TEST(Cqe, WritesAHandAssembledSend) {
  Cqe cqe;
  cqe.timestamp = Be64(0x10);
  cqe.userIndex = Be32(0x000A0B);
  cqe.byteCount = Be32(0);
  Cqe::SendOpcode::set(cqe.opcodeQp, static_cast<std::uint32_t>(SendOpcode::kWrite));
  Cqe::LocalQp::set(cqe.opcodeQp, 0x1234);
  cqe.wqeCounter = Be16(0x0304);
  cqe.opOwn = 0;
  OpOwn::Owner::set(cqe.opOwn, true);
  const std::vector<std::uint8_t> expected = hexBytes(
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
      "00 00 0a 0b 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 10 08 00 12 34 03 04 00 01");
  const ByteView view = bytesOf(cqe);
  EXPECT_EQ(std::vector<std::uint8_t>(view.begin(), view.end()), expected);
}

TEST(ErrorCqe, ReadsAHandAssembledEntry) {
  const auto error = structFrom<ErrorCqe>(
      hexBytes("00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
               "00 00 00 21 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 02 81 15 0a 00 00 99 00 07 00 d0"));
  EXPECT_EQ(error.userIndex.host(), 0x21U);
  EXPECT_EQ(error.hardwareSyndrome, 1);
  EXPECT_EQ(error.hardwareSyndromeType, 2);
  EXPECT_EQ(error.vendorSyndrome, 0x81);
  EXPECT_EQ(static_cast<CqeSyndrome>(error.syndrome), CqeSyndrome::kTransportRetryExceeded);
  EXPECT_EQ(Cqe::SendOpcode::get(error.opcodeQp), static_cast<std::uint32_t>(SendOpcode::kSend));
  EXPECT_EQ(Cqe::LocalQp::get(error.opcodeQp), 0x99U);
  EXPECT_EQ(error.wqeCounter.host(), 7);
  EXPECT_EQ(OpOwn::Opcode::get(error.opOwn), CqeOpcode::kRequesterError);
}

TEST(MiniCqe, ReadsHandAssembledEntries) {
  const auto responder = structFrom<MiniCqe>(hexBytes("be ef 00 07 00 00 05 dc"));
  EXPECT_EQ(responder.high.host(), 0xBEEF);
  EXPECT_EQ(responder.low.host(), 7);
  EXPECT_EQ(responder.byteCount.host(), 1500U);
  const auto requester = structFrom<RequesterMiniCqe>(hexBytes("12 34 08 00 00 00 00 40"));
  EXPECT_EQ(requester.wqeCounter.host(), 0x1234);
  EXPECT_EQ(requester.sendOpcode, static_cast<std::uint8_t>(SendOpcode::kWrite));
}

TEST(Ownership, FollowsThePassThroughTheRing) {
  constexpr unsigned kLogSize = 3;
  EXPECT_FALSE(ownerBit(0, kLogSize));
  EXPECT_FALSE(ownerBit(7, kLogSize));
  EXPECT_TRUE(ownerBit(8, kLogSize));
  EXPECT_TRUE(ownerBit(15, kLogSize));
  EXPECT_FALSE(ownerBit(16, kLogSize));
}

TEST(Ownership, SurvivesTheWrapOfThe24BitIndex) {
  constexpr unsigned kLogSize = 4;
  EXPECT_TRUE(ownerBit(kCqIndexMask, kLogSize));
  EXPECT_FALSE(ownerBit((kCqIndexMask + 1) & kCqIndexMask, kLogSize));
}

TEST(Ownership, LargestRingFlipsOnlyAtTheWrap) {
  constexpr unsigned kLogSize = 23;
  EXPECT_FALSE(ownerBit(0x7FFFFF, kLogSize));
  EXPECT_TRUE(ownerBit(0x800000, kLogSize));
}

TEST(Ownership, FreshRingsBelongToTheAdapter) {
  EXPECT_FALSE(isSoftwareOwned(OpOwn::kInitial, 0, 4)) << "owner matches the first pass, the opcode says invalid";
  EXPECT_TRUE(isSoftwareOwned(0x00, 0, 4));
  EXPECT_FALSE(isSoftwareOwned(0x00, 16, 4)) << "left over from the first pass";
  EXPECT_TRUE(isSoftwareOwned(0x01, 16, 4));
}

TEST(DescribeCqe, NamesWhatMatters) {
  EXPECT_EQ(describe(structFrom<Cqe>(hexBytes(kReceive))),
            "responder SEND_IMM qp 0x4b counter 43981 bytes 4096 format plain solicited owner 1");
  ErrorCqe error;
  error.syndrome = 0x05;
  error.vendorSyndrome = 0xF9;
  error.opcodeQp = Be32(0x12);
  error.wqeCounter = Be16(3);
  error.opOwn = 0xE0;
  EXPECT_EQ(describe(structFrom<Cqe>(bytesOf(error))),
            "responder error qp 0x12 counter 3 syndrome 0x05 (work request flushed) vendor 0xf9 owner 0");
  EXPECT_EQ(describe(Cqe{}), "invalid owner 0");
}

TEST(DescribeCqe, TakesAnyBytes) {
  for (unsigned opOwn = 0; opOwn < 256; ++opOwn) {
    Cqe cqe;
    cqe.opcodeQp = Be32(0xFF000000);
    cqe.opOwn = static_cast<std::uint8_t>(opOwn);
    EXPECT_FALSE(describe(cqe).empty());
  }
}

}  // namespace
}  // namespace hca::wire
