#include "sim/driver/queue_sizes.h"

#include <gtest/gtest.h>

namespace hca::driver {
namespace {

QpRequest sends(std::uint32_t depth, std::uint32_t gather = 1, std::uint32_t maxInline = 0) {
  QpRequest request;
  request.maxSendWr = depth;
  request.maxSendSge = gather;
  request.maxInline = maxInline;
  return request;
}

// libmlx5 gives each request of an RC queue the room of a memory window bind: 192 bytes before any data.
TEST(SendQueueSize, FollowsTheLargestRequest) {
  const auto one = sendQueueSize(sends(1), {});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->blocks, 4U);  // 192 + 16 rounded up to 256
  EXPECT_EQ(one->maxPosted, 1U);
  EXPECT_EQ(one->maxInline, 60U);  // 256 - 192 - 4
  const auto many = sendQueueSize(sends(128), {});
  ASSERT_TRUE(many);
  EXPECT_EQ(many->blocks, 512U);
  EXPECT_EQ(many->maxPosted, 128U);
}

TEST(SendQueueSize, RoundsUpToAPowerOfTwoAndReportsIt) {
  const auto size = sendQueueSize(sends(33), {});
  ASSERT_TRUE(size);
  EXPECT_EQ(size->blocks, 256U);
  EXPECT_EQ(size->maxPosted, 64U);
}

TEST(SendQueueSize, InlineDataWidenTheRequest) {
  const auto size = sendQueueSize(sends(10, 1, 220), {});
  ASSERT_TRUE(size);
  // 192 + 224 = 416, rounded up to 448: seven blocks a request, 4480 bytes, a ring of 8192.
  EXPECT_EQ(size->blocks, 128U);
  EXPECT_EQ(size->maxPosted, 18U);
  EXPECT_EQ(size->maxInline, 252U);
}

TEST(SendQueueSize, RefusesAtTheLimitAndTakesWhatIsJustBelow) {
  QueueLimits limits;
  limits.maxSendWqe = 1024;
  EXPECT_TRUE(sendQueueSize(sends(1, 1, 1024 - 192 - 4), limits));
  EXPECT_FALSE(sendQueueSize(sends(1, 1, 1024 - 192 - 4 + 1), limits));
  EXPECT_TRUE(sendQueueSize(sends(1, (1024 - 192) / 16), limits));
  EXPECT_FALSE(sendQueueSize(sends(1, (1024 - 192) / 16 + 1), limits));
  limits.maxQueueEntries = 1024;
  EXPECT_TRUE(sendQueueSize(sends(256), limits));
  EXPECT_FALSE(sendQueueSize(sends(257), limits));
  EXPECT_FALSE(sendQueueSize(sends(0xFFFFFFFF), limits));
}

TEST(SendQueueSize, NoneWhereNoneIsAsked) {
  const auto size = sendQueueSize(sends(0), {});
  ASSERT_TRUE(size);
  EXPECT_EQ(size->blocks, 0U);
}

QpRequest receives(std::uint32_t depth, std::uint32_t scatter = 1) {
  QpRequest request;
  request.maxReceiveWr = depth;
  request.maxReceiveSge = scatter;
  return request;
}

TEST(ReceiveQueueSize, StrideIsAPowerOfTwo) {
  const auto size = receiveQueueSize(receives(5, 3), {});
  ASSERT_TRUE(size);
  EXPECT_EQ(size->entries, 8U);
  EXPECT_EQ(size->logStride, 6U);
  EXPECT_EQ(size->maxScatter, 4U);
}

TEST(ReceiveQueueSize, RingIsAtLeastABlock) {
  const auto size = receiveQueueSize(receives(1), {});
  ASSERT_TRUE(size);
  EXPECT_EQ(size->entries, 4U);
  EXPECT_EQ(size->logStride, 4U);
}

TEST(ReceiveQueueSize, RefusesAtTheLimit) {
  QueueLimits limits;
  limits.maxQueueEntries = 64;
  limits.maxReceiveWqe = 64;
  EXPECT_TRUE(receiveQueueSize(receives(64, 4), limits));
  EXPECT_FALSE(receiveQueueSize(receives(65, 4), limits));
  EXPECT_FALSE(receiveQueueSize(receives(64, 5), limits));
}

TEST(CompletionQueueEntries, OneEntryStaysSpare) {
  EXPECT_EQ(completionQueueEntries(1, {}), 2U);
  EXPECT_EQ(completionQueueEntries(127, {}), 128U);
  EXPECT_EQ(completionQueueEntries(128, {}), 256U);
}

TEST(CompletionQueueEntries, RefusesNothingNegativeAndTooMuch) {
  QueueLimits limits;
  limits.maxCqEntries = 1024;
  EXPECT_FALSE(completionQueueEntries(0, limits));
  EXPECT_FALSE(completionQueueEntries(-1, limits));
  EXPECT_EQ(completionQueueEntries(1023, limits), 1024U);
  EXPECT_FALSE(completionQueueEntries(1024, limits));
  EXPECT_FALSE(completionQueueEntries(INT32_MAX, limits));
}

TEST(SharedQueueSize, OneEntryStaysFreeAndEachBeginsWithALink) {
  QueueLimits limits;
  const auto size = sharedQueueSize({100, 1}, limits);
  ASSERT_TRUE(size);
  EXPECT_EQ(size->entries, 128U);
  EXPECT_EQ(size->maxPosted, 127U);
  EXPECT_EQ(size->logStride, 5U);
  EXPECT_EQ(size->maxScatter, 1U);
  EXPECT_EQ(sharedQueueSize({128, 2}, limits)->entries, 256U);
  EXPECT_EQ(sharedQueueSize({128, 2}, limits)->maxScatter, 3U);
  limits.maxSrqEntries = 64;
  EXPECT_TRUE(sharedQueueSize({63, 31}, limits));
  EXPECT_FALSE(sharedQueueSize({64, 1}, limits));
  EXPECT_FALSE(sharedQueueSize({63, 32}, limits));
  EXPECT_FALSE(sharedQueueSize({0, 1}, limits));
}

}  // namespace
}  // namespace hca::driver
