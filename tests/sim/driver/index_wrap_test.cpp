// Arms across the wrap of the 24-bit index.
#include <gtest/gtest.h>

#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using adapter::ArmRule;
using driver::SendOpcode;

constexpr std::uint64_t kWrap = std::uint64_t{1} << 24;
constexpr std::uint32_t kBatch = 4096;

class IndexWrap : public testing::TestWithParam<ArmRule> {};

// Sixteen million completions, the cheapest there are: sends of a queue pair in error, flushed.
TEST_P(IndexWrap, EveryRuleTellsOfNewEntriesAcrossIt) {
  VerbsPair verbs([](config::Config& config) { config.allHosts.adapter.completion.armRule = GetParam(); },
                  2 * kBatch - 1);
  BlockingThread& left = verbs.left;
  const ConnectedPair pair = connectPair(left, verbs.leftCq.handle, verbs.right, verbs.rightCq.handle, {}, kBatch);
  ASSERT_EQ(left.modifyToError(pair.left.handle), driver::VerbsError::kNone);
  left.countEvents();
  driver::SendWorkRequest request = left.request(SendOpcode::kSend, 0);
  request.signaled = false;
  const std::vector<driver::SendWorkRequest> batch(kBatch, request);
  std::vector<driver::WorkCompletion> completions;
  completions.reserve(2 * kBatch);
  std::uint64_t polled = 0;
  const auto produce = [&](std::uint64_t count) {
    ASSERT_LE(count, kBatch);
    left.client().postSend(pair.left.handle, {batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(count)});
    verbs.hosts.runFor(milliseconds(2));
  };
  const auto drain = [&] {
    completions.clear();
    polled += left.client().poll(verbs.leftCq.handle, 2 * kBatch, completions);
  };
  while (polled < kWrap - 2 * kBatch) {
    produce(kBatch);
    drain();
  }
  produce(kWrap - 3 - polled);
  drain();
  ASSERT_EQ(polled, kWrap - 3);
  for (std::uint64_t round = 0; round < 8; ++round) {  // from three before the wrap to five behind
    const std::size_t before = left.events().size();
    left.client().arm(verbs.leftCq.handle, false);
    verbs.settle();
    EXPECT_EQ(left.events().size(), before) << "nothing is new at " << polled;
    produce(1);
    EXPECT_EQ(left.events().size(), before + 1) << "one entry more than " << polled;
    drain();
    ASSERT_EQ(polled, kWrap - 2 + round);
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, IndexWrap,
                         testing::Values(ArmRule::kIbSpec, ArmRule::kCiCompare, ArmRule::kCiCompareOnce,
                                         ArmRule::kCiCompareStaleLoses));

}  // namespace
}  // namespace hca::test
