#include "sim/observers/latency_observer.h"

#include <gmock/gmock.h>

#include "tests/sim/observers/probe_events.h"

namespace hca::observers {
namespace {

using observe::Stage;
using testing::IsEmpty;
using testing::SizeIs;

const LatencyObserver::QueuePair kPair{HostIndex(0), kAdapter, QpNumber(65)};

class LatencyObserverTest : public testing::Test {
 protected:
  void request(std::uint64_t index, std::int64_t start, std::int64_t fetch, std::int64_t poll) {
    fireStage(probes_, Stage::kPosted, start, index);
    fireStage(probes_, Stage::kWqeFetched, start + fetch, index);
    fireStage(probes_, Stage::kPolled, start + fetch + poll, index);
  }
  observe::Probes probes_;
  LatencyObserver observer_{probes_};
};

TEST_F(LatencyObserverTest, NothingWithoutRequests) {
  EXPECT_THAT(observer_.stages({kPair}), IsEmpty());
  EXPECT_EQ(slowestStage({}), "");
}

TEST_F(LatencyObserverTest, StepsAndTimesSinceThePost) {
  request(0, 1000, 100, 50);
  request(1, 2000, 200, 70);
  const auto stages = observer_.stages({kPair});
  ASSERT_THAT(stages, SizeIs(2));
  EXPECT_EQ(stages[0].name, "wqe_fetched");
  EXPECT_EQ(stages[0].samples, 2U);
  EXPECT_EQ(stages[0].minimum, nanoseconds(100));
  EXPECT_EQ(stages[0].mean, nanoseconds(150));
  EXPECT_EQ(stages[0].maximum, nanoseconds(200));
  EXPECT_EQ(stages[1].name, "polled");
  EXPECT_EQ(stages[1].mean, nanoseconds(60));
  EXPECT_EQ(stages[1].sincePosted, nanoseconds(210));
  EXPECT_EQ(slowestStage(stages), "wqe_fetched");
}

TEST_F(LatencyObserverTest, StepsFollowTimeWhereStagesOverlap) {
  fireStage(probes_, Stage::kPosted, 0, 0);
  fireStage(probes_, Stage::kLastPacketArrived, 100, 0);
  fireStage(probes_, Stage::kAcknowledged, 150, 0);
  fireStage(probes_, Stage::kPolled, 200, 0);
  fireStage(probes_, Stage::kPayloadPlaced, 230, 0);  // later than the requester's end
  const auto stages = observer_.stages({kPair});
  ASSERT_THAT(stages, SizeIs(4));
  EXPECT_EQ(stages[1].name, "payload_placed");
  EXPECT_EQ(stages[1].mean, nanoseconds(30));
  EXPECT_EQ(stages[2].name, "acknowledged");
  EXPECT_EQ(stages[2].mean, nanoseconds(50));
}

TEST_F(LatencyObserverTest, CountsUnsignaledRequestsThatALaterOneRetires) {
  fireStage(probes_, Stage::kPosted, 0, 0);
  fireStage(probes_, Stage::kPosted, 10, 1);
  fireStage(probes_, Stage::kPosted, 20, 2);
  for (std::uint64_t i = 0; i < 3; ++i) fireStage(probes_, Stage::kAcknowledged, 100, i);
  fireStage(probes_, Stage::kPolled, 150, 1);
  const auto stages = observer_.stages({kPair});
  ASSERT_THAT(stages, SizeIs(2));
  EXPECT_EQ(stages[0].samples, 2U);  // not the third, which is still in the queue
  EXPECT_EQ(stages[1].samples, 1U);
}

TEST_F(LatencyObserverTest, ARepeatedStageCountsWhenItCameFirst) {
  fireStage(probes_, Stage::kPosted, 0, 0);
  fireStage(probes_, Stage::kLastPacketSent, 100, 0);
  fireStage(probes_, Stage::kLastPacketSent, 900, 0);
  fireStage(probes_, Stage::kPolled, 1000, 0);
  EXPECT_EQ(observer_.stages({kPair})[0].mean, nanoseconds(100));
}

TEST_F(LatencyObserverTest, LeavesOutTheWarmUpAndOtherQueues) {
  request(0, 1000, 500, 500);
  observer_.measureFrom(kPair.host, kPair.adapter, kPair.qp, nanoseconds(3000));
  request(1, 2999, 500, 500);
  request(2, 3000, 100, 10);
  fireStage(probes_, Stage::kPosted, 5000, 0, 66);
  fireStage(probes_, Stage::kPolled, 9000, 0, 66);
  const auto stages = observer_.stages({kPair});
  EXPECT_EQ(stages[0].samples, 1U);
  EXPECT_EQ(stages[0].mean, nanoseconds(100));
}

TEST_F(LatencyObserverTest, AddsQueuePairsUp) {
  request(0, 1000, 100, 50);
  fireStage(probes_, Stage::kPosted, 0, 0, 66);
  fireStage(probes_, Stage::kWqeFetched, 300, 0, 66);
  fireStage(probes_, Stage::kPolled, 310, 0, 66);
  const auto stages =
      observer_.stages({kPair, {HostIndex(0), kAdapter, QpNumber(66)}, {HostIndex(5), kAdapter, QpNumber(1)}});
  EXPECT_EQ(stages[0].samples, 2U);
  EXPECT_EQ(stages[0].mean, nanoseconds(200));
}

TEST_F(LatencyObserverTest, IgnoresReceiveRequests) {
  probes_.stage.fire([&] {
    return observe::StageEvent{
        Stage::kPosted, Time(), {HostIndex(0), kAdapter, QpNumber(65), observe::WorkQueue::kReceive, 0}};
  });
  request(0, 1000, 100, 50);
  EXPECT_EQ(observer_.stages({kPair})[0].samples, 1U);
}

TEST_F(LatencyObserverTest, KeepsManyOutstandingRequestsApart) {
  constexpr std::uint64_t kOutstanding = 5000;
  for (std::uint64_t i = 0; i < kOutstanding; ++i)
    fireStage(probes_, Stage::kPosted, static_cast<std::int64_t>(i), i * 3);
  for (std::uint64_t i = 0; i < kOutstanding; ++i) {
    fireStage(probes_, Stage::kPolled, static_cast<std::int64_t>(i) + 7000, i * 3);
  }
  const auto stages = observer_.stages({kPair});
  EXPECT_EQ(stages[0].samples, kOutstanding);
  EXPECT_EQ(stages[0].minimum, nanoseconds(7000));
  EXPECT_EQ(stages[0].maximum, nanoseconds(7000));
}

}  // namespace
}  // namespace hca::observers
