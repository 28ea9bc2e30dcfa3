#include "models/adapter/memory/cache_port.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/adapter/memory/context_cache.h"
#include "tests/support/plain_memory.h"

namespace hca::adapter {
namespace {

TEST(CachePort, CountsEachKindApartAndNeverWaitsWithoutAModel) {
  struct Nobody final : CacheClient {
    void onCacheReady(std::uint64_t) override { FAIL(); }
  } nobody;
  CachePort port;
  port.access(CachedObject::kQpContext, 7);
  port.access(CachedObject::kQpContext, 8);
  port.access(CachedObject::kWorkRequest, 7);
  EXPECT_FALSE(port.waits(nobody, 1));
  EXPECT_FALSE(port.isLimited());
  EXPECT_EQ(port.accesses(CachedObject::kQpContext), 2U);
  EXPECT_EQ(port.accesses(CachedObject::kWorkRequest), 1U);
  EXPECT_EQ(port.accesses(CachedObject::kTranslation), 0U);
}

class ContextCacheTest : public ::testing::Test, protected CacheClient, protected ContextMemory {
 protected:
  struct Call {
    std::uint64_t token;
    Time when;
    bool operator==(const Call& other) const { return token == other.token && when == other.when; }
  };

  void make(std::int64_t entries, std::int64_t refills = 8) {
    CacheConfig config;
    config.qpContextEntries = entries;
    config.translationEntries = entries;
    config.refills = refills;
    cache_.emplace(context_, config, 1);
    cache_->setMemory(*this);
    port_.setModel(&*cache_);
  }
  void onCacheReady(std::uint64_t token) override { calls_.push_back({token, calendar_.now()}); }
  [[nodiscard]] BusAddress home(std::uint64_t, std::uint32_t) const override { return BusAddress(4096); }

  bool missesQp(std::uint64_t key, std::uint64_t token = 0) {
    return port_.misses(CachedObject::kQpContext, key, *this, token);
  }
  void settle() { calendar_.runUntil(kForever); }

  kernel::Calendar calendar_;
  observe::Probes probes_;
  kernel::PayloadPool pool_;
  test::PlainMemory memory_{calendar_};  // a read takes 300 ns
  AdapterContext context_{calendar_,    probes_,        pool_, memory_, kernel::ClockDomain(Hertz(1'000'000'000)),
                          HostIndex(0), AdapterIndex(0)};
  CachePort port_;
  std::optional<ContextCache> cache_;
  std::vector<Call> calls_;
};

TEST_F(ContextCacheTest, AMissWaitsForItsReadAndTheNextAccessHits) {
  make(2);
  EXPECT_TRUE(missesQp(1, 11));
  EXPECT_TRUE(missesQp(1, 12)) << "joins the read under way";
  settle();
  EXPECT_EQ(calls_, (std::vector<Call>{{11, nanoseconds(300)}, {12, nanoseconds(300)}}));
  EXPECT_FALSE(missesQp(1));
  EXPECT_EQ(memory_.reads[pcie::Traffic::kContext], 1);
  EXPECT_EQ(cache_->counters(CachedObject::kQpContext).value().hits, 1u);
  EXPECT_EQ(cache_->counters(CachedObject::kQpContext).value().misses, 2u);
  EXPECT_FALSE(cache_->counters(CachedObject::kCqContext).has_value()) << "unlimited";
  port_.access(CachedObject::kCqContext, 1);
  EXPECT_FALSE(port_.waits(*this, 0));
}

TEST_F(ContextCacheTest, OneMoreThanFitsEvictsAndAContextIsWrittenBack) {
  make(2);
  for (const std::uint64_t key : {1, 2}) EXPECT_TRUE(missesQp(key));
  settle();
  for (const std::uint64_t key : {1, 2}) EXPECT_FALSE(missesQp(key)) << key;
  EXPECT_EQ(memory_.writes[pcie::Traffic::kContext], 0);
  EXPECT_TRUE(missesQp(3));
  settle();
  EXPECT_EQ(memory_.writes[pcie::Traffic::kContext], 1);
  EXPECT_FALSE(missesQp(2));
  EXPECT_TRUE(missesQp(1)) << "used longest ago";
  settle();
  for (const std::uint64_t key : {1, 2, 3}) port_.access(CachedObject::kTranslation, key);
  EXPECT_TRUE(port_.waits(*this, 5));
  settle();
  EXPECT_EQ(cache_->counters(CachedObject::kTranslation).value().evictions, 1u);
  EXPECT_EQ(memory_.writes[pcie::Traffic::kContext], 2) << "a translation doesn't change";
}

TEST_F(ContextCacheTest, ReadsBeyondTheLimitQueue) {
  make(8, 2);
  for (const std::uint64_t key : {1, 2, 3}) EXPECT_TRUE(missesQp(key, key));
  settle();
  EXPECT_EQ(calls_, (std::vector<Call>{{1, nanoseconds(300)}, {2, nanoseconds(300)}, {3, nanoseconds(600)}}));
}

TEST_F(ContextCacheTest, OneWaitCoversAllAccessesSinceTheLast) {
  make(8, 1);
  port_.access(CachedObject::kQpContext, 1);
  port_.access(CachedObject::kTranslation, 1);
  EXPECT_TRUE(port_.waits(*this, 7));
  EXPECT_FALSE(port_.waits(*this, 8)) << "no access since";
  port_.access(CachedObject::kQpContext, 1);  // nobody asks before it is there
  settle();
  EXPECT_EQ(calls_, (std::vector<Call>{{7, nanoseconds(600)}}));
  EXPECT_FALSE(port_.waits(*this, 9));
  {
    const CachePort::Bypass bypass(port_);
    EXPECT_FALSE(missesQp(99));
  }
  EXPECT_TRUE(missesQp(99));
}

TEST_F(ContextCacheTest, NobodyWaitsForWhatAnEarlierStageGaveUp) {
  make(8, 1);
  port_.access(CachedObject::kTranslation, 1);
  port_.access(CachedObject::kTranslation, 2);
  port_.fill(CachedObject::kQpContext, 3);
  EXPECT_FALSE(missesQp(3));
  EXPECT_TRUE(missesQp(4, 44));
  settle();
  EXPECT_EQ(calls_, (std::vector<Call>{{44, nanoseconds(900)}})) << "behind the reads under way";
  port_.access(CachedObject::kTranslation, 1);
  EXPECT_FALSE(port_.waits(*this, 1));
}

TEST_F(ContextCacheTest, WhatCameOnItsOwnHitsUntilItIsDropped) {
  make(1);
  port_.fill(CachedObject::kQpContext, 1);
  EXPECT_FALSE(missesQp(1));
  port_.drop(CachedObject::kQpContext, 1);
  EXPECT_TRUE(missesQp(1));
}

TEST_F(ContextCacheTest, AResetEmptiesItAndCallsWhoWaits) {
  make(2);
  EXPECT_TRUE(missesQp(1, 4));
  cache_->reset();
  EXPECT_EQ(calls_, (std::vector<Call>{{4, Time()}}));
  port_.fill(CachedObject::kQpContext, 2);
  cache_->reset();
  EXPECT_TRUE(missesQp(2, 6));
  EXPECT_EQ(calls_.size(), 1u) << "each is called once";
}

}  // namespace
}  // namespace hca::adapter
