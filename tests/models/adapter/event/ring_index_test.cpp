#include "models/adapter/event/ring_index.h"

#include <gtest/gtest.h>

namespace hca::adapter {
namespace {

constexpr std::uint64_t kWrap = 1u << 24;

TEST(RingIndex, ExtendsToTheNearestIndex) {
  EXPECT_EQ(extendIndex24(5, 7), 5u);
  EXPECT_EQ(extendIndex24(7, 5), 7u);
  EXPECT_EQ(extendIndex24(0xFFFFFF, kWrap + 3), kWrap - 1) << "just before the wrap";
  EXPECT_EQ(extendIndex24(2, kWrap - 1), kWrap + 2) << "just behind it";
  EXPECT_EQ(extendIndex24(0, kWrap), kWrap);
  EXPECT_EQ(extendIndex24(0xFFFFFF, 5 * kWrap), 5 * kWrap - 1);
}

TEST(RingIndex, HalfTheRangeIsTheLimit) {
  EXPECT_EQ(extendIndex24(0x7FFFFF, kWrap), kWrap + 0x7FFFFF);
  EXPECT_EQ(extendIndex24(0x800001, kWrap), kWrap - 0x7FFFFF);
}

TEST(RingIndex, TruncationIsTheInverse) {
  for (const std::uint64_t index : {std::uint64_t{0}, kWrap - 1, kWrap, 3 * kWrap + 17}) {
    EXPECT_EQ(extendIndex24(truncateIndex24(index), index + 100), index);
  }
}

}  // namespace
}  // namespace hca::adapter
