#include "models/adapter/receive_queue/tag_list.h"

#include <gtest/gtest.h>

namespace hca::adapter {
namespace {

constexpr std::uint64_t kExact = ~std::uint64_t{0};

TagList::Tag tagOf(std::uint64_t tag, std::uint64_t mask = kExact) {
  return {tag, mask, {0x1000 + tag, 64, MemoryKey(7)}};
}
TagList::Append append(TagList& list, std::uint64_t tag, std::uint16_t next, std::uint64_t mask = kExact) {
  return list.append(tagOf(tag, mask), next);
}

TEST(TagList, TheFirstTagHasPlaceZeroAndEachNamesTheNext) {
  TagList list(2);
  EXPECT_EQ(append(list, 0xA, 3), TagList::Append::kDone);
  EXPECT_EQ(append(list, 0xB, 1), TagList::Append::kDone);
  EXPECT_EQ(list.next(), 1);
  const auto second = list.take(0xB);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->place, 3);
  EXPECT_EQ(second->serial, 1U);
  EXPECT_EQ(second->buffer.address, 0x100BU);
  ASSERT_TRUE(list.take(0xA));
  EXPECT_EQ(list.size(), 0U);
}

TEST(TagList, TheOldestThatFitsIsTakenWhereverItLies) {
  TagList list(3);
  (void)append(list, 0x10, 5, 0xF0);
  (void)append(list, 0x12, 2);
  (void)append(list, 0x20, 1, 0xF0);
  EXPECT_EQ(list.take(0x12)->place, 0) << "the mask leaves the low digit out";
  EXPECT_EQ(list.take(0x12)->place, 5);
  EXPECT_FALSE(list.take(0x12));
  EXPECT_EQ(list.take(0x2F)->place, 2);
}

TEST(TagList, ATagThatItsOwnMaskDoesNotCoverMatchesNothing) {
  TagList list(1);
  (void)append(list, 0x1F, 1, 0xF0);
  EXPECT_FALSE(list.take(0x1F));
}

TEST(TagList, PlacesOutsideOrInUseAreRefusedAndChangeNothing) {
  TagList list(1);
  EXPECT_EQ(append(list, 1, 2), TagList::Append::kNoSuchPlace);
  EXPECT_EQ(append(list, 1, 1), TagList::Append::kDone);
  EXPECT_EQ(append(list, 2, 0), TagList::Append::kDone);
  EXPECT_EQ(append(list, 3, 1), TagList::Append::kOccupied) << "the list is full";
  EXPECT_EQ(list.size(), 2U);
  EXPECT_EQ(list.next(), 0);
  EXPECT_TRUE(list.take(1));
  EXPECT_EQ(append(list, 3, 1), TagList::Append::kDone);
}

TEST(TagList, RemovalFailsOnceAMessageTookTheTag) {
  TagList list(2);
  (void)append(list, 1, 1);
  (void)append(list, 2, 2);
  ASSERT_TRUE(list.take(1));
  EXPECT_FALSE(list.remove(0));
  EXPECT_TRUE(list.remove(1));
  EXPECT_FALSE(list.remove(1));
  EXPECT_FALSE(list.take(2));
  EXPECT_FALSE(list.remove(3));
  EXPECT_FALSE(list.remove(4));
}

TEST(TagList, TagsAppendedOutOfStepMatchNothingUntilSoftwareCatchesUp) {
  TagList list(3);
  (void)append(list, 1, 1);
  list.countUnexpected();
  (void)append(list, 2, 2);
  EXPECT_FALSE(list.take(2)) << "what it is for may be the message that came before";
  EXPECT_TRUE(list.take(1)) << "that one was there before";
  list.countUnexpected();
  list.synchronize(1);
  EXPECT_FALSE(list.take(2)) << "one is still to be handled";
  list.synchronize(2);
  EXPECT_TRUE(list.take(2));
  (void)append(list, 3, 3);
  EXPECT_TRUE(list.take(3));
}

TEST(TagList, CountsBeginAgainAfter16Bits) {
  TagList list(1);
  for (int i = 0; i < 0x10000; ++i) list.countUnexpected();
  EXPECT_EQ(list.hardwareCount(), 0);
  (void)append(list, 1, 1);
  EXPECT_TRUE(list.take(1));
}

}  // namespace
}  // namespace hca::adapter
