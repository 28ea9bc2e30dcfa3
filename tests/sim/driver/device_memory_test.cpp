// Device memory as the driver role lends it to its clients.
#include <gtest/gtest.h>

#include <vector>

#include "models/wire/mmio_map.h"
#include "tests/sim/driver/two_hosts.h"

namespace hca::test {
namespace {

using adapter::CommandStatus;
using driver::Answer;

constexpr std::uint32_t kMemicPages = 4;

class SilentClient final : public driver::DriverClient {
  void onCompletionEvent(CqNumber, host::Core&) override {}
  void onAsyncEvent(std::uint8_t, std::uint8_t, std::uint32_t, std::uint8_t) override {}
};

struct DeviceMemoryOfDriver : testing::Test {
  Answer<std::uint64_t> allocate(OwnerId who, std::uint64_t length, unsigned logAlignment = 0) {
    return hosts.await<Answer<std::uint64_t>>(
        [&](auto done) { driver.allocateDeviceMemory(who, length, logAlignment, done); });
  }
  CommandStatus free(OwnerId who, std::uint64_t start) {
    return hosts.await<Answer<int>>([&](auto done) { driver.freeDeviceMemory(who, start, done); }).result.status;
  }
  MemoryKey keyOf(std::uint64_t start, std::uint64_t length) {
    adapter::MkeyAttributes key;
    key.mode = adapter::MkeyMode::kDeviceMemory;
    key.pd = hosts.await<Answer<PdNumber>>([&](auto done) { driver.allocatePd(owner, done); }).value;
    key.start = start;
    key.length = length;
    const auto answer = hosts.await<Answer<MemoryKey>>([&](auto done) { driver.createMkey(owner, key, done); });
    EXPECT_TRUE(answer.ok());
    return answer.value;
  }
  std::uint64_t used() { return hosts.system().host(0).adapter().hca().deviceMemory().used(); }

  TwoHosts hosts{[](config::Config& config) {
    config.allHosts.adapter.memory.deviceMemory = Bytes(std::int64_t{kMemicPages} * 4096);
  }};
  driver::KernelDriver& driver = hosts.driver(0);
  SilentClient client;
  OwnerId owner = driver.addClient(client, "one");
  OwnerId other = driver.addClient(client, "other");
};

TEST_F(DeviceMemoryOfDriver, TheDriverKnowsHowMuchThereIs) {
  const driver::DeviceMemoryLimits& limits = driver.capabilities().deviceMemory;
  EXPECT_EQ(limits.start, wire::kDeviceMemoryOffset);
  EXPECT_EQ(limits.size, kMemicPages * 4096);
  EXPECT_EQ(limits.maxAllocation, kMemicPages * 4096);
}

TEST_F(DeviceMemoryOfDriver, PiecesHavePagesOfTheirOwn) {
  const auto first = allocate(owner, 4), second = allocate(other, 4097), third = allocate(owner, 4096);
  EXPECT_EQ(first.value, wire::kDeviceMemoryOffset);
  EXPECT_EQ(second.value, wire::kDeviceMemoryOffset + 4096);
  EXPECT_EQ(third.value, wire::kDeviceMemoryOffset + 3 * 4096);
  EXPECT_EQ(used(), 64U + 4160U + 4096U) << "whole units of 64 bytes";
  EXPECT_EQ(allocate(owner, 4).result.status, CommandStatus::kExceedLimit);
  EXPECT_EQ(free(other, second.value), CommandStatus::kOk);
  EXPECT_EQ(allocate(owner, 8192).value, second.value);
}

TEST_F(DeviceMemoryOfDriver, RefusesWhatCannotBe) {
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{kMemicPages} * 4096 + 1, ~std::uint64_t{0}}) {
    EXPECT_EQ(allocate(owner, length).result.status, CommandStatus::kBadParameter);
  }
  EXPECT_TRUE(allocate(owner, 64, 12).ok());
  EXPECT_EQ(allocate(owner, 64, 13).result.status, CommandStatus::kBadParameter);
}

TEST_F(DeviceMemoryOfDriver, OthersCannotFreeIt) {
  const std::uint64_t start = allocate(owner, 64).value;
  EXPECT_EQ(free(other, start), CommandStatus::kBadResource);
  EXPECT_EQ(free(owner, start), CommandStatus::kOk);
  EXPECT_EQ(free(owner, start), CommandStatus::kBadResource);
}

TEST_F(DeviceMemoryOfDriver, KeysKeepItAndGoWithTheirOwner) {
  const std::uint64_t start = allocate(owner, 4096).value;
  (void)keyOf(start, 4096);
  EXPECT_EQ(free(owner, start), CommandStatus::kResourceBusy);
  bool isReleased = false;
  driver.releaseOwner(owner, [&] { isReleased = true; });
  hosts.run();
  EXPECT_TRUE(isReleased);
  EXPECT_EQ(used(), 0U);
  EXPECT_TRUE(allocate(other, std::uint64_t{kMemicPages} * 4096).ok());
}

TEST_F(DeviceMemoryOfDriver, TheProcessorReachesItThroughTheLink) {
  const std::uint64_t start = allocate(owner, 4096).value;
  const std::vector<std::uint8_t> bytes{0xDE, 0xAD, 0xBE, 0xEF};
  pcie::PciFunction& function = hosts.system().host(0).adapter().environment().function;
  function.barWrite(0, start + 4092, bytes);
  std::vector<std::uint8_t> back;
  function.barRead(0, start + 4092, 4, [&](ByteView found) { back.assign(found.begin(), found.end()); });
  hosts.run();
  EXPECT_EQ(back, bytes);
}

}  // namespace
}  // namespace hca::test
