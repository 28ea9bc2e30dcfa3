#include "sim/driver/completion_ring.h"

#include <gtest/gtest.h>

#include <vector>

namespace hca::driver {
namespace {

/// A ring of four entries and the adapter that writes into it.
class CompletionRingTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  static constexpr unsigned kLogSize = 2;

  CompletionRingTest() { ring_.initialise(); }

  /// The adapter's next entry: owner bit by the pass, opcode 0 (requester).
  void produce(std::uint8_t marker, std::uint32_t userIndex = 0) {
    const std::uint32_t slot = produced_ % 4;
    std::uint8_t* end = bytes_.data() + (slot + 1) * GetParam();
    end[-24] = marker;  // of an entry of any size
    end[-64 + 0x21] = static_cast<std::uint8_t>(userIndex >> 16);
    end[-64 + 0x22] = static_cast<std::uint8_t>(userIndex >> 8);
    end[-64 + 0x23] = static_cast<std::uint8_t>(userIndex);
    end[-1] = static_cast<std::uint8_t>((produced_ / 4) & 1);
    ++produced_;
  }
  std::uint8_t takeMarker() { return ring_.take().app; }

  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(4 * GetParam());
  std::vector<std::uint8_t> record_ = std::vector<std::uint8_t>(8, 0xEE);
  CompletionRing ring_{bytes_.data(), record_.data(), kLogSize, GetParam()};
  std::uint32_t produced_ = 0;
};

TEST_P(CompletionRingTest, NewRingIsEmptyAndItsEntriesInvalid) {
  EXPECT_FALSE(ring_.ready());
  for (std::size_t slot = 1; slot <= 4; ++slot) EXPECT_EQ(bytes_[slot * GetParam() - 1], 0xF0);
  EXPECT_EQ(record_, std::vector<std::uint8_t>(8, 0));
}

TEST_P(CompletionRingTest, OwnerBitFollowsThePass) {
  for (std::uint8_t marker = 0; marker < 30; ++marker) {
    ASSERT_FALSE(ring_.ready()) << int{marker};
    produce(marker);
    ASSERT_TRUE(ring_.ready()) << int{marker};
    EXPECT_EQ(takeMarker(), marker);
  }
  EXPECT_EQ(ring_.consumerIndex(), 30U);
}

TEST_P(CompletionRingTest, StaleEntryOfThePassBeforeIsNotTaken) {
  for (std::uint8_t marker = 0; marker < 4; ++marker) produce(marker);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(ring_.ready());
    ring_.take();
  }
  EXPECT_FALSE(ring_.ready());
}

TEST_P(CompletionRingTest, PublishesTheIndexInTwentyFourBits) {
  for (int i = 0; i < 3; ++i) {
    produce(0);
    ring_.take();
  }
  EXPECT_EQ(record_, (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 0, 0})) << "before publish";
  ring_.publish();
  EXPECT_EQ(record_, (std::vector<std::uint8_t>{0, 0, 0, 3, 0, 0, 0, 0}));
}

TEST_P(CompletionRingTest, ArmWordsAreWhatTheRegisterExpects) {
  produce(0);
  ring_.take();
  EXPECT_EQ(ring_.arm(CqNumber(0x123456), false), 0x0000'0001'0012'3456U);
  EXPECT_EQ(record_, (std::vector<std::uint8_t>{0, 0, 0, 0, 0x00, 0, 0, 1}));
  EXPECT_EQ(ring_.arm(CqNumber(0x123456), true), 0x0100'0001'0012'3456U);
  EXPECT_EQ(record_, (std::vector<std::uint8_t>{0, 0, 0, 0, 0x01, 0, 0, 1}));
}

TEST_P(CompletionRingTest, SequenceNumberChangesWithEventsAloneAndWraps) {
  for (const std::uint32_t expected : {0U, 1U, 2U, 3U, 0U, 1U}) {
    EXPECT_EQ(ring_.arm(CqNumber(1), false) >> 60, expected);
    EXPECT_EQ(ring_.arm(CqNumber(1), false) >> 60, expected) << "a second arm without an event";
    ring_.countEvent();
  }
}

TEST_P(CompletionRingTest, CleanDropsOneQueuePairsEntriesAndKeepsTheOrderOfTheRest) {
  for (std::uint8_t marker = 0; marker < 6; ++marker) {  // across the end of the ring
    if (marker >= 2) produce(marker, marker % 2);
    if (marker < 2) {
      produce(marker, 0);
      ring_.take();
    }
  }
  EXPECT_EQ(ring_.clean(0), 2U);  // markers 2 and 4
  EXPECT_EQ(ring_.consumerIndex(), 4U);
  EXPECT_EQ(record_[3], 4);
  ASSERT_TRUE(ring_.ready());
  EXPECT_EQ(takeMarker(), 3);
  ASSERT_TRUE(ring_.ready());
  EXPECT_EQ(takeMarker(), 5);
  EXPECT_FALSE(ring_.ready());
  produce(6, 1);
  ASSERT_TRUE(ring_.ready());
  EXPECT_EQ(takeMarker(), 6);
}

TEST_P(CompletionRingTest, CleanOfAFullRingLooksAtEachEntryOnce) {
  for (std::uint8_t marker = 0; marker < 4; ++marker) produce(marker, 7);
  EXPECT_EQ(ring_.clean(8), 0U);
  EXPECT_EQ(ring_.clean(7), 4U);
  EXPECT_FALSE(ring_.ready());
  EXPECT_EQ(ring_.consumerIndex(), 4U);
}

INSTANTIATE_TEST_SUITE_P(Strides, CompletionRingTest, testing::Values(32U, 64U, 128U));

}  // namespace
}  // namespace hca::driver
