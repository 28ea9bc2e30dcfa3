// Random schedules of completions, arms and polls against the plain contract, one event at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <tuple>
#include <vector>

#include "tests/models/adapter/completion/cq_bench.h"
#include "tests/models/adapter/completion/reference_notification.h"

namespace hca::adapter {
namespace {

using test::CqBench;

/// What happened to one queue, in order: an entry was handed over, or an arm arrived.
struct Happening {
  Time time{};
  std::size_t queue = 0;
  bool isArm = false;
  bool solicited = false;  // of an entry; of an arm: solicited only
  std::uint64_t consumer = 0;
  std::uint8_t sequence = 0;
};

using Fired = std::pair<Time, std::uint32_t>;

class RandomSchedule {
 public:
  static constexpr std::size_t kQueues = 3;
  static constexpr unsigned kLogSize = 4;

  RandomSchedule(ArmRule rule, std::uint64_t seed) : bench_(rule), rule_(rule), random_(seed) {
    for (CqNumber& queue : queues_) queue = bench_.create(bench_.attributes(kLogSize));
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      const std::size_t queue = random_() % kQueues;
      switch (random_() % 6) {
        case 0:
          arm(queue);
          break;
        case 1:
          poll(queue);
          break;
        case 2:
          ++sequences_[queue];
          break;
        default:
          complete(queue);
      }
      // Entries are handed over at whole nanoseconds, arms arrive half a nanosecond off: never at once.
      bench_.calendar.runUntil(bench_.calendar.now() + nanoseconds(static_cast<std::int64_t>(random_() % 40)));
    }
    bench_.settle();
  }

  /// The events that the contract asks for.
  [[nodiscard]] std::vector<Fired> expected() const {
    std::vector<Happening> all = arms_;
    std::array<std::uint64_t, kQueues> entries{};
    for (const auto& write : bench_.dma.of(pcie::Traffic::kCqe)) {
      const std::size_t queue = (write.address - CqBench::kRingBase) / 4096;
      EXPECT_EQ(write.address, CqBench::kRingBase + queue * 4096 + entries[queue] % 16 * 64);
      EXPECT_EQ(write.bytes[63] & 1u, entries[queue] / 16 % 2) << "owner";
      EXPECT_EQ((write.bytes[63] >> 1 & 1) != 0, solicited_[queue][entries[queue]]) << "in the order of completion";
      all.push_back({write.time, queue, false, (write.bytes[63] >> 1 & 1) != 0});
      ++entries[queue];
    }
    std::stable_sort(all.begin(), all.end(), [](const Happening& a, const Happening& b) { return a.time < b.time; });
    std::vector<Fired> fired;
    for (std::size_t queue = 0; queue < kQueues; ++queue) expectedOf(queue, all, fired);
    std::sort(fired.begin(), fired.end());
    return fired;
  }
  [[nodiscard]] std::vector<Fired> seen() const {
    std::vector<Fired> fired;
    for (const auto& event : bench_.events.events) fired.emplace_back(event.time, event.record.object);
    std::sort(fired.begin(), fired.end());  // of different queues at one time: any order
    return fired;
  }
  [[nodiscard]] std::uint64_t written() const { return bench_.dma.count(pcie::Traffic::kCqe); }
  [[nodiscard]] std::uint64_t completed() const {
    std::uint64_t sum = 0;
    for (const auto& queue : solicited_) sum += queue.size();
    return sum;
  }
  [[nodiscard]] std::uint64_t recordReads() const { return bench_.dma.reads; }

 private:
  /// One queue, one happening at a time. An owed event is raised when it is, but not before the last arm is processed.
  void expectedOf(std::size_t queue, const std::vector<Happening>& all, std::vector<Fired>& fired) const {
    const Time latency = bench_.context.clock.span(bench_.config.armLatencyCycles);
    test::ReferenceNotification reference(rule_);
    Time earliest{};
    Time owedSince = kForever;
    const auto raiseUntil = [&](Time now) {
      const Time when = later(owedSince, earliest);
      if (owedSince == kForever || when > now) return;
      fired.emplace_back(when, queues_[queue].value());
      reference.fire();
      owedSince = kForever;
    };
    for (const Happening& happening : all) {
      if (happening.queue != queue) continue;
      raiseUntil(happening.time);
      if (!happening.isArm) {
        reference.entry(happening.solicited);
      } else if (reference.arm(happening.consumer, happening.sequence, happening.solicited)) {
        earliest = happening.time + latency;
      }
      if (reference.owed() && owedSince == kForever) owedSince = happening.time;
    }
    raiseUntil(kForever);
  }
  void complete(std::size_t queue) {
    if (solicited_[queue].size() - consumed_[queue] >= 1u << kLogSize) return;  // would overrun
    CompletionRecord record = CqBench::completion(queues_[queue]);
    record.opcode = CqeOpcode::kResponderSend;
    record.solicited = random_() % 4 == 0;
    solicited_[queue].push_back(record.solicited);
    bench_.engine->complete(record);
  }
  void arm(std::size_t queue) {
    const bool stale = random_() % 5 == 0;
    const std::uint64_t consumer =
        stale ? consumed_[queue] - std::min<std::uint64_t>(consumed_[queue], random_() % 4) : consumed_[queue];
    const auto sequence = static_cast<std::uint8_t>(sequences_[queue] & 3);
    const bool solicitedOnly = random_() % 3 == 0;
    bench_.calendar.runUntil(bench_.calendar.now() + picoseconds(500));
    bench_.arm(queues_[queue], consumer, sequence, solicitedOnly);
    arms_.push_back({bench_.calendar.now(), queue, true, solicitedOnly, consumer, sequence});
    bench_.calendar.runUntil(bench_.calendar.now() + picoseconds(500));
  }
  /// Takes some of the entries that are in host memory.
  void poll(std::size_t queue) {
    std::uint64_t most = random_() % 6;
    const auto visible = [&](std::uint64_t index) {
      const std::uint8_t opOwn = bench_.dma.memory[CqBench::kRingBase + queue * 4096 + index % 16 * 64 + 63];
      return opOwn != 0 && (opOwn & 1u) == index / 16 % 2;
    };
    while (most-- > 0 && visible(consumed_[queue])) ++consumed_[queue];
    bench_.setConsumerIndex(queues_[queue], static_cast<std::uint32_t>(consumed_[queue]));
  }

  CqBench bench_;
  ArmRule rule_;
  std::mt19937_64 random_;
  std::array<CqNumber, kQueues> queues_;
  std::array<std::uint64_t, kQueues> consumed_{};
  std::array<std::uint8_t, kQueues> sequences_{};
  std::array<std::vector<bool>, kQueues> solicited_;
  std::vector<Happening> arms_;
};

class CqEngineRandom : public testing::TestWithParam<ArmRule> {};
INSTANTIATE_TEST_SUITE_P(Rules, CqEngineRandom,
                         testing::Values(ArmRule::kIbSpec, ArmRule::kCiCompare, ArmRule::kCiCompareOnce,
                                         ArmRule::kCiCompareStaleLoses));

TEST_P(CqEngineRandom, AgreesWithThePlainContract) {
  RandomSchedule schedule(GetParam(), 5);
  schedule.run(100'000);
  EXPECT_EQ(schedule.written(), schedule.completed());
  EXPECT_GT(schedule.recordReads(), 100u) << "rings that look full are part of it";
  const auto expected = schedule.expected();
  EXPECT_GT(expected.size(), 1'000u);
  EXPECT_TRUE(schedule.seen() == expected) << schedule.seen().size() << " events, " << expected.size() << " expected";
}

TEST_P(CqEngineRandom, SameSeedSameTimes) {
  RandomSchedule one(GetParam(), 8);
  RandomSchedule two(GetParam(), 8);
  one.run(5'000);
  two.run(5'000);
  EXPECT_TRUE(one.seen() == two.seen());
}

}  // namespace
}  // namespace hca::adapter
