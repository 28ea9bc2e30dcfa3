#include "models/host/zeroed_arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

namespace hca::host {
namespace {

bool isZero(const std::uint8_t* bytes, std::size_t length) {
  return std::all_of(bytes, bytes + length, [](std::uint8_t byte) { return byte == 0; });
}

class ZeroedArenaTest : public testing::TestWithParam<ZeroedArena::Pages> {};

TEST_P(ZeroedArenaTest, BlocksAreZeroedApartAndOnCacheLines) {
  std::mt19937 random(4);
  ZeroedArena arena(GetParam(), std::size_t{1} << 20);
  std::map<std::uint8_t*, std::size_t> blocks;
  for (int step = 0; step < 3000; ++step) {
    if (blocks.empty() || random() % 5 < 3) {
      const std::size_t length = 1 + random() % (random() % 20 == 0 ? 100'000 : 5000);
      std::uint8_t* const bytes = arena.allocate(length);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % 64, 0u);
      ASSERT_TRUE(isZero(bytes, length));
      const auto after = blocks.lower_bound(bytes);
      ASSERT_TRUE(after == blocks.end() || bytes + length <= after->first);
      ASSERT_TRUE(after == blocks.begin() || std::prev(after)->first + std::prev(after)->second <= bytes);
      std::memset(bytes, 0xA5, length);
      blocks.emplace(bytes, length);
    } else {
      const auto block = std::next(blocks.begin(), static_cast<std::ptrdiff_t>(random() % blocks.size()));
      ASSERT_EQ(block->first[0], 0xA5);
      ASSERT_EQ(block->first[block->second - 1], 0xA5) << "neither its neighbours' end nor their beginning is its own";
      arena.free(block->first, block->second);
      blocks.erase(block);
    }
  }
  for (const auto& [bytes, length] : blocks) arena.free(bytes, length);
}

TEST_P(ZeroedArenaTest, TakesBlocksLargerThanItsChunks) {
  ZeroedArena arena(GetParam(), 4096);
  const std::size_t length = std::size_t{5} << 20;
  std::uint8_t* const bytes = arena.allocate(length);
  bytes[length - 1] = 1;
  EXPECT_EQ(bytes[0], 0);
  arena.free(bytes, length);
  EXPECT_TRUE(isZero(arena.allocate(100), 100));
}

INSTANTIATE_TEST_SUITE_P(Pages, ZeroedArenaTest,
                         testing::Values(ZeroedArena::Pages::kSmall, ZeroedArena::Pages::kHuge));

}  // namespace
}  // namespace hca::host
