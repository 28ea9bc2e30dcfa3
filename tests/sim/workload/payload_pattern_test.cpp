#include "sim/workload/payload_pattern.h"

#include <gtest/gtest.h>

#include <vector>

namespace hca::sim {
namespace {

TEST(PayloadPattern, MatchesWhatItFilled) {
  for (const std::size_t length : {0U, 1U, 63U, 4096U, 4097U, 100'000U}) {
    std::vector<std::uint8_t> bytes(length);
    fillPattern(bytes.data(), length, 7);
    EXPECT_TRUE(matchesPattern(bytes.data(), length, 7)) << length;
  }
}

TEST(PayloadPattern, EveryByteCounts) {
  std::vector<std::uint8_t> bytes(5000);
  fillPattern(bytes.data(), bytes.size(), 3);
  for (const std::size_t at : {0U, 7U, 8U, 4095U, 4096U, 4999U}) {
    bytes[at] ^= 1;
    EXPECT_FALSE(matchesPattern(bytes.data(), bytes.size(), 3)) << at;
    EXPECT_EQ(matchesPattern(bytes.data(), bytes.size(), 3, 8), at < 8) << at;
    bytes[at] ^= 1;
  }
}

TEST(PayloadPattern, SeedsDiffer) {
  std::vector<std::uint8_t> bytes(16);
  fillPattern(bytes.data(), bytes.size(), 1);
  for (std::uint64_t seed = 2; seed < 4000; ++seed) EXPECT_FALSE(matchesPattern(bytes.data(), bytes.size(), seed));
}

}  // namespace
}  // namespace hca::sim
