#include "models/wire/wqe.h"

#include <gtest/gtest.h>

#include "models/base/byte_view.h"
#include "tests/support/hex_bytes.h"

namespace hca::wire {
namespace {

using test::hexBytes;

// As a driver posts it: RDMA WRITE with immediate 0xcafe0102 at block 0x0123 of QP 0x000456, signaled, solicited,
// fenced; four segments; remote 0x7f0012345678 with key 0x1800ff; one piece of 64 bytes.
const char* const kWrite =
    "00 01 23 09 00 04 56 04 00 00 00 8a ca fe 01 02"
    "00 00 7f 00 12 34 56 78 00 18 00 ff 00 00 00 00"
    "00 00 00 40 00 00 20 01 00 00 55 66 77 88 99 a0"
    "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00";

TEST(Wqe, ReadsAHandAssembledWrite) {
  const std::vector<std::uint8_t> bytes = hexBytes(kWrite);
  const ByteView view(bytes);
  const auto control = structFrom<ControlSegment>(view);
  EXPECT_EQ(ControlSegment::Opcode::get(control.modifierIndexOpcode), SendOpcode::kWriteImmediate);
  EXPECT_EQ(ControlSegment::Index::get(control.modifierIndexOpcode), 0x0123U);
  EXPECT_EQ(ControlSegment::Modifier::get(control.modifierIndexOpcode), 0U);
  EXPECT_EQ(ControlSegment::QpNumber::get(control.qpSize), 0x456U);
  EXPECT_EQ(ControlSegment::Size::get(control.qpSize), 4U);
  EXPECT_EQ(ControlSegment::Completion::get(control.fenceCompletionSolicited), CompletionMode::kAlways);
  EXPECT_EQ(ControlSegment::Fence::get(control.fenceCompletionSolicited), FenceMode::kSmallAndFence);
  EXPECT_TRUE(ControlSegment::Solicited::get(control.fenceCompletionSolicited));
  EXPECT_EQ(control.immediate.host(), 0xCAFE0102U);
  const auto remote = structFrom<RemoteAddressSegment>(view.subview(16, 16));
  EXPECT_EQ(remote.address.host(), 0x7F0012345678U);
  EXPECT_EQ(remote.key.host(), 0x1800FFU);
  const auto data = structFrom<DataSegment>(view.subview(32, 16));
  EXPECT_EQ(DataSegment::Length::get(data.byteCount), 64U);
  EXPECT_FALSE(DataSegment::Inline::get(data.byteCount));
  EXPECT_EQ(data.key.host(), 0x2001U);
  EXPECT_EQ(data.address.host(), 0x5566778899A0U);
}

TEST(Wqe, TellsInlineDataFromAPiece) {
  const auto header = structFrom<InlineHeader>(hexBytes("80 00 00 1c"));
  EXPECT_TRUE(InlineHeader::Inline::get(header.byteCount));
  EXPECT_EQ(InlineHeader::Length::get(header.byteCount), 28U);
}

TEST(Wqe, ReadsAHandAssembledDatagramSegment) {
  const auto segment = structFrom<DatagramSegment>(
      hexBytes("11 11 11 11 00 00 00 00 80 00 02 34 53 05 00 07 00 00 00 00 02 00 00 00 00 09 5a 3f 41 5a bc de"
               "fe 80 00 00 00 00 00 00 00 00 00 00 00 00 00 02"));
  EXPECT_EQ(segment.queueKey.host(), 0x11111111U);
  EXPECT_TRUE(DatagramSegment::Extended::get(segment.destinationQp));
  EXPECT_EQ(DatagramSegment::QpNumber::get(segment.destinationQp), 0x234U);
  EXPECT_EQ(DatagramSegment::StaticRate::get(segment.rateServiceLevel), 5);
  EXPECT_EQ(DatagramSegment::ServiceLevel::get(segment.rateServiceLevel), 3);
  EXPECT_EQ(segment.pathBits, 5);
  EXPECT_EQ(segment.remoteLid.host(), 7);
  EXPECT_EQ(segment.remoteMac[5], 9);
  EXPECT_EQ(segment.trafficClass, 0x5A);
  EXPECT_EQ(segment.hopLimit, 63);
  EXPECT_TRUE(DatagramSegment::GlobalRoute::get(segment.gidFlow));
  EXPECT_EQ(DatagramSegment::SourceGidIndex::get(segment.gidFlow), 0x15U);
  EXPECT_EQ(DatagramSegment::FlowLabel::get(segment.gidFlow), 0xABCDEU);
  EXPECT_EQ(segment.remoteGid[15], 2);
}

TEST(Wqe, ReadsAtomicNextAndUmrSegments) {
  const auto atomic = structFrom<AtomicSegment>(hexBytes("00 00 00 00 00 00 00 05 ff 00 00 00 00 00 00 01"));
  EXPECT_EQ(atomic.swapOrAdd.host(), 5U);
  EXPECT_EQ(atomic.compare.host(), 0xFF00000000000001U);
  const auto next = structFrom<NextSegment>(hexBytes("00 00 01 02 77 00 00 00 00 00 00 00 00 00 00 00"));
  EXPECT_EQ(next.nextIndex.host(), 0x102);
  EXPECT_EQ(next.signature, 0x77);
  std::vector<std::uint8_t> bytes(sizeof(UmrControlSegment), 0);
  bytes[0] = 0x80;
  bytes[5] = 4;
  bytes[15] = 1;
  const auto umr = structFrom<UmrControlSegment>(bytes);
  EXPECT_EQ(umr.flags, 0x80);
  EXPECT_EQ(umr.translationOctwords.host(), 4);
  EXPECT_EQ(umr.keyMask.host(), 1U);
}

}  // namespace
}  // namespace hca::wire
