#include "sim/driver/receive_ring.h"

#include <gtest/gtest.h>

#include <vector>

#include "sim/driver/shared_receive_ring.h"

namespace hca::driver {
namespace {

using Bytes8 = std::vector<std::uint8_t>;

class ReceiveRingTest : public testing::Test {
 protected:
  ReceiveRingTest() {
    size_.entries = 4;
    size_.logStride = 5;
    size_.maxPosted = 4;
    size_.maxScatter = 2;
  }
  [[nodiscard]] static ReceiveWorkRequest request(std::uint64_t id, std::size_t pieces = 1) {
    ReceiveWorkRequest request;
    request.workRequestId = id;
    for (std::size_t i = 0; i < pieces; ++i) request.scatterGather.push_back({0x1000 + i, 16, MemoryKey(0x300)});
    return request;
  }

  ReceiveQueueSize size_;
  Bytes8 entries_ = Bytes8(4 * 32, 0x5A);
  Bytes8 counter_ = Bytes8(4);
  ReceiveRing ring() { return {entries_.data(), counter_.data(), size_}; }
};

TEST_F(ReceiveRingTest, ShortListEndsWithTheTerminator) {
  ReceiveRing queue = ring();
  ASSERT_EQ(queue.post(request(1)), VerbsError::kNone);
  EXPECT_EQ(Bytes8(entries_.begin(), entries_.begin() + 32),
            (Bytes8{0, 0, 0, 16, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0x10, 0,     // the piece
                    0, 0, 0, 0,  0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,    0}));  // key 0x100
}

TEST_F(ReceiveRingTest, FullListHasNoTerminator) {
  ReceiveRing queue = ring();
  ASSERT_EQ(queue.post(request(1, 2)), VerbsError::kNone);
  EXPECT_EQ(entries_[16 + 15], 1);
  EXPECT_EQ(entries_[32], 0x5A) << "the next entry is not touched";
  EXPECT_EQ(queue.post(request(2, 3)), VerbsError::kInvalid);
}

TEST_F(ReceiveRingTest, CounterMovesWithPublishAlone) {
  ReceiveRing queue = ring();
  queue.post(request(1));
  queue.post(request(2));
  EXPECT_EQ(counter_, (Bytes8{0, 0, 0, 0}));
  queue.publish();
  EXPECT_EQ(counter_, (Bytes8{0, 0, 0, 2}));
}

TEST_F(ReceiveRingTest, FullAtItsDepthAndFreeAgainAfterACompletion) {
  ReceiveRing queue = ring();
  for (std::uint64_t id = 0; id < 4; ++id) ASSERT_EQ(queue.post(request(id)), VerbsError::kNone);
  EXPECT_EQ(queue.post(request(4)), VerbsError::kNoMemory);
  EXPECT_EQ(queue.retire(0).workRequestId, 0U);
  EXPECT_EQ(queue.post(request(4)), VerbsError::kNone);
  EXPECT_EQ(queue.lastIndex(), 4U);
  EXPECT_EQ(queue.post(request(5)), VerbsError::kNoMemory);
}

TEST_F(ReceiveRingTest, CounterWrapsAtSixteenBitsAndTheIndexDoesNot) {
  ReceiveRing queue = ring();
  for (std::uint64_t id = 0; id < 0x10002; ++id) {
    ASSERT_EQ(queue.post(request(id)), VerbsError::kNone);
    const ReceiveRing::Retired retired = queue.retire(static_cast<std::uint16_t>(id));
    ASSERT_EQ(retired.workRequestId, id);
    ASSERT_EQ(retired.index, id);
  }
  queue.publish();
  EXPECT_EQ(counter_, (Bytes8{0, 0, 0, 2}));
}

// Case C30: entries are freed in any order and come back in that order.
TEST_F(ReceiveRingTest, SharedQueueGivesEntriesOutInTheOrderOfTheirReturn) {
  size_.maxScatter = 1;
  size_.maxPosted = 3;
  SharedReceiveRing queue(entries_.data(), counter_.data(), size_);
  for (std::uint64_t id = 10; id < 13; ++id) ASSERT_EQ(queue.post(request(id)), VerbsError::kNone);
  EXPECT_EQ(queue.post(request(13)), VerbsError::kNoMemory) << "the last free entry has no successor yet";
  EXPECT_EQ(queue.post(request(13, 2)), VerbsError::kInvalid);
  EXPECT_EQ(Bytes8(entries_.begin() + 2, entries_.begin() + 4), (Bytes8{0, 1}));
  EXPECT_EQ(Bytes8(entries_.begin() + 16, entries_.begin() + 24), (Bytes8{0, 0, 0, 16, 0, 0, 3, 0}));
  EXPECT_EQ(counter_, (Bytes8{0, 0, 0, 0}));
  queue.publish();
  EXPECT_EQ(counter_, (Bytes8{0, 0, 0, 3}));
  EXPECT_EQ(queue.retire(2).workRequestId, 12U);
  EXPECT_EQ(queue.retire(0).index, 0U);
  EXPECT_EQ(entries_[3 * 32 + 3], 2) << "behind the last free entry";
  EXPECT_EQ(entries_[2 * 32 + 3], 0);
  EXPECT_EQ(queue.outstanding(), 1U);
  ASSERT_EQ(queue.post(request(20)), VerbsError::kNone);  // place 3
  ASSERT_EQ(queue.post(request(21)), VerbsError::kNone);  // place 2
  EXPECT_EQ(queue.post(request(22)), VerbsError::kNoMemory);
  EXPECT_EQ(queue.lastIndex(), 4U);
  EXPECT_EQ(queue.retire(2).workRequestId, 21U);
  EXPECT_EQ(queue.retire(3).workRequestId, 20U);
  EXPECT_EQ(queue.retire(1).workRequestId, 11U);
}

}  // namespace
}  // namespace hca::driver
