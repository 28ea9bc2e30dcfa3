#include "models/adapter/memory/device_memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace hca::adapter {
namespace {

constexpr std::uint32_t kMemory = 16384;
constexpr std::uint64_t kStart = DeviceMemory::kFirst;
constexpr DeviceMemory::Range kWhole{kStart, kMemory};

class DeviceMemoryTest : public testing::Test {
 protected:
  CommandResult allocate(std::uint32_t length, std::uint64_t& start, DeviceMemory::Range range = kWhole,
                         unsigned logAlignment = 0) {
    return memory_.allocate(range, length, logAlignment, start);
  }
  std::uint64_t place(std::uint32_t length, DeviceMemory::Range range = kWhole, unsigned logAlignment = 0) {
    std::uint64_t start = 0;
    EXPECT_TRUE(allocate(length, start, range, logAlignment).ok());
    return start;
  }
  void expectRefused(std::uint32_t length, CommandStatus status, Syndrome syndrome, DeviceMemory::Range range = kWhole,
                     unsigned logAlignment = 0) {
    std::uint64_t start = 7;
    const CommandResult result = allocate(length, start, range, logAlignment);
    EXPECT_EQ(result.status, status);
    EXPECT_EQ(result.syndrome, syndrome);
    EXPECT_EQ(start, 7U);
  }
  DeviceMemory memory_{Bytes(kMemory)};
};

TEST_F(DeviceMemoryTest, FillsFromTheFrontAndWhatIsFreedComesBack) {
  const std::uint64_t first = place(64), second = place(4096), third = place(64);
  EXPECT_EQ(first, kStart);
  EXPECT_EQ(second, kStart + 64);
  EXPECT_EQ(third, kStart + 64 + 4096);
  EXPECT_EQ(memory_.used(), 4096U + 128U);
  EXPECT_TRUE(memory_.free(second, 4096).ok());
  EXPECT_EQ(place(4160), third + 64) << "the gap is too small by one unit";
  EXPECT_EQ(place(4096), second);
}

TEST_F(DeviceMemoryTest, AllOfItAndNotAByteMore) {
  EXPECT_EQ(place(kMemory), kStart);
  expectRefused(64, CommandStatus::kNoResources, Syndrome::kDeviceMemoryFull);
  EXPECT_TRUE(memory_.free(kStart, kMemory).ok());
  EXPECT_EQ(memory_.used(), 0U);
  expectRefused(kMemory + 64, CommandStatus::kBadParameter, Syndrome::kDeviceMemorySizeBad);
}

TEST_F(DeviceMemoryTest, AlignsByUnitsOf64Bytes) {
  EXPECT_EQ(place(64), kStart);
  EXPECT_EQ(place(64, kWhole, 2), kStart + 256);
  EXPECT_EQ(place(64, kWhole, DeviceMemory::kLogMaxAlignment), kStart + 4096);
  EXPECT_EQ(place(64), kStart + 64) << "the gap in front is used";
  expectRefused(64, CommandStatus::kBadParameter, Syndrome::kDeviceMemoryAlignmentBad, kWhole,
                DeviceMemory::kLogMaxAlignment + 1);
}

TEST_F(DeviceMemoryTest, StaysWithinTheRange) {
  EXPECT_EQ(place(64, {kStart + 8192, 4096}), kStart + 8192);
  EXPECT_EQ(place(4032, {kStart + 8192, 4096}), kStart + 8256);
  expectRefused(64, CommandStatus::kNoResources, Syndrome::kDeviceMemoryFull, {kStart + 8192, 4096});
  const auto bad = Syndrome::kDeviceMemoryRangeBad;
  expectRefused(64, CommandStatus::kBadParameter, bad, {kStart - 4096, 4096});
  expectRefused(64, CommandStatus::kBadParameter, bad, {kStart + 4096, kMemory});
  expectRefused(64, CommandStatus::kBadParameter, bad, {kStart + 64, ~std::uint64_t{0} - 32});
  expectRefused(64, CommandStatus::kBadParameter, bad, {~std::uint64_t{0}, 64});
}

TEST_F(DeviceMemoryTest, SizesAreWholeUnits) {
  for (const std::uint32_t length : {0U, 1U, 63U, 65U}) {
    expectRefused(length, CommandStatus::kBadParameter, Syndrome::kDeviceMemorySizeBad);
  }
}

TEST_F(DeviceMemoryTest, FreesWhatWasAllocatedAndNothingElse) {
  const std::uint64_t start = place(128);
  EXPECT_EQ(memory_.free(start, 64).syndrome, Syndrome::kUnknownDeviceMemory);
  EXPECT_EQ(memory_.free(start + 64, 64).syndrome, Syndrome::kUnknownDeviceMemory);
  memory_.hold(start + 100);
  EXPECT_EQ(memory_.free(start, 128).status, CommandStatus::kResourceBusy);
  memory_.drop(start + 100);
  EXPECT_TRUE(memory_.free(start, 128).ok());
  EXPECT_EQ(memory_.free(start, 128).status, CommandStatus::kBadResource);
}

TEST_F(DeviceMemoryTest, KnowsWhatLiesWithinOneAllocation) {
  const std::uint64_t first = place(64);
  (void)place(64);
  EXPECT_TRUE(memory_.isAllocated(first, 64));
  EXPECT_TRUE(memory_.isAllocated(first + 63, 1));
  EXPECT_FALSE(memory_.isAllocated(first, 65)) << "a neighbour's";
  EXPECT_FALSE(memory_.isAllocated(first + 1, ~std::uint64_t{0}));
  EXPECT_FALSE(memory_.isAllocated(first + 128, 1));
  EXPECT_FALSE(memory_.isAllocated(kStart - 1, 1));
}

TEST_F(DeviceMemoryTest, HoldsBytesUpToItsEnd) {
  const std::vector<std::uint8_t> bytes{1, 2, 3, 4, 5, 6, 7, 8}, nothing(8);
  std::vector<std::uint8_t> back(8);
  memory_.write(kStart, bytes);
  memory_.read(kStart, back);
  EXPECT_EQ(back[0], 0) << "nobody has any of it";
  (void)place(kMemory);
  memory_.write(kStart + kMemory - 4, bytes);
  back.assign(8, 0xFF);
  memory_.read(kStart + kMemory - 4, back);
  EXPECT_EQ(back, (std::vector<std::uint8_t>{1, 2, 3, 4, 0, 0, 0, 0}));
  EXPECT_EQ(memory_.view(kStart + kMemory - 4, 4).size(), 4U);
  EXPECT_TRUE(memory_.view(kStart + kMemory - 4, 5).empty());
  memory_.write(kStart - 1, bytes);
  memory_.write(kStart + kMemory, bytes);
  memory_.reset();
  memory_.read(kStart + kMemory - 4, back);
  EXPECT_EQ(back, nothing);
  EXPECT_EQ(memory_.used(), 0U);
}

}  // namespace
}  // namespace hca::adapter
