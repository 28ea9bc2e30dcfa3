// Completion entries over a real PCI Express link: what they cost.
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/driver/bus_queue.h"

namespace hca::driver {
namespace {

using adapter::CqeStride;

std::uint64_t bytesOnTheBus(const BusQueue::Shape& shape, std::uint32_t completions, std::uint8_t inlineLength = 0) {
  BusQueue queue(shape);
  for (std::uint32_t i = 0; i < completions; ++i)
    queue.complete(receiveOf(static_cast<std::uint16_t>(i), inlineLength));
  queue.calendar().runUntil(kForever);
  EXPECT_EQ(queue.engine->find(queue.cq)->counters.cqes, completions);
  return queue.bytes();
}

constexpr std::uint64_t kHeader = 24;  // of a memory write: header, framing and link layer (pcie-bench's model)

TEST(CompletionBytes, NarrowEntry) { EXPECT_EQ(bytesOnTheBus({}, 5), 5 * (64 + kHeader)); }

TEST(CompletionBytes, ShortEntry) {
  BusQueue::Shape shape;
  shape.stride = CqeStride::k32;
  EXPECT_EQ(bytesOnTheBus(shape, 5), 5 * (32 + kHeader));
}

TEST(CompletionBytes, WideEntryWithoutPaddingIsNoLonger) {
  BusQueue::Shape shape;
  shape.stride = CqeStride::k128;
  EXPECT_EQ(bytesOnTheBus(shape, 5), 5 * (64 + kHeader));
}

TEST(CompletionBytes, PaddedEntryIsOneWriteOfBothHalves) {
  BusQueue::Shape shape;
  shape.stride = CqeStride::k128Padded;
  EXPECT_EQ(bytesOnTheBus(shape, 5), 5 * (128 + kHeader));
}

TEST(CompletionBytes, InlineDataOf32BytesCostNothing) { EXPECT_EQ(bytesOnTheBus({}, 5, 32), 5 * (64 + kHeader)); }

class WideInlineBytes : public testing::TestWithParam<std::uint8_t> {};

TEST_P(WideInlineBytes, MoreThan32TakeTheFirstHalf) {
  BusQueue::Shape shape;
  shape.stride = CqeStride::k128;
  EXPECT_EQ(bytesOnTheBus(shape, 5, GetParam()), 5 * ((GetParam() > 32 ? 128 : 64) + kHeader));
}

INSTANTIATE_TEST_SUITE_P(Lengths, WideInlineBytes, testing::Values(1, 32, 33, 64));

class CompressedBytes : public testing::TestWithParam<std::uint32_t> {};

// A title, and an array for each eight; alone an entry as any other.
TEST_P(CompressedBytes, Basic) {
  const std::uint64_t count = GetParam();
  BusQueue::Shape shape;
  shape.compression.layout = CompressionKind::kBasic;
  const std::uint64_t slots = count == 1 ? 1 : 1 + (count + 7) / 8;
  EXPECT_EQ(bytesOnTheBus(shape, GetParam()), slots * (64 + kHeader));
}

// The title is a completion of its own, then a block for each seven.
TEST_P(CompressedBytes, Enhanced) {
  const std::uint64_t count = GetParam();
  BusQueue::Shape shape;
  shape.compression.layout = CompressionKind::kEnhanced;
  const std::uint64_t slots = 1 + (count - 1 + 6) / 7;
  EXPECT_EQ(bytesOnTheBus(shape, GetParam()), slots * (64 + kHeader));
}

INSTANTIATE_TEST_SUITE_P(Sessions, CompressedBytes, testing::Values(1U, 2U, 7U, 8U, 9U, 64U));

// ---------------------------------------------------------------------------------------------------------------------

/// Million completions a second that a link carries, with a writer that is never in the way.
double measuredRate(BusQueue::Shape shape, std::uint32_t completions) {
  shape.buildCycles = 0;
  BusQueue queue(shape);
  Time first = kForever, last{};
  std::uint64_t atFirst = 0, seen = 0;
  queue.probes().cq.attach([&](const observe::CqEvent& event) {
    if (event.action != observe::CqAction::kCqeVisible) return;
    ++seen;
    first = earlier(first, event.time);
    if (event.time == first) atFirst = seen;
    last = event.time;
  });
  for (std::uint32_t i = 0; i < completions; ++i) queue.complete(receiveOf(static_cast<std::uint16_t>(i)));
  queue.calendar().runUntil(kForever);
  EXPECT_EQ(seen, completions);
  return static_cast<double>(completions - atFirst) / static_cast<double>((last - first).count()) * 1e6;
}

/// A link and what its byte model says of completions, in millions a second: entries of 64 and 128 bytes, sessions of 8
/// and of 64 completions in the basic layout.
struct LinkRates {
  const char* name;
  std::int64_t generation;
  pcie::LinkWidth width;
  double narrow, wide, sessionsOf8, sessionsOf64;
};

void PrintTo(const LinkRates& each, std::ostream* out) { *out << each.name; }

class CqBoundRate : public testing::TestWithParam<LinkRates> {
 protected:
  static BusQueue::Shape shape(CqeStride stride, unsigned logSize) {
    BusQueue::Shape wanted;
    wanted.stride = stride;
    wanted.logSize = logSize;
    wanted.generation = GetParam().generation;
    wanted.width = GetParam().width;
    return wanted;
  }
  static BusQueue::Shape compressed(std::int64_t sessionMax) {
    BusQueue::Shape wanted = shape(CqeStride::k64, 13);
    wanted.compression.layout = CompressionKind::kBasic;
    wanted.sessionMax = sessionMax;
    return wanted;
  }
  static void expectRate(double measured, double derived) { EXPECT_NEAR(measured, derived, 0.03 * derived); }
};

TEST_P(CqBoundRate, NarrowEntries) { expectRate(measuredRate(shape(CqeStride::k64, 13), 8192), GetParam().narrow); }
TEST_P(CqBoundRate, PaddedEntries) {
  expectRate(measuredRate(shape(CqeStride::k128Padded, 12), 4096), GetParam().wide);
}
TEST_P(CqBoundRate, SessionsOf8) { expectRate(measuredRate(compressed(8), 8192), GetParam().sessionsOf8); }
TEST_P(CqBoundRate, SessionsOf64) { expectRate(measuredRate(compressed(64), 8192), GetParam().sessionsOf64); }

INSTANTIATE_TEST_SUITE_P(Links, CqBoundRate,
                         testing::Values(LinkRates{"gen3_x8", 3, pcie::LinkWidth::kX8, 82, 48, 329, 585},
                                         LinkRates{"gen3_x16", 3, pcie::LinkWidth::kX16, 162, 93, 646, 1149},
                                         LinkRates{"gen4_x16", 4, pcie::LinkWidth::kX16, 323, 187, 1292, 2297},
                                         LinkRates{"gen5_x16", 5, pcie::LinkWidth::kX16, 646, 374, 2584, 4594}),
                         [](const testing::TestParamInfo<LinkRates>& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace hca::driver
