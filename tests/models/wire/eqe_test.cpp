#include "models/wire/eqe.h"

#include <gtest/gtest.h>

#include "models/base/byte_view.h"
#include "models/wire/describe.h"
#include "tests/support/hex_bytes.h"

namespace hca::wire {
namespace {

using test::hexBytes;

std::vector<std::uint8_t> stored(const Eqe& eqe) {
  const ByteView view = bytesOf(eqe);
  return {view.begin(), view.end()};
}

TEST(Eqe, WritesAHandAssembledCompletion) {
  Eqe eqe;
  eqe.type = static_cast<std::uint8_t>(EventType::kCompletion);
  CompletionEvent data;
  data.cq = Be32(0x000405);
  setEventData(eqe, data);
  eqe.owner = 0;
  EXPECT_EQ(
      stored(eqe),
      hexBytes("00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
               "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 04 05 00 00 00 00"));
}

TEST(Eqe, ReadsAHandAssembledCqError) {
  const auto eqe = structFrom<Eqe>(
      hexBytes("00 04 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"
               "00 00 00 2a 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01"));
  EXPECT_EQ(static_cast<EventType>(eqe.type), EventType::kCqError);
  const auto data = eventData<CqErrorEvent>(eqe);
  EXPECT_EQ(data.cq.host(), 0x2AU);
  EXPECT_EQ(static_cast<CqErrorSyndrome>(data.syndrome), CqErrorSyndrome::kOverrun);
  EXPECT_TRUE(Eqe::Owner::get(eqe.owner));
  EXPECT_EQ(describe(eqe), "CQ error cq 0x2a syndrome 1 owner 1");
}

TEST(Eqe, PutsTheFieldsOfEveryEventInTheirPlace) {
  Eqe eqe;
  QueueEvent queue;
  queue.type = 2;
  queue.number = Be32(0x00ABCDEF);
  setEventData(eqe, queue);
  EXPECT_EQ(stored(eqe)[0x34], 2);
  EXPECT_EQ(stored(eqe)[0x39], 0xAB);
  CommandEvent command;
  command.slots = Be32(0x80000001);
  setEventData(eqe, command);
  EXPECT_EQ(stored(eqe)[0x20], 0x80);
  EXPECT_EQ(stored(eqe)[0x23], 0x01);
  PageRequestEvent pages;
  pages.function = Be16(0x0102);
  pages.pages = Be32(static_cast<std::uint32_t>(-3));
  setEventData(eqe, pages);
  EXPECT_EQ(stored(eqe)[0x22], 1);
  EXPECT_EQ(stored(eqe)[0x27], 0xFD);
  PortEvent port;
  PortEvent::Port::set(port.port, 1);
  setEventData(eqe, port);
  EXPECT_EQ(stored(eqe)[0x28], 0x10);
}

TEST(Eqe, OwnerFollowsThePassThroughTheQueue) {
  EXPECT_FALSE(eventOwnerBit(0, 11));
  EXPECT_FALSE(eventOwnerBit(2047, 11));
  EXPECT_TRUE(eventOwnerBit(2048, 11));
  EXPECT_FALSE(eventOwnerBit(4096, 11));
}

TEST(DescribeEqe, TakesAnyType) {
  for (unsigned type = 0; type < 256; ++type) {
    Eqe eqe;
    eqe.type = static_cast<std::uint8_t>(type);
    EXPECT_FALSE(describe(eqe).empty());
  }
  Eqe eqe;
  eqe.type = 0x99;
  EXPECT_EQ(describe(eqe), "unknown (0x99) owner 1");
}

}  // namespace
}  // namespace hca::wire
