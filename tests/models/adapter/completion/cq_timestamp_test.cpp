// Time stamps of completion queue entries.
#include <gtest/gtest.h>

#include "models/adapter/completion/cq_engine.h"
#include "tests/models/adapter/completion/cq_bench.h"

namespace hca::adapter {
namespace {

using test::CqBench;

TEST(CqEngine, TimestampCountsItsClock) {
  CqBench bench;
  bench.config.timestampClock = Hertz(156'250'000);
  bench.build();
  const CqNumber cq = bench.createSmall();
  bench.runFor(nanoseconds(6400));
  bench.complete(cq);
  bench.settle();
  const auto write = bench.dma.of(pcie::Traffic::kCqe).front();
  EXPECT_EQ(wire::loadBigEndian<std::uint64_t>(&write.bytes[0x30]), 1006u) << "6440 ns of 6.4 ns each";
}

TEST(CqEngine, RealTimeStampHasSecondsAndNanoseconds) {
  CqBench bench;
  CqAttributes wanted = bench.attributes(2);
  wanted.timestampFormat = TimestampFormat::kRealTime;
  const CqNumber cq = bench.create(wanted);
  const auto stampAt = [&](Time when, std::size_t entry) {
    bench.calendar.runUntil(when - nanoseconds(40));  // to the hand-over
    bench.complete(cq);
    bench.settle();
    return wire::loadBigEndian<std::uint64_t>(&bench.dma.of(pcie::Traffic::kCqe)[entry].bytes[0x30]);
  };
  EXPECT_EQ(stampAt(Time(999'999'999'999), 0), 999'999'999U) << "the last nanosecond of the first second";
  EXPECT_EQ(stampAt(Time(2'000'000'000'000), 1), std::uint64_t{2} << 32);
  EXPECT_EQ(stampAt(Time(3'000'000'005'000), 2), std::uint64_t{3} << 32 | 5);
}

TEST(CqEngine, TimestampStartsAgainAtItsWidth) {
  CqBench bench;
  bench.config.timestampClock = Hertz(1'000'000'000);
  bench.config.timestampBits = 16;
  bench.config.timestampStart = 0xFFFF - 40;  // an entry is handed over 40 cycles after its completion
  bench.build();
  const CqNumber cq = bench.createSmall();
  const auto stamp = [&](std::size_t entry) {
    bench.complete(cq);
    bench.runFor(nanoseconds(41));
    return wire::loadBigEndian<std::uint64_t>(&bench.dma.of(pcie::Traffic::kCqe)[entry].bytes[0x30]);
  };
  EXPECT_EQ(stamp(0), 0xFFFFu);
  EXPECT_EQ(stamp(1), 40u) << "41 ns later";
  EXPECT_EQ(stamp(2), 81u);
}

TEST(CqEngine, RealTimeStampMayBeFlat) {
  CqBench bench;
  bench.config.realTimeFormat = RealTimeFormat::kNanoseconds;
  bench.config.realTimeStart = 1'700'000'000;
  bench.build();
  CqAttributes wanted = bench.attributes(2);
  wanted.timestampFormat = TimestampFormat::kRealTime;
  const CqNumber cq = bench.create(wanted);
  bench.complete(cq);
  bench.settle();
  EXPECT_EQ(wire::loadBigEndian<std::uint64_t>(&bench.dma.of(pcie::Traffic::kCqe)[0].bytes[0x30]),
            1'700'000'000'000'000'040U);
}

TEST(CqEngine, RealTimeStampsMayBeMissing) {
  CqBench bench;
  bench.config.realTimeStamps = false;
  bench.build();
  CqAttributes wanted = bench.attributes(2);
  wanted.timestampFormat = TimestampFormat::kRealTime;
  CqNumber number;
  EXPECT_EQ(bench.engine->create(wanted, number).syndrome, Syndrome::kCqFormatUnsupported);
}

}  // namespace
}  // namespace hca::adapter
