#include "models/host/sparse_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <vector>

namespace hca::host {
namespace {

TEST(SparseMemory, AlignsZeroesAndNeverOverlaps) {
  SparseMemory memory;
  std::uint64_t end = 0;
  for (std::uint64_t alignment = 1; alignment <= 1 << 20; alignment *= 4) {
    const std::uint64_t length = 3 * alignment / 2 + 1;
    const std::uint64_t address = memory.allocate(length, alignment);
    EXPECT_EQ(address % alignment, 0u);
    EXPECT_GE(address, end);
    end = address + length;
    const std::uint8_t* bytes = memory.direct(address, length);
    ASSERT_NE(bytes, nullptr);
    EXPECT_TRUE(std::all_of(bytes, bytes + length, [](std::uint8_t b) { return b == 0; }));
  }
}

TEST(SparseMemory, AnAccessMayNotLeaveItsAllocation) {
  SparseMemory memory;
  const std::uint64_t first = memory.allocate(64, 64);
  const std::uint64_t second = memory.allocate(64, 64);
  ASSERT_EQ(second, first + 64);
  std::vector<std::uint8_t> bytes(64, 0x5A);
  EXPECT_TRUE(memory.write(first, bytes));
  EXPECT_FALSE(memory.write(first + 1, bytes)) << "crosses into the neighbour";
  EXPECT_FALSE(memory.read(second + 1, bytes));
  EXPECT_FALSE(memory.read(first - 1, bytes));
  EXPECT_EQ(memory.direct(second, 65), nullptr);
  EXPECT_EQ(memory.direct(second, ~std::uint64_t{0}), nullptr);
  EXPECT_EQ(memory.direct(~std::uint64_t{0}, 1), nullptr);
  EXPECT_NE(memory.direct(second, 64), nullptr);
  EXPECT_EQ(*memory.direct(second, 1), 0);
}

TEST(SparseMemory, FreedMemoryIsOutOfReachAndItsAddressNotReused) {
  SparseMemory memory;
  const std::uint64_t first = memory.allocate(100, 8);
  EXPECT_EQ(memory.allocatedBytes(), 100u);
  ASSERT_NE(memory.direct(first, 100), nullptr);
  EXPECT_FALSE(memory.free(first + 8)) << "not the start";
  EXPECT_TRUE(memory.free(first));
  EXPECT_FALSE(memory.free(first));
  EXPECT_EQ(memory.allocatedBytes(), 0u);
  EXPECT_EQ(memory.direct(first, 1), nullptr);
  EXPECT_NE(memory.allocate(100, 8), first);
}

TEST(SparseMemory, RefusesSenselessRequests) {
  SparseMemory memory;
  EXPECT_THROW(memory.allocate(0, 8), std::invalid_argument);
  EXPECT_THROW(memory.allocate(8, 0), std::invalid_argument);
  EXPECT_THROW(memory.allocate(8, 24), std::invalid_argument);
  EXPECT_THROW(memory.allocate(~std::uint64_t{0}, 8), std::bad_alloc);
  EXPECT_THROW(memory.allocate(8, std::uint64_t{1} << 63), std::bad_alloc);
}

// 8 GiB: touching every page would take seconds.
TEST(SparseMemory, UntouchedMemoryCostsNothing) {
  SparseMemory memory;
  const std::uint64_t length = std::uint64_t{1} << 33;
  const std::uint64_t address = memory.allocate(length, 4096);
  std::vector<std::uint8_t> bytes{1, 2, 3};
  EXPECT_TRUE(memory.write(address + length - 3, bytes));
  EXPECT_FALSE(memory.write(address + length - 2, bytes));
}

}  // namespace
}  // namespace hca::host
