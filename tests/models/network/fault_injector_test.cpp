#include "models/network/fault_injector.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace hca::network {
namespace {

using Numbers = std::vector<int>;

// Numbers of the packets among the first `count` that `member` of their fault is set for.
Numbers struck(const FaultConfig& config, bool Fault::*member, int count = 20, std::uint64_t seed = 1,
               std::uint64_t stream = 0) {
  FaultInjector injector(config, seed, stream);
  Numbers numbers;
  for (int n = 1; n <= count; ++n) {
    if (injector.next().*member) numbers.push_back(n);
  }
  return numbers;
}

TEST(FaultInjector, DoesNothingUnlessAsked) {
  EXPECT_FALSE(FaultInjector().isActive());
  EXPECT_FALSE(FaultInjector(FaultConfig{}, 1, 0).isActive());
  FaultConfig config;
  config.hold = "7";
  EXPECT_TRUE(FaultInjector(config, 1, 0).isActive());
}

TEST(FaultInjector, ListsCountFromOneAndConcernOneKindEach) {
  FaultConfig config;
  config.lose = "1, 4-5";
  config.corrupt = "2";
  config.duplicate = "3";
  config.hold = "20";
  config.distort = "6";
  EXPECT_EQ(struck(config, &Fault::distort), Numbers({6}));
  EXPECT_EQ(struck(config, &Fault::lose), Numbers({1, 4, 5}));
  EXPECT_EQ(struck(config, &Fault::corrupt), Numbers({2}));
  EXPECT_EQ(struck(config, &Fault::duplicate), Numbers({3}));
  EXPECT_EQ(struck(config, &Fault::hold), Numbers({20}));
}

TEST(FaultInjector, RefusesAListThatIsNone) {
  FaultConfig config;
  config.corrupt = "two";
  EXPECT_THROW(FaultInjector(config, 1, 0), std::invalid_argument);
}

TEST(FaultInjector, ProbabilitiesAreMet) {
  FaultConfig config;
  config.loss = 0.001;
  config.corruption = 0.01;
  config.duplication = 0.1;
  config.delay = 0.5;
  constexpr int kPackets = 1'000'000;
  const auto share = [&](bool Fault::*member) {
    return static_cast<double>(struck(config, member, kPackets).size()) / kPackets;
  };
  // Five standard deviations.
  EXPECT_NEAR(share(&Fault::lose), 0.001, 0.00016);
  EXPECT_NEAR(share(&Fault::corrupt), 0.01, 0.0005);
  EXPECT_NEAR(share(&Fault::duplicate), 0.1, 0.0015);
  EXPECT_NEAR(share(&Fault::hold), 0.5, 0.0025);
}

TEST(FaultInjector, NeverAndAlwaysAreExact) {
  FaultConfig config;
  config.loss = 1;
  EXPECT_EQ(struck(config, &Fault::lose, 1000).size(), 1000u);
  EXPECT_TRUE(struck(config, &Fault::corrupt, 1000).empty());
}

TEST(FaultInjector, SameSeedSameFaultsOtherSeedOrDirectionOthers) {
  FaultConfig config;
  config.loss = 0.1;
  const Numbers reference = struck(config, &Fault::lose, 1000, 1, 0);
  EXPECT_EQ(struck(config, &Fault::lose, 1000, 1, 0), reference);
  EXPECT_NE(struck(config, &Fault::lose, 1000, 2, 0), reference);
  EXPECT_NE(struck(config, &Fault::lose, 1000, 1, 1), reference);
}

TEST(FaultInjector, KindsDontDisturbEachOther) {
  FaultConfig config;
  config.loss = 0.1;
  const Numbers reference = struck(config, &Fault::lose, 1000);
  config.corruption = config.duplication = config.delay = 0.1;
  config.corrupt = "1-5";
  EXPECT_EQ(struck(config, &Fault::lose, 1000), reference);
  EXPECT_NE(struck(config, &Fault::duplicate, 1000), reference);
}

TEST(FaultInjector, ABurstTakesAsManyPacketsAsItSays) {
  FaultConfig config;
  config.loss = 0.002;
  const Numbers starts = struck(config, &Fault::lose, 2000);
  ASSERT_GE(starts.size(), 2u);
  config.lossBurst = 3;
  Numbers expected;
  int end = 0;  // of the burst before; a draw within a burst starts none
  for (const int start : starts) {
    if (start < end) continue;
    for (int n = start; n < start + 3 && n <= 2000; ++n) expected.push_back(n);
    end = start + 3;
  }
  EXPECT_EQ(struck(config, &Fault::lose, 2000), expected);
}

}  // namespace
}  // namespace hca::network
