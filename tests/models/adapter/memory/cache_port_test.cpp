#include "models/adapter/memory/cache_port.h"

#include <gtest/gtest.h>

namespace hca::adapter {
namespace {

TEST(CachePort, CountsEachKindApartAndCostsNothingWithoutAModel) {
  CachePort port;
  EXPECT_EQ(port.access(CachedObject::kQpContext, 7), Time());
  EXPECT_EQ(port.access(CachedObject::kQpContext, 8), Time());
  EXPECT_EQ(port.access(CachedObject::kWorkRequest, 7), Time());
  EXPECT_EQ(port.accesses(CachedObject::kQpContext), 2U);
  EXPECT_EQ(port.accesses(CachedObject::kWorkRequest), 1U);
  EXPECT_EQ(port.accesses(CachedObject::kTranslation), 0U);
}

struct MissOnOddKeys final : CacheModel {
  Time access(CachedObject what, std::uint64_t key) override {
    last = what;
    return key % 2 == 1 ? nanoseconds(5) : Time();
  }
  CachedObject last = CachedObject::kCount;
};

TEST(CachePort, AsksTheModelForTheCost) {
  CachePort port;
  MissOnOddKeys model;
  port.setModel(&model);
  EXPECT_EQ(port.access(CachedObject::kCqContext, 3), nanoseconds(5));
  EXPECT_EQ(model.last, CachedObject::kCqContext);
  EXPECT_EQ(port.access(CachedObject::kCqContext, 4), Time());
  port.setModel(nullptr);
  EXPECT_EQ(port.access(CachedObject::kCqContext, 3), Time());
  EXPECT_EQ(port.accesses(CachedObject::kCqContext), 3U);
}

}  // namespace
}  // namespace hca::adapter
