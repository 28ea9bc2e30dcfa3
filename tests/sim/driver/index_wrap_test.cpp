// Arms across the wrap of the 24-bit index.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using adapter::ArmRule;
using driver::SendOpcode;

constexpr std::uint64_t kWrap = std::uint64_t{1} << 24;
constexpr std::uint32_t kBatch = 4096;

/// A thread that brings a queue to the wrap with the cheapest completions there are, sends of a queue pair in error,
/// and then arms before each of the next entries.
class WrapRun {
 public:
  explicit WrapRun(ArmRule rule)
      : verbs_([rule](config::Config& config) { config.allHosts.adapter.completion.armRule = rule; }, 2 * kBatch - 1),
        client_(verbs_.left.client()),
        queues_{verbs_.leftCq.handle},
        pair_(connectPair(verbs_.left, queues_[0], verbs_.right, verbs_.rightCq.handle, {}, kBatch)) {
    EXPECT_EQ(verbs_.left.modifyToError(pair_.left.handle), driver::VerbsError::kNone);
    verbs_.hosts.system().probes().cq.attach([this](const observe::CqEvent& event) {
      if (event.action == observe::CqAction::kEventDelivered) ++delivered_;
    });
    driver::SendWorkRequest request = verbs_.left.request(SendOpcode::kSend, 0);
    request.signaled = false;
    batch_.assign(kBatch, request);
  }
  void run() {
    fill();
    verbs_.hosts.run();
  }
  [[nodiscard]] std::uint64_t polled() const { return polled_; }
  [[nodiscard]] std::uint64_t rounds() const { return rounds_; }

  static constexpr std::uint64_t kRounds = 8;  // from three entries before the wrap to five behind it
  static constexpr std::uint64_t kStart = kWrap - 3;

 private:
  void fill() {
    if (polled_ == kStart) return armNext();
    batch_.resize(std::min<std::uint64_t>(kBatch, kStart - polled_), batch_.front());
    missing_ = batch_.size();
    EXPECT_EQ(client_.postSend(pair_.left.handle, batch_).accepted, missing_);
    collect();
  }
  void collect() {
    client_.whenNotEmpty(queues_, [this](driver::CqHandle) {
      missing_ -= poll();
      if (missing_ != 0) return collect();
      fill();
    });
  }
  std::size_t poll() {
    completions_.clear();
    const std::size_t count = client_.poll(queues_[0], 256, completions_);
    polled_ += count;
    return count;
  }
  void armNext() {
    if (rounds_ == kRounds) return verbs_.hosts.system().stop();
    const std::uint64_t before = delivered_;
    client_.arm(queues_[0], false);
    client_.sleepFor(microseconds(20), [this, before] {
      EXPECT_EQ(delivered_, before) << "nothing is new at " << polled_;
      batch_.resize(1);
      client_.postSend(pair_.left.handle, batch_);
      client_.sleepFor(microseconds(20), [this, before] {
        EXPECT_EQ(delivered_, before + 1) << "one entry more than " << polled_;
        client_.waitForEvent([this](driver::CqHandle cq) {
          client_.acknowledge(cq, 1);
          EXPECT_EQ(poll(), 1U);
          ++rounds_;
          client_.afterCost([this] { armNext(); });
        });
      });
    });
  }

  VerbsPair verbs_;
  driver::ThreadClient& client_;
  std::vector<driver::CqHandle> queues_;
  ConnectedPair pair_;
  std::vector<driver::SendWorkRequest> batch_;
  std::vector<driver::WorkCompletion> completions_;
  std::uint64_t polled_ = 0;
  std::uint64_t missing_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t rounds_ = 0;
};

class IndexWrap : public testing::TestWithParam<ArmRule> {};

TEST_P(IndexWrap, EveryRuleTellsOfNewEntriesAcrossIt) {
  WrapRun run(GetParam());
  run.run();
  EXPECT_EQ(run.rounds(), WrapRun::kRounds);
  EXPECT_EQ(run.polled(), WrapRun::kStart + WrapRun::kRounds);
}

std::string ruleName(const testing::TestParamInfo<ArmRule>& rule) {
  for (const auto& [name, value] : config::EnumNames<ArmRule>::kNames) {
    if (value == rule.param) return name;
  }
  return "unknown";
}

INSTANTIATE_TEST_SUITE_P(Rules, IndexWrap,
                         testing::Values(ArmRule::kIbSpec, ArmRule::kCiCompare, ArmRule::kCiCompareOnce,
                                         ArmRule::kCiCompareStaleLoses),
                         ruleName);

}  // namespace
}  // namespace hca::test
