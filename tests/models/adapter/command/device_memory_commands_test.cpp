// ALLOC_MEMIC and DEALLOC_MEMIC through the command queue.
#include "models/wire/device_memory.h"

#include "tests/models/adapter/command/command_fixture.h"

namespace hca::adapter::test {
namespace {

using wire::CommandOpcode;

constexpr std::uint32_t kMemic = 8192;

class DeviceMemoryCommandsTest : public CommandFixture {
 protected:
  DeviceMemoryCommandsTest() : CommandFixture(identity(), Bytes(kMemic)) { bringUp(); }

  Reply allocateMemory(std::uint64_t range, std::uint32_t rangeSize, std::uint32_t size) {
    using Input = wire::AllocDeviceMemoryInput;
    auto input = makeInput(CommandOpcode::kAllocDeviceMemory, Input::kSize);
    Input::RangeStart::set(input, range);
    Input::RangeSize::set(input, rangeSize);
    Input::Size::set(input, size);
    return issue(input, wire::AllocDeviceMemoryOutput::kSize);
  }
  Reply freeMemory(std::uint64_t start, std::uint32_t size) {
    using Input = wire::DeallocDeviceMemoryInput;
    auto input = makeInput(CommandOpcode::kDeallocDeviceMemory, Input::kSize);
    Input::Start::set(input, start);
    Input::Size::set(input, size);
    return issue(input);
  }
};

TEST_F(DeviceMemoryCommandsTest, TheCapabilitiesSayWhatThereIs) {
  const Reply general = issue(makeInput(CommandOpcode::kQueryHcaCapabilities, 16, 1), 0x1010);
  EXPECT_TRUE(wire::HcaCapabilities::DeviceMemory::get(wire::QueryHcaCapOutput::General::view(general.output)));
  const Reply reply = issue(makeInput(CommandOpcode::kQueryHcaCapabilities, 16, 15 << 1 | 1), 0x1010);
  ASSERT_TRUE(reply.ok());
  // By hand: mlx5_ifc_device_mem_cap_bits.
  EXPECT_EQ(reply.output[16] & 0x80, 0x80) << "memic";
  EXPECT_EQ(reply.output[16 + 5] & 0x1F, 6) << "log_min_memic_alloc_size";
  EXPECT_EQ(reply.output[16 + 7], 6) << "log_max_memic_addr_alignment";
  EXPECT_EQ(wire::loadBigEndian<std::uint64_t>(&reply.output[16 + 8]), wire::kDeviceMemoryOffset);
  EXPECT_EQ(wire::loadBigEndian<std::uint32_t>(&reply.output[16 + 0x10]), kMemic) << "memic_bar_size";
  EXPECT_EQ(wire::loadBigEndian<std::uint32_t>(&reply.output[16 + 0x14]), kMemic) << "max_memic_size";
}

TEST_F(DeviceMemoryCommandsTest, GivesAndTakesBack) {
  const Reply reply = allocateMemory(wire::kDeviceMemoryOffset + 4096, 4096, 128);
  ASSERT_TRUE(reply.ok());
  const std::uint64_t start = wire::AllocDeviceMemoryOutput::Start::get(reply.output);
  EXPECT_EQ(start, wire::kDeviceMemoryOffset + 4096);
  expectRefusal(allocateMemory(wire::kDeviceMemoryOffset + 4096, 4096, 4096), CommandStatus::kNoResources,
                Syndrome::kDeviceMemoryFull);
  expectRefusal(freeMemory(start, 64), CommandStatus::kBadResource, Syndrome::kUnknownDeviceMemory);
  EXPECT_TRUE(freeMemory(start, 128).ok());
  EXPECT_TRUE(allocateMemory(wire::kDeviceMemoryOffset + 4096, 4096, 4096).ok());
}

TEST_F(DeviceMemoryCommandsTest, TeardownFreesIt) {
  ASSERT_TRUE(allocateMemory(wire::kDeviceMemoryOffset, kMemic, kMemic).ok());
  ASSERT_TRUE(issue(makeInput(CommandOpcode::kTeardownHca)).ok());
  EXPECT_EQ(deviceMemory_.used(), 0U);
}

}  // namespace
}  // namespace hca::adapter::test
