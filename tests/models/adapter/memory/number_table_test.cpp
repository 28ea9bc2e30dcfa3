#include "models/adapter/memory/number_table.h"

#include <gtest/gtest.h>

#include <set>

namespace hca::adapter {
namespace {

TEST(IndexAllocator, HandsOutEveryNumberOnceAndThenNone) {
  IndexAllocator allocator(5, 3);
  EXPECT_EQ(allocator.allocate(), 5U);
  EXPECT_EQ(allocator.allocate(), 6U);
  EXPECT_EQ(allocator.allocate(), 7U);
  EXPECT_FALSE(allocator.allocate().has_value());
}

TEST(IndexAllocator, ReusesANumberOnlyAfterTheQuarantine) {
  constexpr std::uint32_t kQuarantine = 4;
  IndexAllocator allocator(0, 1000, kQuarantine);
  std::uint32_t next = *allocator.allocate();
  ASSERT_EQ(next, 0U);
  for (std::uint32_t others = 0; others < kQuarantine; ++others) {
    allocator.release(next);
    next = *allocator.allocate();
    EXPECT_EQ(next, others + 1) << "number came back after " << others << " other releases";
  }
  allocator.release(next);
  EXPECT_EQ(allocator.allocate(), 0U) << "the oldest released number is due now";
}

TEST(IndexAllocator, ReusesAtOnceWhenNothingElseIsLeft) {
  IndexAllocator allocator(0, 2);
  ASSERT_TRUE(allocator.allocate() && allocator.allocate());
  allocator.release(1);
  EXPECT_EQ(allocator.allocate(), 1U);
  EXPECT_FALSE(allocator.allocate().has_value());
}

TEST(IndexAllocator, ResetFreesEverything) {
  IndexAllocator allocator(9, 1);
  ASSERT_TRUE(allocator.allocate());
  allocator.reset();
  EXPECT_EQ(allocator.allocate(), 9U);
}

TEST(PdTable, NeverHandsOutZero) {
  PdTable pds(3);
  std::set<std::uint32_t> numbers;
  for (int i = 0; i < 3; ++i) {
    PdNumber pd;
    ASSERT_TRUE(pds.allocate(pd).ok());
    numbers.insert(pd.value());
  }
  EXPECT_EQ(numbers, (std::set<std::uint32_t>{1, 2, 3}));
  EXPECT_FALSE(pds.contains(PdNumber(0)));
  EXPECT_EQ(pds.size(), 3U);
  PdNumber pd;
  const CommandResult full = pds.allocate(pd);
  EXPECT_EQ(full.status, CommandStatus::kNoResources);
  EXPECT_EQ(full.syndrome, Syndrome::kPdLimit);
}

TEST(PdTable, RefusesToReleaseWhatIsHeldOrUnknown) {
  PdTable pds(8);
  PdNumber pd;
  ASSERT_TRUE(pds.allocate(pd).ok());
  ASSERT_TRUE(pds.hold(pd));
  ASSERT_TRUE(pds.hold(pd));
  EXPECT_EQ(pds.holders(pd), 2U);
  pds.drop(pd);
  CommandResult result = pds.release(pd);
  EXPECT_EQ(result.status, CommandStatus::kResourceBusy);
  EXPECT_EQ(result.syndrome, Syndrome::kPdInUse);
  pds.drop(pd);
  EXPECT_TRUE(pds.release(pd).ok());
  result = pds.release(pd);
  EXPECT_EQ(result.status, CommandStatus::kBadResource);
  EXPECT_EQ(result.syndrome, Syndrome::kUnknownPd);
  EXPECT_FALSE(pds.hold(pd));
  EXPECT_EQ(pds.size(), 0U);
}

TEST(UarTable, StartsWhereItWasTold) {
  UarTable uars(UarIndex(16), 2);
  UarIndex uar;
  ASSERT_TRUE(uars.allocate(uar).ok());
  EXPECT_EQ(uar, UarIndex(16));
  EXPECT_FALSE(uars.contains(UarIndex(0)));
  EXPECT_FALSE(uars.contains(UarIndex(15)));
  EXPECT_FALSE(uars.contains(UarIndex(17)));
  EXPECT_EQ(uars.release(UarIndex(0xFFFFFFFF)).syndrome, Syndrome::kUnknownUar);
}

}  // namespace
}  // namespace hca::adapter
