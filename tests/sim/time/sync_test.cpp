#include "sim/time/sync.h"

#include <gtest/gtest.h>

namespace hca::sim {
namespace {

TEST(Sync, ReadsWhatItWrites) {
  for (const char* text : {"lockstep", "free", "paced:0.500000"}) {
    const auto sync = parseSync(text);
    ASSERT_TRUE(sync) << text;
    EXPECT_EQ(toText(*sync), text);
  }
  EXPECT_EQ(parseSync("paced")->scale, 1);
}

TEST(Sync, RefusesOtherWordsAndScales) {
  for (const char* text : {"", "locksteps", "paced:", "paced:0", "paced:-1", "paced:1x", "paced:1e7", "paced:nan"}) {
    EXPECT_FALSE(parseSync(text)) << text;
  }
}

}  // namespace
}  // namespace hca::sim
