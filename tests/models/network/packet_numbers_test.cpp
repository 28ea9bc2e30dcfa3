#include "models/network/packet_numbers.h"

#include <gtest/gtest.h>

#include <vector>

namespace hca::network {
namespace {

std::vector<std::uint64_t> members(std::string_view text, std::uint64_t last = 30) {
  const auto numbers = PacketNumbers::parse(text);
  EXPECT_TRUE(numbers.has_value()) << text;
  std::vector<std::uint64_t> found;
  for (std::uint64_t n = 0; n <= last; ++n) {
    if (numbers && numbers->contains(n)) found.push_back(n);
  }
  return found;
}

using PositionList = std::vector<std::uint64_t>;

TEST(PacketNumbers, ReadsNumbersAndRangesInAnyOrder) {
  EXPECT_EQ(members("3"), PositionList({3}));
  EXPECT_EQ(members("10-12, 3"), PositionList({3, 10, 11, 12}));
  EXPECT_EQ(members(" 7 , 1 - 2 "), PositionList({1, 2, 7}));
  EXPECT_EQ(members("20-20"), PositionList({20}));
}

TEST(PacketNumbers, OverlappingRangesCountOnce) {
  EXPECT_EQ(members("1-9, 2-3, 5, 9-11, 12"), PositionList({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
}

TEST(PacketNumbers, NothingIsTheEmptySet) {
  EXPECT_TRUE(PacketNumbers::parse("")->empty());
  EXPECT_TRUE(PacketNumbers::parse("  ")->empty());
  EXPECT_EQ(members(""), PositionList());
  EXPECT_FALSE(PacketNumbers::parse("18446744073709551615")->empty());
}

TEST(PacketNumbers, RefusesAnythingElse) {
  for (const char* text : {"0", "a", "1,", ",1", "1,,2", "3-1", "1-", "-1", "1-2-3", "1.5", "+1", "0x10", "1 2", "1;2",
                           "18446744073709551616"}) {
    EXPECT_FALSE(PacketNumbers::parse(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace hca::network
