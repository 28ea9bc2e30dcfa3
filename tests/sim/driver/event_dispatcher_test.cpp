#include "sim/driver/event_dispatcher.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/observe/probes.h"
#include "tests/sim/driver/fake_function.h"

namespace hca::driver {
namespace {

/// One vector on core 1, one queue of 256 entries whose UAR page is number 70.
class EventDispatcherTest : public testing::Test, public EventTarget {
 protected:
  static constexpr unsigned kLogSize = 8;

  EventDispatcherTest() {
    ring_.initialise();
    dispatcher_.add(EqNumber(5), InterruptVector(1), UarIndex(70), ring_);
    function_.writes.clear();
  }
  void onCompletionEntry(CqNumber cq, host::Core& core) override {
    EXPECT_EQ(&core, &cpu_.core(1));
    note("cq " + std::to_string(cq.value()));
  }
  void onCommandEntry(std::uint32_t slots) override { note("command " + std::to_string(slots)); }
  void onPageRequestEntry(std::uint16_t function, std::int32_t pages) override {
    note("pages " + std::to_string(function) + ' ' + std::to_string(pages));
  }
  void onAsyncEntry(const wire::Eqe& eqe) override { note("async " + std::to_string(eqe.type)); }
  void note(std::string text) {
    seen_.push_back(std::move(text));
    times_.push_back(calendar_.now());
  }

  /// The adapter's next entry, byte by byte.
  void produce(std::uint8_t type, std::size_t offset, std::uint32_t value) {
    std::uint8_t* entry = buffer_.bytes + (produced_ % 256) * 64;
    std::memset(entry, 0, 63);
    entry[1] = type;
    for (int i = 0; i < 4; ++i) entry[offset + i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
    entry[63] = static_cast<std::uint8_t>(produced_ / 256 & 1);
    ++produced_;
  }
  void produceCompletion(std::uint32_t cq) { produce(0x00, 0x38, cq); }
  void run() {
    while (!calendar_.empty()) calendar_.step();
  }
  /// Offset and big-endian value of the register writes since the set-up.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint32_t>> doorbells() const {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> all;
    for (const auto& write : function_.writes) {
      EXPECT_EQ(write.bytes.size(), 4U);
      all.emplace_back(write.offset - 70 * 4096, wire::loadBigEndian<std::uint32_t>(write.bytes.data()));
    }
    return all;
  }

  kernel::Calendar calendar_;
  observe::Probes probes_;
  host::BusAddressSpace space_;
  test::FakeFunction function_;
  host::CpuConfig costs_ = [] {
    host::CpuConfig costs;
    costs.cores = 4;
    return costs;
  }();
  host::InterruptController interrupts_{calendar_, probes_, HostIndex(0), Time()};
  host::Cpu cpu_{calendar_, costs_};
  DriverEnvironment environment_{calendar_, function_, space_, interrupts_, cpu_, HostIndex(0), AdapterIndex(0)};
  DmaMemory memory_{space_, "driver"};
  DmaBuffer buffer_ = memory_.allocate(256 * 64);
  EventRing ring_{buffer_, kLogSize};
  EventDispatcher dispatcher_{environment_, *this};
  std::vector<std::string> seen_;
  std::vector<Time> times_;
  std::uint32_t produced_ = 0;
};

TEST_F(EventDispatcherTest, EachEntryAfterItsCostAndTheArmAtTheEnd) {
  produceCompletion(7);
  produceCompletion(8);
  dispatcher_.onInterrupt(InterruptVector(1));
  run();
  EXPECT_EQ(seen_, (std::vector<std::string>{"cq 7", "cq 8"}));
  EXPECT_EQ(times_[0], costs_.interruptEntry + costs_.eqeHandling);
  EXPECT_EQ(times_[1], costs_.interruptEntry + costs_.eqeHandling * 2);
  EXPECT_EQ(doorbells(), (std::vector<std::pair<std::uint64_t, std::uint32_t>>{{0x40, 0x05000002}}));
}

TEST_F(EventDispatcherTest, NotDispatchedBeforeItsCostHasPassed) {
  produceCompletion(7);
  dispatcher_.onInterrupt(InterruptVector(1));
  calendar_.runUntil(costs_.interruptEntry + costs_.eqeHandling - picoseconds(1));
  EXPECT_TRUE(seen_.empty());
  calendar_.runUntil(costs_.interruptEntry + costs_.eqeHandling);
  EXPECT_EQ(seen_.size(), 1U);
}

TEST_F(EventDispatcherTest, EntriesThatComeMeanwhileAreTakenInTheSameInterrupt) {
  produceCompletion(1);
  dispatcher_.onInterrupt(InterruptVector(1));
  calendar_.runUntil(costs_.interruptEntry);
  produceCompletion(2);
  run();
  EXPECT_EQ(seen_.size(), 2U);
  EXPECT_EQ(function_.writes.size(), 1U);
}

TEST_F(EventDispatcherTest, InterruptWithoutAnEntryArmsAgain) {
  dispatcher_.onInterrupt(InterruptVector(1));
  run();
  EXPECT_TRUE(seen_.empty());
  EXPECT_EQ(doorbells(), (std::vector<std::pair<std::uint64_t, std::uint32_t>>{{0x40, 0x05000000}}));
}

TEST_F(EventDispatcherTest, ConsumerIndexIsRefreshedEvery128Entries) {
  for (std::uint32_t cq = 0; cq < 255; ++cq) produceCompletion(cq);
  dispatcher_.onInterrupt(InterruptVector(1));
  run();
  EXPECT_EQ(seen_.size(), 255U);
  EXPECT_EQ(doorbells(),
            (std::vector<std::pair<std::uint64_t, std::uint32_t>>{{0x48, 0x05000080}, {0x40, 0x050000FF}}));
}

TEST_F(EventDispatcherTest, OwnerBitTurnsWithEachPass) {
  for (int round = 0; round < 7; ++round) {
    for (std::uint32_t cq = 0; cq < 100; ++cq) produceCompletion(cq);
    dispatcher_.onInterrupt(InterruptVector(1));
    run();
    ASSERT_EQ(seen_.size(), 100U) << round;
    seen_.clear();
  }
}

TEST_F(EventDispatcherTest, EveryTypeGoesToItsPlace) {
  produce(0x0A, 0x20, 0x80000001);
  produce(0x0B, 0x24, 0xFFFFFFF0);
  produce(0x04, 0x20, 3);
  produce(0x09, 0x28, 0x10000000);
  dispatcher_.onInterrupt(InterruptVector(1));
  run();
  EXPECT_EQ(seen_, (std::vector<std::string>{"command 2147483649", "pages 0 -16", "async 4", "async 9"}));
}

TEST_F(EventDispatcherTest, RemovedQueueIsNotReadAnyMore) {
  produceCompletion(1);
  dispatcher_.onInterrupt(InterruptVector(1));
  calendar_.runUntil(costs_.interruptEntry);  // its first entry is paid for
  dispatcher_.remove(EqNumber(5));
  run();
  EXPECT_TRUE(seen_.empty());
  EXPECT_TRUE(function_.writes.empty());
  dispatcher_.onInterrupt(InterruptVector(9));  // a vector without queues
  run();
}

}  // namespace
}  // namespace hca::driver
