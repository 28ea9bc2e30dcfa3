// In a steady state the link allocates nothing. An executable of its own: it replaces the allocator.
#include "tests/models/pcie/pcie_system.h"
#include "tests/support/counting_allocator.h"

namespace hca::pcie::test {
namespace {

using hca::test::allocations;

struct Quiet final : BarTarget, DmaClient, InterruptSink {
  void onBarWrite(unsigned, std::uint64_t, ByteView) override {}
  void onBarRead(unsigned, std::uint64_t, MutableByteView) override {}
  void onReset() override {}
  void onDmaRead(std::uint64_t, host::DmaStatus, ByteView) override { ++reads; }
  void onDmaWritten(std::uint64_t, host::DmaStatus) override { ++writes; }
  void onInterrupt(InterruptVector) override {}
  std::size_t reads = 0, writes = 0;
};

// Issues a round of everything each 100 us: with scarce credits it takes most of that.
class Load final : private kernel::CalendarClient {
 public:
  Load(PcieSystem& system, Quiet& quiet, int rounds) : system_(system), quiet_(quiet), left_(rounds) {
    data_ = pattern(5000);
    onCalendar(0);
  }
  std::size_t allocationsWhenWarm = 0;

 private:
  static constexpr int kWarmRounds = 100;  // before the end

  void onCalendar(std::uint64_t) override {
    if (left_ == kWarmRounds) allocationsWhenWarm = allocations;
    if (left_-- == 0) return;
    for (const std::uint32_t length : {64U, 5000U}) {
      DmaRead read;
      read.address = system_.at(0);
      read.length = length;
      read.client = &quiet_;
      system_.endpoint.read(read);
      DmaWrite write;
      write.address = system_.at(8192);
      write.data = {data_.data(), length};
      write.length = length;
      write.client = &quiet_;
      write.notify = true;
      system_.endpoint.write(write);
    }
    system_.endpoint.message(BusAddress(0xFEE00000), 1);
    system_.rootComplex.barWrite(0, 0, {data_.data(), 64});
    system_.rootComplex.barRead(0, 0, 8, [](ByteView) {});
    system_.calendar.schedule(system_.calendar.now() + microseconds(100), kernel::Priority::kSoftware, *this, 0);
  }

  PcieSystem& system_;
  Quiet& quiet_;
  int left_;
  std::vector<std::uint8_t> data_;
};

void expectNoAllocation(const PcieConfig& config) {
  PcieSystem system(config);
  Quiet quiet;
  system.endpoint.setBarTarget(quiet);
  system.rootComplex.setInterruptSink(&quiet);
  Load load(system, quiet, 300);
  system.module.wake();
  sc_core::sc_start();
  EXPECT_EQ(quiet.reads, 600U);
  EXPECT_EQ(quiet.writes, 600U);
  EXPECT_GT(load.allocationsWhenWarm, 0U);
  // The end of the simulation itself may take a few.
  EXPECT_LE(allocations - load.allocationsWhenWarm, 2U);
}

TEST(Allocation, NoneInASteadyState) { expectNoAllocation({}); }

TEST(Allocation, NoneWhileCreditsAndTagsAreScarce) {
  PcieConfig config;
  config.tags = 4;
  config.upstreamCredits = {2, 16, 2, 1, 1, 1};
  config.downstreamCredits = {1, 4, 1, 1, 1, 1};
  expectNoAllocation(config);
}

}  // namespace
}  // namespace hca::pcie::test
