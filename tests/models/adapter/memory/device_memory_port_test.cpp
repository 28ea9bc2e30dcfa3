#include "models/adapter/memory/device_memory_port.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/support/plain_memory.h"

namespace hca::adapter {
namespace {

/// Remembers what it was told, and when.
struct PortClient final : pcie::DmaClient {
  explicit PortClient(kernel::Calendar& ticker) : calendar(ticker) {}
  void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) override {
    ends.push_back({token, status, calendar.now()});
    bytes.assign(data.begin(), data.end());
  }
  void onDmaWritten(std::uint64_t token, host::DmaStatus status) override {
    ends.push_back({token, status, calendar.now()});
  }
  struct End {
    std::uint64_t token;
    host::DmaStatus status;
    Time when;
  };
  kernel::Calendar& calendar;
  std::vector<End> ends;
  std::vector<std::uint8_t> bytes;
};

class DeviceMemoryPortTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kMemory = 8192;

  DeviceMemoryPortTest() {
    std::uint64_t start = 0;
    EXPECT_TRUE(memory_.allocate({DeviceMemory::kFirst, kMemory}, kMemory, 0, start).ok());
  }
  pcie::DmaRead readOf(BusAddress address, std::uint32_t length, std::uint64_t token = 1) {
    pcie::DmaRead read;
    read.address = address;
    read.length = length;
    read.client = &client_;
    read.token = token;
    return read;
  }
  static BusAddress inside(std::uint64_t offset) { return DeviceMemory::busAddress(DeviceMemory::kFirst + offset); }
  void write(BusAddress address, ByteView bytes) {
    pcie::DmaWrite write;
    write.address = address;
    write.data = bytes;
    write.length = static_cast<std::uint32_t>(bytes.size());
    write.client = &client_;
    write.token = 9;
    write.notify = true;
    port_.write(write);
  }
  void run(Time until) { calendar_.runUntil(until); }

  kernel::Calendar calendar_;
  observe::Probes probes_;
  kernel::PayloadPool pool_;
  test::PlainMemory host_{calendar_};
  AdapterContext context_{calendar_,    probes_,        pool_, host_, kernel::ClockDomain(Hertz(1'000'000'000)),
                          HostIndex(0), AdapterIndex(0)};
  MemoryConfig config_;
  DeviceMemory memory_{Bytes(kMemory)};
  DeviceMemoryPort port_{context_, config_, memory_};
  PortClient client_{calendar_};
};

TEST_F(DeviceMemoryPortTest, TakesLatencyAndWidth) {
  config_.deviceMemoryLatency = Cycles(40);
  config_.deviceMemoryWidth = Bytes(32);
  port_.read(readOf(inside(0), 64));
  run(nanoseconds(42) - Time(1));
  EXPECT_TRUE(client_.ends.empty());
  run(nanoseconds(42));
  ASSERT_EQ(client_.ends.size(), 1U);
  EXPECT_EQ(client_.ends[0].status, host::DmaStatus::kOk);
  EXPECT_EQ(client_.bytes.size(), 64U);
  EXPECT_TRUE(host_.reads.empty());
}

TEST_F(DeviceMemoryPortTest, OneAccessAtATime) {
  config_.deviceMemoryLatency = Cycles(10);
  config_.deviceMemoryWidth = Bytes(32);
  port_.read(readOf(inside(0), 3200, 1));  // 100 cycles
  port_.read(readOf(inside(0), 1, 2));     // one, behind it
  run(microseconds(1));
  ASSERT_EQ(client_.ends.size(), 2U);
  EXPECT_EQ(client_.ends[0].when, nanoseconds(110));
  EXPECT_EQ(client_.ends[1].when, nanoseconds(111));
}

TEST_F(DeviceMemoryPortTest, DeliversLaterIfTheStageTakesTime) {
  pcie::DmaRead read = readOf(inside(0), 32);
  read.deliverAfter = nanoseconds(5);
  port_.read(read);
  run(microseconds(1));
  EXPECT_EQ(client_.ends.at(0).when, nanoseconds(1 + 40 + 5));
}

TEST_F(DeviceMemoryPortTest, ReadsWhatWasWrittenBefore) {
  const std::uint8_t bytes[] = {1, 2, 3, 4};
  write(inside(100), {bytes, sizeof bytes});
  port_.read(readOf(inside(100), 4));
  run(microseconds(1));
  EXPECT_EQ(client_.bytes, std::vector<std::uint8_t>({1, 2, 3, 4}));
  EXPECT_EQ(client_.ends.size(), 2U);
  EXPECT_TRUE(host_.writes.empty());
  EXPECT_EQ(port_.bytes(), 8U);
}

TEST_F(DeviceMemoryPortTest, TimingAloneMovesNothing) {
  pcie::DmaRead read = readOf(inside(0), 16);
  read.timingOnly = true;
  port_.read(read);
  pcie::DmaWrite nothing;
  nothing.address = inside(0);
  nothing.length = 16;
  port_.write(nothing);
  run(microseconds(1));
  EXPECT_EQ(client_.ends.at(0).status, host::DmaStatus::kOk);
  EXPECT_TRUE(client_.bytes.empty());
}

TEST_F(DeviceMemoryPortTest, BeyondTheEndFails) {
  port_.read(readOf(inside(kMemory - 4), 8));
  const std::uint8_t bytes[8] = {};
  write(inside(kMemory - 4), {bytes, sizeof bytes});
  run(microseconds(1));
  ASSERT_EQ(client_.ends.size(), 2U);
  for (const auto& end : client_.ends) EXPECT_EQ(end.status, host::DmaStatus::kUnmapped);
}

TEST_F(DeviceMemoryPortTest, EverythingElseGoesToTheHost) {
  const std::uint8_t bytes[] = {5};
  write(BusAddress(0x1000), {bytes, sizeof bytes});
  port_.read(readOf(BusAddress(0x1000), 1));
  port_.message(BusAddress(0x2000), 3);
  run(microseconds(1));
  EXPECT_EQ(client_.bytes, std::vector<std::uint8_t>({5}));
  EXPECT_EQ(host_.messages, 1);
  EXPECT_EQ(port_.bytes(), 0U);
}

TEST_F(DeviceMemoryPortTest, AResetSwallowsWhatIsUnderWay) {
  port_.read(readOf(inside(0), 64));
  port_.reset();
  run(microseconds(1));
  EXPECT_TRUE(client_.ends.empty());
}

}  // namespace
}  // namespace hca::adapter
