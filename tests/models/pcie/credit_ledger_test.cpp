#include "models/pcie/credit_ledger.h"

#include <gtest/gtest.h>

#include "models/pcie/tag_pool.h"

namespace hca::pcie {
namespace {

TEST(CreditLedger, ReturnsCountFromTheirTimeOn) {
  CreditLedger ledger({2, 8});
  EXPECT_TRUE(ledger.take({1, 4}, Time()));
  EXPECT_TRUE(ledger.take({1, 4}, Time()));
  EXPECT_EQ(ledger.availableAt({1, 4}), kForever);
  ledger.giveBack({1, 4}, nanoseconds(10));
  EXPECT_EQ(ledger.availableAt({1, 4}), nanoseconds(10));
  EXPECT_FALSE(ledger.take({1, 4}, nanoseconds(10) - picoseconds(1)));
  EXPECT_TRUE(ledger.take({1, 4}, nanoseconds(10)));
}

TEST(CreditLedger, HeadersAndDataAreCountedApart) {
  CreditLedger headersAlone({1, 0});
  EXPECT_TRUE(headersAlone.take({1, 1000}, Time()));
  EXPECT_FALSE(headersAlone.take({1, 0}, Time()));
  CreditLedger dataAlone({0, 4});
  EXPECT_TRUE(dataAlone.take({100, 4}, Time()));
  EXPECT_TRUE(dataAlone.take({100, 0}, Time()));
  EXPECT_FALSE(dataAlone.take({1, 1}, Time()));
  EXPECT_TRUE(CreditLedger({0, 0}).infinite());
  EXPECT_FALSE(headersAlone.infinite());
  EXPECT_FALSE(dataAlone.infinite());
}

TEST(CreditLedger, ATooLargeBurstTakesAllThereIs) {
  CreditLedger ledger({1, 1});
  EXPECT_TRUE(ledger.take({16, 256}, Time()));
  EXPECT_FALSE(ledger.take({1, 1}, Time()));
  ledger.giveBack({16, 256}, nanoseconds(1));
  EXPECT_TRUE(ledger.take({1, 1}, nanoseconds(1)));
  EXPECT_FALSE(ledger.take({1, 1}, nanoseconds(1))) << "a return must not give more than was taken";
}

TEST(CreditLedger, WaitsForAsManyReturnsAsItNeeds) {
  CreditLedger ledger({4, 0});
  EXPECT_TRUE(ledger.take({4, 0}, Time()));
  for (int i = 1; i <= 4; ++i) ledger.giveBack({1, 0}, nanoseconds(i));
  EXPECT_EQ(ledger.availableAt({3, 0}), nanoseconds(3));
  ledger.giveBack({1, 0}, nanoseconds(2));  // returns come in order: not before the one at 4 ns
  EXPECT_EQ(ledger.availableAt({4, 0}), nanoseconds(4));
}

TEST(TagPool, TagsComeBackAtTheirTimes) {
  TagPool tags(3);
  EXPECT_EQ(tags.take(2), 0);
  EXPECT_EQ(tags.take(1), 2);
  EXPECT_EQ(tags.available(Time()), 0U);
  EXPECT_EQ(tags.nextReturn(), kForever);
  tags.giveBack(nanoseconds(5));
  tags.giveBack(nanoseconds(4));  // in order: with the one before
  EXPECT_EQ(tags.nextReturn(), nanoseconds(5));
  EXPECT_EQ(tags.available(nanoseconds(5) - picoseconds(1)), 0U);
  EXPECT_EQ(tags.available(nanoseconds(5)), 2U);
  EXPECT_EQ(tags.take(2), 0) << "numbers go round";
}

}  // namespace
}  // namespace hca::pcie
