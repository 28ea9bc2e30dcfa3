// Random schedules against a reference that looks at one TLP at a time: whatever the link commits ahead of its time
// must be what it would have done had it waited.
#include <memory>
#include <random>
#include <tuple>

#include "tests/models/pcie/pcie_system.h"
#include "tests/models/pcie/slow_reference.h"

namespace hca::pcie::test {
namespace {

enum class Shape { kInfiniteCredits, kFewCredits, kFewTags, kSlowMemory };

PcieConfig configOf(Shape shape) {
  PcieConfig config;
  config.width = LinkWidth::kX8;
  if (shape == Shape::kFewCredits) {
    config.upstreamCredits = {3, 40, 2, 0, 1, 4};
    config.downstreamCredits = {2, 4, 1, 0, 0, 0};
  }
  if (shape == Shape::kFewTags) config.tags = 5;
  if (shape == Shape::kSlowMemory) config.hostReadBandwidth = BitsPerSecond(30'000'000'000);
  return config;
}

// Bursts of activity with pauses, and now and then several things at the same picosecond.
std::vector<Operation> scheduleOf(unsigned seed, std::uint64_t base) {
  std::mt19937_64 random(seed);
  std::vector<Operation> operations;
  std::int64_t time = 1;
  const std::int64_t pauses[] = {0, 0, 3'000, 40'000, 40'000, 700'000};
  for (int i = 0; i < 3000; ++i) {
    time += pauses[random() % 6] == 0
                ? 0
                : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(pauses[random() % 4 + 2]));
    Operation operation;
    operation.time = time;
    operation.kind = static_cast<Operation::Kind>(random() % 5);
    operation.address = base + random() % (PcieSystem::kMemory - 8192);
    const std::uint32_t small = 1 + static_cast<std::uint32_t>(random() % 128);
    operation.length = random() % 4 == 0 ? 1 + static_cast<std::uint32_t>(random() % 6000) : small;
    const bool isRegister = operation.kind >= Operation::Kind::kRegisterWrite;
    if (isRegister) operation.address = 8 * (random() % 1000);
    if (isRegister) operation.length = 8;
    if (operation.kind == Operation::Kind::kMessage) operation.length = 4;
    operations.push_back(operation);
  }
  return operations;
}

// Issues a schedule from within the calendar, and notes when each operation is over.
class Player final : private kernel::CalendarClient, private DmaClient {
 public:
  Player(PcieSystem& system, const std::vector<Operation>& operations)
      : system_(system), operations_(operations), data_(pattern(8192)) {
    done.assign(operations.size(), -1);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      system.calendar.schedule(picoseconds(operations[i].time), kernel::Priority::kSoftware, *this, i);
    }
  }
  std::vector<std::int64_t> done;

 private:
  [[nodiscard]] std::int64_t now() const { return system_.calendar.now().count(); }
  void onDmaRead(std::uint64_t token, host::DmaStatus, ByteView) override { done[token] = now(); }
  void onDmaWritten(std::uint64_t token, host::DmaStatus) override { done[token] = now(); }
  void onCalendar(std::uint64_t index) override {
    const Operation& operation = operations_[index];
    if (operation.kind == Operation::Kind::kRead) {
      DmaRead read;
      read.address = BusAddress(operation.address);
      read.length = operation.length;
      read.client = this;
      read.token = index;
      system_.endpoint.read(read);
    } else if (operation.kind == Operation::Kind::kWrite) {
      DmaWrite write;
      write.address = BusAddress(operation.address);
      write.data = {data_.data(), operation.length};
      write.length = operation.length;
      write.notify = true;
      write.client = this;
      write.token = index;
      system_.endpoint.write(write);
    } else if (operation.kind == Operation::Kind::kMessage) {
      messages_.push_back(index);
      system_.endpoint.message(BusAddress(0xFEE00000), 0);
    } else if (operation.kind == Operation::Kind::kRegisterWrite) {
      registerWrites_.push_back(index);
      system_.rootComplex.barWrite(0, operation.address, {data_.data(), operation.length});
    } else {
      system_.rootComplex.barRead(0, operation.address, operation.length,
                                  [this, index](ByteView) { done[index] = now(); });
    }
  }

 public:
  // Messages and register writes are recorded by their receivers, in order.
  void collect() {
    ASSERT_EQ(messages_.size(), system_.messages.arrived.size());
    ASSERT_EQ(registerWrites_.size(), system_.registers.writes.size());
    for (std::size_t i = 0; i < messages_.size(); ++i) done[messages_[i]] = system_.messages.arrived[i].time.count();
    for (std::size_t i = 0; i < registerWrites_.size(); ++i) {
      done[registerWrites_[i]] = system_.registers.writes[i].time.count();
    }
  }

 private:
  PcieSystem& system_;
  const std::vector<Operation>& operations_;
  std::vector<std::uint8_t> data_;
  std::vector<std::size_t> messages_, registerWrites_;
};

using Parameter = std::tuple<Shape, Time, unsigned>;
class RandomSchedule : public testing::TestWithParam<Parameter> {};

// Every quantum gives what the reference gives, so all give the same.
TEST_P(RandomSchedule, AgreesWithTheSlowReference) {
  const auto [shape, quantum, seed] = GetParam();
  const PcieConfig config = configOf(shape);
  PcieSystem system(config, quantum);
  const std::vector<Operation> operations = scheduleOf(seed, system.base.value());
  Player player(system, operations);
  system.module.wake();
  sc_core::sc_start();
  player.collect();

  const std::uint32_t burstReads = shape == Shape::kFewCredits ? 1 : 1000;
  SlowReference reference(config, system.link.timing().usableRate().count(), burstReads);
  const std::vector<std::int64_t> expected = reference.run(operations);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    ASSERT_EQ(player.done[i], expected[i])
        << "operation " << i << " of kind " << static_cast<int>(operations[i].kind) << " issued at "
        << operations[i].time << ", " << operations[i].length << " bytes";
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, RandomSchedule,
                         testing::Combine(testing::Values(Shape::kInfiniteCredits, Shape::kFewCredits, Shape::kFewTags,
                                                          Shape::kSlowMemory),
                                          testing::Values(Time(), microseconds(10)), testing::Values(1U, 2U, 3U)));

}  // namespace
}  // namespace hca::pcie::test
