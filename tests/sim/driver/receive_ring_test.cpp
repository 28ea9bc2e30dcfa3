#include "sim/driver/receive_ring.h"

#include <gtest/gtest.h>

#include <vector>

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

}  // namespace
}  // namespace hca::driver
