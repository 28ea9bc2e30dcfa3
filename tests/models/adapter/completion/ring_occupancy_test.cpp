#include "models/adapter/completion/ring_occupancy.h"

#include <gtest/gtest.h>

namespace hca::adapter {
namespace {

void produce(RingOccupancy& ring, int entries) {
  for (int i = 0; i < entries; ++i) ring.produce();
}

TEST(RingOccupancy, FullAtTheSizeNotBefore) {
  RingOccupancy ring(2);
  produce(ring, 3);
  EXPECT_FALSE(ring.looksFull());
  ring.produce();
  EXPECT_TRUE(ring.looksFull());
  EXPECT_TRUE(ring.learnRecord(1));
  EXPECT_FALSE(ring.looksFull());
  ring.produce();
  EXPECT_TRUE(ring.looksFull());
}

TEST(RingOccupancy, IndexAheadOfTheProducerIsNotBelieved) {
  RingOccupancy ring(2);
  produce(ring, 4);
  EXPECT_FALSE(ring.learnRecord(5));
  EXPECT_TRUE(ring.looksFull());
  EXPECT_FALSE(ring.learnRecord(0xFFFFFF)) << "before the first entry of all";
  EXPECT_TRUE(ring.learnRecord(4));
  EXPECT_EQ(ring.consumed(), 4u);
}

TEST(RingOccupancy, ConsumerNeverMovesBack) {
  RingOccupancy ring(2);
  produce(ring, 4);
  ring.learnRecord(3);
  ring.learnRecord(1);
  EXPECT_EQ(ring.consumed(), 3u);
}

TEST(RingOccupancy, IndicesWrapAt24Bits) {
  constexpr std::uint64_t kWrap = 1u << 24;
  RingOccupancy ring(2);
  for (std::uint64_t i = 0; i < kWrap + 1; ++i) {
    ring.produce();
    if (i % 1024 == 0) ring.learnRecord(static_cast<std::uint32_t>(i + 1) & 0xFFFFFF);
  }
  EXPECT_TRUE(ring.learnRecord(0xFFFFFF));
  EXPECT_EQ(ring.consumed(), kWrap - 1 + 2) << "entry 2^24 was reported consumed already";
  produce(ring, 3);
  EXPECT_TRUE(ring.learnRecord(3));
  EXPECT_EQ(ring.consumed(), kWrap + 3);
}

TEST(RingOccupancy, ArmsDoNotMakeRoom) {
  RingOccupancy ring(2);
  produce(ring, 4);
  ring.learnArm(4);
  EXPECT_TRUE(ring.looksFull());
}

TEST(RingOccupancy, OverwrittenEntriesAreLostUnlessConsumed) {
  RingOccupancy ring(2);
  produce(ring, 4);
  EXPECT_FALSE(ring.overwriteUnexplained());
  produce(ring, 3);  // entries 0..2 are overwritten
  EXPECT_TRUE(ring.overwriteUnexplained());
  ring.beginExplaining();
  ring.learnRecord(1);
  const auto lost = ring.endExplaining();
  EXPECT_EQ(lost.first, 1u);
  EXPECT_EQ(lost.count, 2u);
  EXPECT_FALSE(ring.overwriteUnexplained()) << "each is counted once";
  ring.produce();
  ring.beginExplaining();
  ring.produce();  // overwritten after the look: for the next one
  ring.learnRecord(1);
  EXPECT_EQ(ring.endExplaining().count, 1u);
  EXPECT_TRUE(ring.overwriteUnexplained());
}

TEST(RingOccupancy, AnArmExplainsWhatTheRecordDoesNot) {
  RingOccupancy ring(2);
  produce(ring, 6);
  ring.learnArm(2);
  EXPECT_FALSE(ring.overwriteUnexplained());
  ring.learnArm(1);
  ring.learnArm(0xFFFFFF);
  ring.learnArm(7);
  EXPECT_FALSE(ring.overwriteUnexplained()) << "older or impossible indices are ignored";
}

TEST(RingOccupancy, HighWaterIsMeasuredWhenTheConsumerIsKnown) {
  RingOccupancy ring(4);
  produce(ring, 5);
  EXPECT_EQ(ring.highWater(), 5u) << "never learnt: at most all of them";
  ring.learnRecord(5);
  EXPECT_EQ(ring.highWater(), 0u);
  produce(ring, 3);
  ring.learnArm(6);
  EXPECT_EQ(ring.highWater(), 2u);
  produce(ring, 40);
  ring.learnRecord(6);
  EXPECT_EQ(ring.highWater(), 16u) << "never more than the ring holds";
}

}  // namespace
}  // namespace hca::adapter
