#include "models/adapter/completion/cqe_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace hca::adapter {
namespace {

using Bytes64 = std::vector<std::uint8_t>;

/// What the entry before may have left in the image.
wire::WideCqe dirty() {
  wire::WideCqe wide;
  std::memset(static_cast<void*>(&wide), 0xEE, sizeof wide);
  return wide;
}

Bytes64 imageOf(const CqeBuilder& builder, const CompletionRecord& record, std::uint64_t index = 0,
                std::uint64_t timestamp = 0) {
  CqeImage image;
  image.wide = dirty();
  builder.build(record, index, timestamp, image);
  return {image.view().begin(), image.view().end()};
}

CompletionRecord receive() {
  CompletionRecord record;
  record.qp = QpNumber(0x012345);
  record.userIndex = 0xABCDEF;
  record.opcode = CqeOpcode::kResponderSendImmediate;
  record.wqeCounter = 0x1122;
  record.byteCount = 0x01020304;
  record.immediateOrKey = 0xCAFEF00D;
  record.remoteQp = QpNumber(0x543210);
  record.sourceLid = 0x0708;
  record.serviceLevel = 9;
  record.pathBits = 0x55;
  record.checksum = 0x6677;
  record.globalRouteInBuffer = true;
  record.solicited = true;
  return record;
}

// clang-format off
TEST(CqeBuilder, ResponderBytes) {
  const Bytes64 expected = {
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x55, 0x00, 0x00, 0x66, 0x77, 0x07, 0x08, 0x19, 0x54, 0x32, 0x10, 0x00, 0x00, 0x00, 0x00,
      0x00, 0xAB, 0xCD, 0xEF, 0xCA, 0xFE, 0xF0, 0x0D, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x03, 0x04,
      0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x00, 0x01, 0x23, 0x45, 0x11, 0x22, 0x00, 0x32};
  EXPECT_EQ(imageOf({CqeStride::k64, 4}, receive(), 0, 0x1122334455667788), expected);
}

TEST(CqeBuilder, RequesterBytes) {
  CompletionRecord record;
  record.qp = QpNumber(0x000041);
  record.userIndex = 0x000007;
  record.sendOpcode = 0x08;  // RDMA write
  record.wqeCounter = 0xFFFE;
  const Bytes64 expected = {
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x41, 0xFF, 0xFE, 0x00, 0x01};
  EXPECT_EQ(imageOf({CqeStride::k64, 4}, record, 16, 1), expected) << "second pass: owner bit 1";
}

TEST(CqeBuilder, ErrorBytes) {
  CompletionRecord record;
  record.qp = QpNumber(0x000361B3);
  record.userIndex = 0x13;
  record.opcode = CqeOpcode::kRequesterError;
  record.sendOpcode = 0x08;
  record.syndrome = CqeSyndrome::kRemoteAccess;
  record.vendorError = 0x88;
  record.wqeCounter = 0x1EA1;
  // As a ConnectX prints a remote access error (Linux RDMA mailing list, 27 December 2021), without its signature.
  const Bytes64 expected = {
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x13, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x88, 0x13, 0x08, 0x03, 0x61, 0xB3, 0x1E, 0xA1, 0x00, 0xD3};
  EXPECT_EQ(imageOf({CqeStride::k64, 4}, record, 31, 99), expected);
}

TEST(CqeBuilder, PoisonFillsWhatAnErrorLeavesUndefinedAndNothingElse) {
  CompletionRecord record;
  record.qp = QpNumber(0x000361B3);
  record.userIndex = 0x13;
  record.opcode = CqeOpcode::kResponderError;
  record.syndrome = CqeSyndrome::kLocalLength;
  record.vendorError = 0x52;
  record.wqeCounter = 0x1EA1;
  const Bytes64 expected = {
      0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5,
      0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5,
      0x00, 0x00, 0x00, 0x13, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5,
      0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0x52, 0x01, 0x00, 0x03, 0x61, 0xB3, 0x1E, 0xA1, 0xA5, 0xE3};
  EXPECT_EQ(imageOf({CqeStride::k64, 4, false, true}, record, 31, 99), expected);
  record.opcode = CqeOpcode::kRequester;
  EXPECT_EQ(imageOf({CqeStride::k64, 4, false, true}, record, 31, 99), imageOf({CqeStride::k64, 4}, record, 31, 99));
}
// clang-format on

TEST(CqeBuilder, PoisonSparesTheValidityByteAndFillsTheFirstHalfOfAPaddedEntry) {
  CompletionRecord record;
  record.opcode = CqeOpcode::kRequesterError;
  EXPECT_EQ(imageOf({CqeStride::k64, 4, true, true}, record, 16 * 7)[0x3E], 7);
  const Bytes64 padded = imageOf({CqeStride::k128Padded, 4, false, true}, record);
  ASSERT_EQ(padded.size(), 128u);
  EXPECT_EQ(padded[0], 0xA5);
  EXPECT_EQ(padded[63], 0xA5);
}

TEST(CqeBuilder, OwnerBitFlipsWithEachPass) {
  const CqeBuilder builder(CqeStride::k64, 3);
  for (const std::uint64_t index : {0, 1, 7}) EXPECT_EQ(imageOf(builder, {}, index)[63] & 1, 0);
  for (const std::uint64_t index : {8, 15}) EXPECT_EQ(imageOf(builder, {}, index)[63] & 1, 1);
  EXPECT_EQ(imageOf(builder, {}, 16)[63] & 1, 0);
  EXPECT_EQ(imageOf(builder, {}, (1u << 24) - 1)[63] & 1, 1);
  EXPECT_EQ(imageOf(builder, {}, 1u << 24)[63] & 1, 0);
}

TEST(CqeBuilder, TimestampHas63Bits) { EXPECT_EQ(imageOf({CqeStride::k64, 3}, {}, 0, UINT64_MAX)[0x30], 0x7F); }

TEST(CqeBuilder, WideEntryHasTheCqeInItsSecondHalf) {
  CqeImage image;
  CqeBuilder(CqeStride::k128, 3).build(receive(), 0, 5, image);
  EXPECT_EQ(image.offset, 64u);
  EXPECT_EQ(image.length, 64u) << "nothing for the first half: it isn't written";
  const Bytes64 wide(image.view().begin(), image.view().end());
  EXPECT_EQ(wide, imageOf({CqeStride::k64, 3}, receive(), 0, 5));
}

TEST(CqeBuilder, ShortEntryIsTheEndOfTheCqe) {
  CqeImage image;
  CqeBuilder(CqeStride::k32, 3).build(receive(), 0, 5, image);
  EXPECT_EQ(image.offset, 0u);
  ASSERT_EQ(image.length, 32u);
  const Bytes64 whole = imageOf({CqeStride::k64, 3}, receive(), 0, 5);
  EXPECT_TRUE(std::equal(image.view().begin(), image.view().end(), whole.begin() + 32));
}

TEST(CqeBuilder, PaddedEntryIsWrittenWhole) {
  CqeImage image;
  image.wide = dirty();
  CqeBuilder(CqeStride::k128Padded, 3).build(receive(), 0, 5, image);
  EXPECT_EQ(image.offset, 0u);
  ASSERT_EQ(image.length, 128u);
  const ByteView bytes = image.view();
  EXPECT_TRUE(std::all_of(bytes.begin(), bytes.begin() + 64, [](std::uint8_t b) { return b == 0; }));
  const Bytes64 proper(bytes.begin() + 64, bytes.end());
  EXPECT_EQ(proper, imageOf({CqeStride::k64, 3}, receive(), 0, 5));
}

TEST(CqeBuilder, InlineDataOf32BytesReplacesTheFrontOfTheCqe) {
  CompletionRecord record = receive();
  record.inlineLength = 32;
  for (std::uint8_t i = 0; i < 32; ++i) record.inlineData[i] = static_cast<std::uint8_t>(0x80 + i);
  for (const CqeStride stride : {CqeStride::k64, CqeStride::k128}) {
    const Bytes64 bytes = imageOf({stride, 3}, record);
    ASSERT_EQ(bytes.size(), 64u);
    for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(bytes[i], 0x80 + i);
    EXPECT_EQ(bytes[0x21], 0xAB) << "the rest stays";
    EXPECT_EQ(bytes[63] >> 2 & 3, 1);
  }
}

TEST(CqeBuilder, InlineDataOf33BytesGoesIntoTheFirstHalf) {
  CompletionRecord record = receive();
  record.inlineLength = 33;
  record.inlineData.fill(0x77);
  const Bytes64 bytes = imageOf({CqeStride::k128, 3}, record);
  ASSERT_EQ(bytes.size(), 128u);
  EXPECT_EQ(bytes[32], 0x77);
  EXPECT_EQ(bytes[33], 0x00) << "no stale bytes behind the data";
  EXPECT_EQ(bytes[64 + 0x11], 0x55) << "the CQE proper is whole";
  EXPECT_EQ(bytes[127] >> 2 & 3, 2);
}

TEST(CqeBuilder, RawPacketHasTagVlanAndChecksumsWhereReadersLook) {
  CompletionRecord record;
  record.qp = QpNumber(0x123);
  record.opcode = CqeOpcode::kResponderSend;
  record.checksum = 0xBEEF;
  record.frame = FrameDescription{0xABCDEF, 0x6005, true, true, true, 2, 2};
  CqeImage image;
  CqeBuilder(CqeStride::k64, 4).build(record, 0, 0, image);
  const ByteView bytes = image.view();
  EXPECT_EQ(bytes[0x14], 0xBE);
  EXPECT_EQ(bytes[0x1C], 7) << "L2, L3 and L4 are right";
  EXPECT_EQ(bytes[0x1D], 0x29) << "UDP, IPv4, a tag";
  EXPECT_EQ(bytes[0x1E], 0x60);
  EXPECT_EQ(bytes[0x1F], 0x05);
  EXPECT_EQ(bytes[0x39], 0xAB) << "the flow tag stands where the queue pair number does otherwise";
  EXPECT_EQ(bytes[0x3B], 0xEF);
}

TEST(CqeBuilder, TagMatchingHasItsHeaderInFrontAndWhatBecameOfTheTag) {
  CompletionRecord record;
  record.opcode = CqeOpcode::kResponderSend;
  record.serviceLevel = 3;
  record.tag.emplace();
  record.tag->operation = wire::TagCompletion::kConsumedMessage;
  record.tag->place = 0x0102;
  const std::vector<std::uint8_t> header{3, 0, 0, 0, 0xAA, 0xBB, 0xCC, 0xDD, 1, 2, 3, 4, 5, 6, 7, 8};
  record.tag->setFront(header);
  CqeImage image;
  CqeBuilder(CqeStride::k64, 4).build(record, 0, 0, image);
  const ByteView bytes = image.view();
  EXPECT_TRUE(std::equal(header.begin(), header.end(), bytes.begin()));
  EXPECT_EQ(bytes[0x18], 3) << "behind the header as ever";
  EXPECT_EQ(bytes[0x28], 1);
  EXPECT_EQ(bytes[0x29], 0x0A);
  EXPECT_EQ(bytes[0x2A], 1);
  EXPECT_EQ(bytes[0x2B], 2);
}

TEST(CqeBuilder, StridingQueueTellsEntryStridesAndFillers) {
  CompletionRecord record;
  record.opcode = CqeOpcode::kResponderSend;
  record.byteCount = 1500;
  record.strides = 24;
  record.wqeId = 0x0102;
  record.wqeCounter = 0x0304;
  CqeImage image;
  CqeBuilder(CqeStride::k64, 4).build(record, 0, 0, image);
  const auto built = [&image] { return structFrom<wire::Cqe>(image.view()); };
  EXPECT_EQ(built().byteCount.host(), 0x001805DCU);
  EXPECT_EQ(built().wqeId.host(), 0x0102);
  EXPECT_EQ(built().wqeCounter.host(), 0x0304);
  record.byteCount = 0;
  record.isFiller = true;
  CqeBuilder(CqeStride::k64, 4).build(record, 0, 0, image);
  EXPECT_EQ(built().byteCount.host(), 0x80180000U);
}

TEST(CqeBuilder, SolicitedIsAReceiveWithTheBitOrAnyError) {
  CompletionRecord record;
  record.solicited = true;
  EXPECT_FALSE(CqeBuilder::isSolicited(record)) << "good sends never";
  for (const CqeOpcode opcode : {CqeOpcode::kResponderWriteImmediate, CqeOpcode::kResponderSend,
                                 CqeOpcode::kResponderSendImmediate, CqeOpcode::kResponderSendInvalidate}) {
    record.opcode = opcode;
    record.solicited = true;
    EXPECT_TRUE(CqeBuilder::isSolicited(record));
    record.solicited = false;
    EXPECT_FALSE(CqeBuilder::isSolicited(record));
  }
  for (const CqeOpcode opcode : {CqeOpcode::kRequesterError, CqeOpcode::kResponderError}) {
    record.opcode = opcode;
    EXPECT_TRUE(CqeBuilder::isSolicited(record));
  }
}

}  // namespace
}  // namespace hca::adapter
