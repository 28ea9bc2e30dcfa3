#include "models/adapter/memory/mkey_table.h"

#include <gtest/gtest.h>

#include "models/adapter/memory/mkey_context.h"
#include "models/wire/wqe.h"
#include "tests/models/adapter/memory/mkey_fixture.h"

namespace hca::adapter {
namespace {

using test::MkeyTableTest;

TEST_F(MkeyTableTest, TranslatesWithinOnePage) {
  const MemoryKey key = create(region(0x7000'0123, 0x200, {BusAddress(0x9000)}));
  ASSERT_EQ(fault(request(key, 0x7000'0133, 0x20)), AccessFault::kNone);
  ASSERT_EQ(segments_.size(), 1U);
  EXPECT_EQ(segments_[0].address, BusAddress(0x9133));
  EXPECT_EQ(segments_[0].length, 0x20U);
}

TEST_F(MkeyTableTest, SplitsAtPagesThatAreApart) {
  const MemoryKey key =
      create(region(0x10'0F00, 0x2000, {BusAddress(0x9000), BusAddress(0x20000), BusAddress(0x5000)}));
  ASSERT_EQ(fault(request(key, 0x10'0FF0, 0x1020)), AccessFault::kNone);
  ASSERT_EQ(segments_.size(), 3U);
  EXPECT_EQ(segments_[0].address, BusAddress(0x9FF0));
  EXPECT_EQ(segments_[0].length, 0x10U);
  EXPECT_EQ(segments_[1].address, BusAddress(0x20000));
  EXPECT_EQ(segments_[1].length, 0x1000U);
  EXPECT_EQ(segments_[2].address, BusAddress(0x5000));
  EXPECT_EQ(segments_[2].length, 0x10U);
}

TEST_F(MkeyTableTest, MergesNeighbouringPages) {
  const MemoryKey key = create(
      region(0x10'0000, 0x4000, {BusAddress(0x9000), BusAddress(0xA000), BusAddress(0xB000), BusAddress(0x1000)}));
  ASSERT_EQ(fault(request(key, 0x10'0000, 0x4000)), AccessFault::kNone);
  ASSERT_EQ(segments_.size(), 2U);
  EXPECT_EQ(segments_[0].address, BusAddress(0x9000));
  EXPECT_EQ(segments_[0].length, 0x3000U);
  EXPECT_EQ(segments_[1].address, BusAddress(0x1000));
}

TEST_F(MkeyTableTest, DoesNotMergeWithWhatAnEarlierAccessAppended) {
  const MemoryKey key = create(region(0, 0x2000, {BusAddress(0x9000), BusAddress(0xA000)}));
  std::vector<Segment> segments;
  ASSERT_EQ(table_.translate(request(key, 0, 0x1000), segments).fault, AccessFault::kNone);
  ASSERT_EQ(table_.translate(request(key, 0x1000, 0x1000), segments).fault, AccessFault::kNone);
  EXPECT_EQ(segments.size(), 2U);
}

TEST_F(MkeyTableTest, LargePagesTranslate) {
  MkeyAttributes attributes = region(0x4020'0100, 0x30'0000, {BusAddress(0x1'0000'0000), BusAddress(0x2'0000'0000)});
  attributes.logPageSize = 21;
  const MemoryKey key = create(attributes);
  ASSERT_EQ(fault(request(key, 0x4020'0100 + 0x1FFEFF, 2)), AccessFault::kNone);
  ASSERT_EQ(segments_.size(), 2U);
  EXPECT_EQ(segments_[0].address, BusAddress(0x1'001F'FFFF));
  EXPECT_EQ(segments_[1].address, BusAddress(0x2'0000'0000));
}

TEST_F(MkeyTableTest, ChecksTheRangeToTheByte) {
  const MemoryKey key = create(region(0x1000, 0x100, {BusAddress(0x9000)}));
  EXPECT_EQ(fault(request(key, 0x1000, 0x100)), AccessFault::kNone);
  EXPECT_EQ(fault(request(key, 0x1000, 0x101)), AccessFault::kOutOfRange);
  EXPECT_EQ(fault(request(key, 0x10FF, 1)), AccessFault::kNone);
  EXPECT_EQ(fault(request(key, 0x10FF, 2)), AccessFault::kOutOfRange);
  EXPECT_EQ(fault(request(key, 0x1100, 1)), AccessFault::kOutOfRange);
  EXPECT_EQ(fault(request(key, 0x0FFF, 1)), AccessFault::kOutOfRange);
  EXPECT_EQ(fault(request(key, 0x0FFF, 2)), AccessFault::kOutOfRange);
}

TEST_F(MkeyTableTest, RangeCheckDoesNotWrap) {
  const MemoryKey key = create(region(0x1000, 0x100, {BusAddress(0x9000)}));
  EXPECT_EQ(fault(request(key, 0x1080, kTop)), AccessFault::kOutOfRange);
  EXPECT_EQ(fault(request(key, 0x1080, kTop - 0x107F)), AccessFault::kOutOfRange);
  EXPECT_EQ(fault(request(key, kTop, 2)), AccessFault::kOutOfRange);
  // The last byte of the address space belongs to a key that ends there.
  const MemoryKey last = create(region(kTop - 0xFFF, 0x1000, {BusAddress(0xC000)}));
  ASSERT_EQ(fault(request(last, kTop, 1)), AccessFault::kNone);
  EXPECT_EQ(segments_[0].address, BusAddress(0xCFFF));
  EXPECT_EQ(fault(request(last, kTop, 2)), AccessFault::kOutOfRange);
}

TEST_F(MkeyTableTest, WholeAddressSpaceInPhysicalMode) {
  MkeyAttributes attributes = region(0, 0, {});
  attributes.mode = MkeyMode::kPhysical;
  attributes.anyLength = true;
  const MemoryKey key = create(attributes);
  ASSERT_EQ(fault(request(key, 0xDEAD'BEEF'0000, 64)), AccessFault::kNone);
  ASSERT_EQ(segments_.size(), 1U);
  EXPECT_EQ(segments_[0].address, BusAddress(0xDEAD'BEEF'0000));
  EXPECT_EQ(fault(request(key, kTop, 1)), AccessFault::kNone);
  EXPECT_EQ(fault(request(key, kTop, 2)), AccessFault::kOutOfRange);
  EXPECT_EQ(fault(request(key, 0, std::uint64_t{5} << 30)), AccessFault::kNone);
  ASSERT_EQ(segments_.size(), 3U) << "pieces fit 32 bits";
  EXPECT_EQ(segments_[2].address, BusAddress(std::uint64_t{4} << 30));
  EXPECT_EQ(segments_[2].length, 1U << 30);
}

TEST_F(MkeyTableTest, KnowsItsVariant) {
  const MemoryKey key = create(region(0, 0x1000, {BusAddress(0x9000)}));
  ASSERT_EQ(key.value() & 0xFF, 0x42U);
  EXPECT_EQ(fault(request(key, 0, 1)), AccessFault::kNone);
  EXPECT_EQ(fault(request(MemoryKey(key.value() ^ 1), 0, 1)), AccessFault::kUnknownKey);
  EXPECT_EQ(fault(request(MemoryKey(key.value() + 0x100), 0, 1)), AccessFault::kUnknownKey);
  EXPECT_EQ(fault(request(MemoryKey(0), 0, 1)), AccessFault::kUnknownKey);
  EXPECT_EQ(fault(request(MemoryKey(0x100), 0, 1)), AccessFault::kUnknownKey);
  EXPECT_EQ(fault(request(MemoryKey(0xFFFFFFFF), 0, 1)), AccessFault::kUnknownKey);
}

TEST_F(MkeyTableTest, ChecksThePd) {
  const MemoryKey key = create(region(0, 0x1000, {BusAddress(0x9000)}));
  AccessRequest access = request(key, 0, 1);
  access.pd = PdNumber(pd_.value() + 1);
  EXPECT_EQ(fault(access), AccessFault::kWrongPd);
}

TEST_F(MkeyTableTest, ChecksTheQueuePairBinding) {
  MkeyAttributes attributes = region(0, 0x1000, {BusAddress(0x9000)});
  attributes.boundQp = 77;
  const MemoryKey key = create(attributes);
  AccessRequest access = request(key, 0, 1);
  EXPECT_EQ(fault(access), AccessFault::kNone);
  access.qp = QpNumber(78);
  EXPECT_EQ(fault(access), AccessFault::kWrongQp);
}

TEST_F(MkeyTableTest, EachRightAllowsItsAccessAndNoOther) {
  constexpr Access kAll[] = {Access::kLocalRead, Access::kLocalWrite, Access::kRemoteRead, Access::kRemoteWrite,
                             Access::kRemoteAtomic};
  for (const Access granted : kAll) {
    MkeyAttributes attributes = region(0, 0x1000, {BusAddress(0x9000)});
    attributes.rights = {granted == Access::kLocalRead, granted == Access::kLocalWrite, granted == Access::kRemoteRead,
                         granted == Access::kRemoteWrite, granted == Access::kRemoteAtomic};
    const MemoryKey key = create(attributes);
    for (const Access tried : kAll) {
      AccessRequest access = request(key, 0, 8);
      access.access = tried;
      EXPECT_EQ(fault(access), tried == granted ? AccessFault::kNone : AccessFault::kDenied);
    }
  }
}

TEST_F(MkeyTableTest, RelaxedOrderingFollowsTheDirection) {
  MkeyAttributes attributes = region(0, 0x1000, {BusAddress(0x9000)});
  attributes.relaxedOrderingWrite = true;
  const MemoryKey key = create(attributes);
  AccessRequest access = request(key, 0, 8);
  EXPECT_FALSE(table_.translate(access, segments_).relaxedOrdering);
  access.access = Access::kRemoteWrite;
  EXPECT_TRUE(table_.translate(access, segments_).relaxedOrdering);
}

TEST_F(MkeyTableTest, ZeroLengthPassesWithoutLookingAtTheKey) {
  EXPECT_EQ(fault(request(MemoryKey(0xDEADBEEF), kTop, 0)), AccessFault::kNone);
  EXPECT_EQ(cache_.accesses(CachedObject::kMemoryKey), 0U);
}

TEST_F(MkeyTableTest, DestroyedKeyIsUnknownAndItsIndexRests) {
  const MemoryKey key = create(region(0, 0x1000, {BusAddress(0x9000)}));
  ASSERT_TRUE(table_.destroy(indexOf(key)).ok());
  EXPECT_EQ(fault(request(key, 0, 1)), AccessFault::kUnknownKey);
  EXPECT_EQ(table_.destroy(indexOf(key)).syndrome, Syndrome::kUnknownMemoryKey);
  const MemoryKey next = create(region(0, 0x1000, {BusAddress(0x9000)}));
  EXPECT_NE(indexOf(next), indexOf(key));
  EXPECT_EQ(table_.size(), 1U);
}

TEST_F(MkeyTableTest, FreeKeyExistsButGrantsNothing) {
  MkeyAttributes attributes = region(0, 0, {});
  attributes.free = true;
  const MemoryKey key = create(attributes);
  EXPECT_EQ(fault(request(key, 0, 1)), AccessFault::kUnknownKey);
  MkeyAttributes read;
  ASSERT_TRUE(table_.query(indexOf(key), read).ok());
  EXPECT_TRUE(read.free);
  EXPECT_TRUE(table_.destroy(indexOf(key)).ok());
}

TEST_F(MkeyTableTest, HoldsItsPdUntilDestroyed) {
  const MemoryKey key = create(region(0, 0x1000, {BusAddress(0x9000)}));
  EXPECT_EQ(pds_.release(pd_).syndrome, Syndrome::kPdInUse);
  ASSERT_TRUE(table_.destroy(indexOf(key)).ok());
  EXPECT_TRUE(pds_.release(pd_).ok());
}

TEST_F(MkeyTableTest, QueryGivesBackWhatWasCreated) {
  MkeyAttributes attributes = region(0x5000, 0x1800, {BusAddress(0x9000), BusAddress(0x1000)});
  attributes.boundQp = 9;
  const MemoryKey key = create(attributes);
  MkeyAttributes read;
  ASSERT_TRUE(table_.query(indexOf(key), read).ok());
  EXPECT_EQ(read.start, 0x5000U);
  EXPECT_EQ(read.length, 0x1800U);
  EXPECT_EQ(read.boundQp, 9U);
  EXPECT_EQ(read.pages, attributes.pages);
  EXPECT_EQ(table_.query(MkeyIndex(0xFFFFFF), read).syndrome, Syndrome::kUnknownMemoryKey);
  EXPECT_EQ(table_.query(MkeyIndex(0), read).syndrome, Syndrome::kUnknownMemoryKey);
}

TEST_F(MkeyTableTest, RefusesWhatItCannotHonour) {
  const auto valid = region(0x1000, 0x1000, {BusAddress(0x9000)});
  auto indirect = valid;
  indirect.mode = MkeyMode::kFixedIndirect;
  EXPECT_EQ(refusal(indirect).syndrome, Syndrome::kMemoryKeyModeUnsupported);
  auto stranger = valid;
  stranger.pd = PdNumber(999);
  EXPECT_EQ(refusal(stranger).syndrome, Syndrome::kMemoryKeyPdUnknown);
  auto wrapping = valid;
  wrapping.start = kTop - 0xFFE;
  EXPECT_EQ(refusal(wrapping).syndrome, Syndrome::kMemoryKeyRangeBad);
  auto boundless = valid;
  boundless.anyLength = true;
  EXPECT_EQ(refusal(boundless).syndrome, Syndrome::kMemoryKeyRangeBad);
  auto misaligned = valid;
  misaligned.pages = {BusAddress(0x9008)};
  EXPECT_EQ(refusal(misaligned).syndrome, Syndrome::kMemoryKeyPagesWrong);
  auto tiny = valid;
  tiny.logPageSize = 11;
  EXPECT_EQ(refusal(tiny).syndrome, Syndrome::kMemoryKeyPagesWrong);
  auto huge = valid;
  huge.logPageSize = 64;
  EXPECT_EQ(refusal(huge).syndrome, Syndrome::kMemoryKeyPagesWrong);
  EXPECT_EQ(table_.size(), 0U);
  EXPECT_EQ(pds_.holders(pd_), 0U);
}

TEST_F(MkeyTableTest, NeedsAPageForEveryByte) {
  EXPECT_TRUE(refusal(region(0x1800, 0x801, {BusAddress(0x9000)})).syndrome == Syndrome::kMemoryKeyPagesWrong);
  create(region(0x1800, 0x800, {BusAddress(0x9000)}));
  EXPECT_TRUE(refusal(region(0, kTop, {BusAddress(0x9000)})).syndrome == Syndrome::kMemoryKeyPagesWrong);
}

TEST_F(MkeyTableTest, LimitsPagesAndKeys) {
  config_.maxMkeyPages = 2;
  config_.logMaxMkey = 5;
  MkeyTable small(config_, pds_, cache_);
  MkeyIndex index;
  const auto three = region(0, 1, {BusAddress(0), BusAddress(0x1000), BusAddress(0x2000)});
  EXPECT_EQ(small.create(three, index).status, CommandStatus::kExceedLimit);
  const auto one = region(0, 1, {BusAddress(0)});
  for (std::uint32_t n = kFirstMkeyIndex; n < 32; ++n) ASSERT_TRUE(small.create(one, index).ok());
  const CommandResult full = small.create(one, index);
  EXPECT_EQ(full.status, CommandStatus::kNoResources);
  EXPECT_EQ(full.syndrome, Syndrome::kMemoryKeyLimit);
}

TEST_F(MkeyTableTest, AccessesGoThroughTheCachePort) {
  const MemoryKey key = create(region(0, 0x3000, {BusAddress(0), BusAddress(0x1000), BusAddress(0x9000)}));
  table_.translate(request(key, 0, 0x3000), segments_);
  EXPECT_EQ(cache_.accesses(CachedObject::kMemoryKey), 1U);
  EXPECT_EQ(cache_.accesses(CachedObject::kTranslation), 3U);
  AccessRequest check = request(key, 0, 0x3000);
  check.checkOnly = true;
  const std::size_t segments = segments_.size();
  EXPECT_EQ(table_.translate(check, segments_).fault, AccessFault::kNone);
  EXPECT_EQ(segments_.size(), segments);
  check.address = 1;
  EXPECT_EQ(table_.translate(check, segments_).fault, AccessFault::kOutOfRange);
  EXPECT_EQ(cache_.accesses(CachedObject::kMemoryKey), 3U) << "a check, and a refused access, look up the key";
  EXPECT_EQ(cache_.accesses(CachedObject::kTranslation), 3U);
}

TEST_F(MkeyTableTest, ResetForgetsEverything) {
  const MemoryKey key = create(region(0, 0x1000, {BusAddress(0x9000)}));
  pds_.reset();
  table_.reset();
  EXPECT_EQ(fault(request(key, 0, 1)), AccessFault::kUnknownKey);
  EXPECT_EQ(table_.size(), 0U);
}

// ---- device memory

class DeviceMemoryKeyTest : public MkeyTableTest {
 protected:
  DeviceMemoryKeyTest() {
    table_.connect(memory_);
    EXPECT_TRUE(memory_.allocate({DeviceMemory::kFirst, 8192}, 4096, 0, start_).ok());
  }
  MkeyAttributes keyOf(std::uint64_t offset, std::uint64_t length) {
    MkeyAttributes key = region(start_ + offset, length, {});
    key.mode = MkeyMode::kDeviceMemory;
    return key;
  }
  DeviceMemory memory_{Bytes(8192)};
  std::uint64_t start_ = 0;
};

TEST_F(DeviceMemoryKeyTest, CountsFromZeroAndStaysInside) {
  const MemoryKey key = create(keyOf(64, 128));
  ASSERT_EQ(fault(request(key, 16, 112)), AccessFault::kNone);
  ASSERT_EQ(segments_.size(), 1U);
  EXPECT_EQ(segments_[0].address, DeviceMemory::busAddress(start_ + 64 + 16));
  EXPECT_EQ(segments_[0].length, 112U);
  EXPECT_EQ(fault(request(key, 16, 113)), AccessFault::kOutOfRange);
  EXPECT_EQ(fault(request(key, start_ + 64, 1)), AccessFault::kOutOfRange);
  EXPECT_EQ(fault(request(key, kTop, 2)), AccessFault::kOutOfRange);
}

TEST_F(DeviceMemoryKeyTest, MustBeOfOneAllocation) {
  EXPECT_EQ(refusal(keyOf(0, 4097)).syndrome, Syndrome::kMemoryKeyRangeBad);
  EXPECT_EQ(refusal(keyOf(4096, 1)).syndrome, Syndrome::kMemoryKeyRangeBad);
  MkeyAttributes whole = keyOf(0, 0);
  whole.anyLength = true;
  EXPECT_EQ(refusal(whole).syndrome, Syndrome::kMemoryKeyRangeBad);
  EXPECT_EQ(memory_.free(start_, 4096).status, CommandStatus::kOk) << "a refused key holds nothing";
}

TEST_F(DeviceMemoryKeyTest, HoldsTheMemoryAsLongAsItLives) {
  const MemoryKey key = create(keyOf(0, 4096));
  EXPECT_EQ(memory_.free(start_, 4096).status, CommandStatus::kResourceBusy);
  EXPECT_TRUE(table_.destroy(indexOf(key)).ok());
  EXPECT_TRUE(memory_.free(start_, 4096).ok());
}

TEST_F(DeviceMemoryKeyTest, NoWorkRequestChangesIt) {
  MkeyAttributes attributes = keyOf(0, 4096);
  attributes.updatable = true;
  KeyUpdate update;
  update.key = create(attributes);
  update.pd = pd_;
  update.mask = wire::key_mask::kStart;
  const std::vector<std::uint8_t> context(wire::MemoryKeyContext::kSize);
  update.context = context;
  EXPECT_EQ(table_.update(update), KeyFault::kNotUpdatable);
}

TEST_F(DeviceMemoryKeyTest, TheContextCarriesTheMode) {
  std::vector<std::uint8_t> context(wire::MemoryKeyContext::kSize);
  encodeMkeyContext(keyOf(64, 128), context);
  EXPECT_EQ(context[0] & 0x1C, 0x04) << "access_mode_4_2";
  EXPECT_EQ(context[2] & 0x03, 0x01) << "access_mode_1_0";
  EXPECT_EQ(decodeMkeyContext(context).mode, MkeyMode::kDeviceMemory);
}

TEST_F(MkeyTableTest, WithoutDeviceMemoryNoKeyIsOfIt) {
  MkeyAttributes key = region(DeviceMemory::kFirst, 64, {});
  key.mode = MkeyMode::kDeviceMemory;
  EXPECT_EQ(refusal(key).syndrome, Syndrome::kMemoryKeyModeUnsupported);
}

}  // namespace
}  // namespace hca::adapter
