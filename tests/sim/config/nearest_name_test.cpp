#include "sim/config/nearest_name.h"

#include <gtest/gtest.h>

namespace hca::config {
namespace {

TEST(NearestName, CountsEdits) {
  EXPECT_EQ(editDistance("", ""), 0U);
  EXPECT_EQ(editDistance("abc", ""), 3U);
  EXPECT_EQ(editDistance("", "abc"), 3U);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3U);
  EXPECT_EQ(editDistance("tx_detph", "tx_depth"), 1U);  // neighbours swapped
  EXPECT_EQ(editDistance("Seed", "seed"), 0U);
}

TEST(NearestName, TakesTheNearestAndTheFirstOfEquals) {
  EXPECT_EQ(nearestName("itres", {"size", "iters", "qps"}), "iters");
  EXPECT_EQ(nearestName("b", {"a", "c"}), "a");
  EXPECT_EQ(nearestName("b", {}), "");
}

TEST(NearestName, TellsMisspellingsFromOtherWords) {
  EXPECT_TRUE(isMisspelling("itres", "iters"));
  EXPECT_TRUE(isMisspelling("sise", "size"));
  EXPECT_FALSE(isMisspelling("cores", "iters"));
}

}  // namespace
}  // namespace hca::config
