#include "models/adapter/memory/mkey_table.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "models/adapter/memory/mkey_context.h"
#include "models/wire/wqe.h"

namespace hca::adapter {
namespace {

constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();

class MkeyTableTest : public testing::Test {
 protected:
  MkeyTableTest() { EXPECT_TRUE(pds_.allocate(pd_).ok()); }

  MkeyAttributes region(std::uint64_t start, std::uint64_t length, std::vector<BusAddress> pages) const {
    MkeyAttributes attributes;
    attributes.rights = {true, true, true, true, true};
    attributes.variant = 0x42;
    attributes.pd = pd_;
    attributes.start = start;
    attributes.length = length;
    attributes.pages = std::move(pages);
    return attributes;
  }
  MemoryKey create(const MkeyAttributes& attributes) {
    MkeyIndex index;
    const CommandResult result = table_.create(attributes, index);
    EXPECT_TRUE(result.ok()) << std::hex << static_cast<std::uint32_t>(result.syndrome);
    return makeKey(index, attributes.variant);
  }
  CommandResult refusal(const MkeyAttributes& attributes) {
    MkeyIndex index(0xABCDEF);
    const CommandResult result = table_.create(attributes, index);
    EXPECT_EQ(index, MkeyIndex(0xABCDEF)) << "a refused create gave a number";
    return result;
  }
  AccessRequest request(MemoryKey key, std::uint64_t address, std::uint64_t length) const {
    AccessRequest access;
    access.key = key;
    access.pd = pd_;
    access.qp = QpNumber(77);
    access.address = address;
    access.length = length;
    return access;
  }
  AccessFault fault(const AccessRequest& access) {
    segments_.clear();
    const AccessFault result = table_.translate(access, segments_).fault;
    EXPECT_EQ(segments_.empty(), result != AccessFault::kNone || access.length == 0);
    return result;
  }

  CachePort cache_;
  PdTable pds_{1024};
  MemoryConfig config_;
  MkeyTable table_{config_, pds_, cache_};
  PdNumber pd_;
  std::vector<Segment> segments_;
};

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

// ---- windows

namespace key_mask = wire::key_mask;

class WindowTest : public MkeyTableTest {
 protected:
  static constexpr std::uint32_t kAnyQp = 0xFFFFFF;
  static constexpr std::uint64_t kBindMask = key_mask::kFree | key_mask::kVariant | key_mask::kQp | key_mask::kLength |
                                             key_mask::kStart | key_mask::kLocalWrite | key_mask::kRemoteRead |
                                             key_mask::kRemoteWrite | key_mask::kAtomic;

  MemoryKey allocate() {
    MkeyAttributes window;
    window.free = true;
    window.mode = MkeyMode::kIndirect;
    window.updatable = true;
    window.remoteInvalidate = true;
    window.rights.localRead = true;
    window.pd = pd_;
    window.translationOctwords = 4;
    return create(window);
  }
  struct Bind {
    MemoryKey window;
    std::vector<KeyPiece> pieces;
    std::uint64_t start = 0x5000, length = 0x100;
    std::uint32_t boundQp = 77;
    std::uint8_t variant = 0x11;
    AccessRights rights = {false, false, true, true, false};
    bool free = false;
    std::uint64_t mask = kBindMask;
  };
  /// A bind that queue pair 77 asks for.
  KeyFault update(const Bind& bind, const std::function<void(KeyUpdate&)>& change = {}) {
    MkeyAttributes wanted;
    wanted.start = bind.start;
    wanted.length = bind.length;
    wanted.boundQp = bind.boundQp;
    wanted.variant = bind.variant;
    wanted.rights = bind.rights;
    wanted.free = bind.free;
    std::vector<std::uint8_t> context(wire::MemoryKeyContext::kSize);
    encodeMkeyContext(wanted, context);
    std::vector<std::uint8_t> list;
    for (const KeyPiece& piece : bind.pieces) {
      const wire::KeyPieceSegment row{wire::Be32(static_cast<std::uint32_t>(piece.length)),
                                      wire::Be32(piece.key.value()), wire::Be64(piece.address)};
      const ByteView bytes = bytesOf(row);
      list.insert(list.end(), bytes.begin(), bytes.end());
    }
    KeyUpdate update;
    update.key = bind.window;
    update.pd = pd_;
    update.qp = QpNumber(77);
    update.mask = bind.mask;
    update.context = context;
    update.translations = list;
    if (change) change(update);
    return table_.update(update);
  }
  static MemoryKey withVariant(MemoryKey key, std::uint8_t variant) { return makeKey(indexOf(key), variant); }
  AccessFault write(MemoryKey key, std::uint64_t address, std::uint64_t length, std::uint32_t qp = 77) {
    AccessRequest access = request(key, address, length);
    access.access = Access::kRemoteWrite;
    access.qp = QpNumber(qp);
    return fault(access);
  }

  MemoryKey region_ = create(region(0x5000, 0x1800, {BusAddress(0x9000), BusAddress(0x20000)}));
};

TEST_F(WindowTest, ReachesItsPieceUnderItsNewKeyAndNothingElse) {
  const MemoryKey window = allocate();
  EXPECT_EQ(write(window, 0x5F80, 8), AccessFault::kUnknownKey) << "free";
  ASSERT_EQ(update({window, {{region_, 0x5F80, 0x100}}, 0x5F80}), KeyFault::kNone);
  const MemoryKey bound = withVariant(window, 0x11);
  ASSERT_EQ(write(bound, 0x5F80, 0x100), AccessFault::kNone);
  ASSERT_EQ(segments_.size(), 2U);
  EXPECT_EQ(segments_[0].address, BusAddress(0x9F80));
  EXPECT_EQ(segments_[1].address, BusAddress(0x20000));
  EXPECT_EQ(write(window, 0x5F80, 8), AccessFault::kUnknownKey) << "the key before the bind";
  EXPECT_EQ(write(bound, 0x5F7F, 8), AccessFault::kOutOfRange);
  EXPECT_EQ(write(bound, 0x5F80, 0x101), AccessFault::kOutOfRange);
  EXPECT_EQ(write(bound, 0x5F80, 8, 78), AccessFault::kWrongQp);
  AccessRequest access = request(bound, 0x5F80, 8);
  access.access = Access::kRemoteAtomic;
  EXPECT_EQ(fault(access), AccessFault::kDenied) << "not asked for at the bind";
}

TEST_F(WindowTest, AnyQueuePairOfTheDomainReachesOneThatIsBoundToNone) {
  const MemoryKey window = allocate();
  ASSERT_EQ(update({window, {{region_, 0x5000, 0x100}}, 0x5000, 0x100, kAnyQp}), KeyFault::kNone);
  EXPECT_EQ(write(withVariant(window, 0x11), 0x5000, 8, 78), AccessFault::kNone);
  AccessRequest access = request(withVariant(window, 0x11), 0x5000, 8);
  access.pd = PdNumber(pd_.value() + 1);
  EXPECT_EQ(fault(access), AccessFault::kWrongPd);
}

TEST_F(WindowTest, SeveralPiecesFollowEachOther) {
  const MemoryKey window = allocate();
  ASSERT_EQ(update({window, {{region_, 0x5100, 0x80}, {region_, 0x5010, 0x40}}, 0, 0xC0}), KeyFault::kNone);
  ASSERT_EQ(write(withVariant(window, 0x11), 0x78, 0x10), AccessFault::kNone);
  ASSERT_EQ(segments_.size(), 2U);
  EXPECT_EQ(segments_[0].address, BusAddress(0x9178));
  EXPECT_EQ(segments_[0].length, 8U);
  EXPECT_EQ(segments_[1].address, BusAddress(0x9010));
  EXPECT_EQ(segments_[1].length, 8U);
}

TEST_F(WindowTest, EachFaultOfABindLeavesTheWindowAsItWas) {
  MkeyAttributes plain = region(0x5000, 0x1000, {BusAddress(0x9000)});
  plain.rights = {true, false, false, false, false};
  const MemoryKey readOnly = create(plain);
  PdNumber other;
  ASSERT_TRUE(pds_.allocate(other).ok());
  plain = region(0x5000, 0x1000, {BusAddress(0x9000)});
  plain.pd = other;
  const MemoryKey stranger = create(plain);
  plain.pd = pd_;
  plain.boundQp = 78;
  const MemoryKey ofAnother = create(plain);
  const MemoryKey window = allocate();
  const MemoryKey unknown(region_.value() ^ 1);
  const AccessRights reads = {false, false, true, false, false};
  const auto to = [&](const KeyPiece& piece) { return Bind{window, {piece}, 0x5000, 0x100}; };
  Bind tooMany = to({region_, 0x5000, 0x100});
  tooMany.pieces.resize(5);
  Bind forOther = to({region_, 0x5000, 0x100});
  forOther.boundQp = 78;
  Bind wrapping = to({region_, 0x5000, 0x100});
  wrapping.start = kTop - 0xFE;
  const struct {
    const char* what;
    Bind bind;
    KeyFault fault;
    std::function<void(KeyUpdate&)> change;
  } kCases[] = {
      {"before the region", to({region_, 0x4FFF, 0x100}), KeyFault::kOutOfRange, {}},
      {"behind the region", to({region_, 0x6701, 0x100}), KeyFault::kOutOfRange, {}},
      {"less than the window", to({region_, 0x5000, 0xFF}), KeyFault::kOutOfRange, {}},
      {"around the end of the address space", wrapping, KeyFault::kOutOfRange, {}},
      {"right that the region lacks", to({readOnly, 0x5000, 0x100}), KeyFault::kDenied, {}},
      {"unknown region", to({unknown, 0x5000, 0x100}), KeyFault::kBadPiece, {}},
      {"region of another domain", to({stranger, 0x5000, 0x100}), KeyFault::kBadPiece, {}},
      {"region of another queue pair", to({ofAnother, 0x5000, 0x100}), KeyFault::kBadPiece, {}},
      {"free window", to({window, 0x5000, 0x100}), KeyFault::kBadPiece, {}},
      {"more pieces than it has room for", tooMany, KeyFault::kTooLong, {}},
      {"for another queue pair", forOther, KeyFault::kWrongQp, {}},
      {"of another domain", to({region_, 0x5000, 0x100}), KeyFault::kWrongPd, [&](KeyUpdate& u) { u.pd = other; }},
      {"must be valid", to({region_, 0x5000, 0x100}), KeyFault::kWrongState,
       [](KeyUpdate& u) { u.mustBeValid = true; }},
      {"must be own", to({region_, 0x5000, 0x100}), KeyFault::kWrongQp, [](KeyUpdate& u) { u.mustBeOwn = true; }},
      {"hole before the list", to({region_, 0x5000, 0x100}), KeyFault::kOutOfRange, [](KeyUpdate& u) { u.offset = 1; }},
      {"list beyond the room", to({region_, 0x5000, 0x100}), KeyFault::kTooLong, [](KeyUpdate& u) { u.offset = 4; }},
      {"no such window", {MemoryKey(0xFFFF00), {}}, KeyFault::kUnknownKey, {}},
      {"a region", {region_, {}}, KeyFault::kNotUpdatable, {}},
  };
  for (const auto& each : kCases) {
    EXPECT_EQ(update(each.bind, each.change), each.fault) << each.what;
    EXPECT_EQ(write(withVariant(window, 0x11), 0x5000, 8), AccessFault::kUnknownKey) << each.what;
  }
  EXPECT_TRUE(table_.destroy(indexOf(region_)).ok()) << "no failed bind holds it";
  Bind reading = to({readOnly, 0x5000, 0x100});
  reading.rights = reads;
  EXPECT_EQ(update(reading), KeyFault::kNone) << "to read takes no right to write";
}

TEST_F(WindowTest, ABoundWindowHasToBeFreedFirstUnlessTheBindSaysOtherwise) {
  const MemoryKey window = allocate();
  const Bind first{window, {{region_, 0x5000, 0x100}}};
  const auto mustBeFree = [](KeyUpdate& u) { u.mustBeFree = true; };
  ASSERT_EQ(update(first, mustBeFree), KeyFault::kNone);
  const MemoryKey bound = withVariant(window, 0x11);
  Bind again{bound, {{region_, 0x5200, 0x100}}, 0x5200};
  again.variant = 0x12;
  EXPECT_EQ(update(again, mustBeFree), KeyFault::kWrongState);
  again.window = window;
  EXPECT_EQ(update(again), KeyFault::kUnknownKey) << "an old key of a window that is bound";
  again.window = bound;
  ASSERT_EQ(update(again), KeyFault::kNone);
  EXPECT_EQ(write(bound, 0x5000, 8), AccessFault::kUnknownKey);
  EXPECT_EQ(write(withVariant(window, 0x12), 0x5200, 8), AccessFault::kNone);
}

TEST_F(WindowTest, RegionCantGoWhileAWindowIsBoundToIt) {
  const MemoryKey window = allocate();
  ASSERT_EQ(update({window, {{region_, 0x5000, 0x100}}}), KeyFault::kNone);
  const CommandResult busy = table_.destroy(indexOf(region_));
  EXPECT_EQ(busy.status, CommandStatus::kResourceBusy);
  EXPECT_EQ(busy.syndrome, Syndrome::kMemoryKeyInUse);
  Bind unbind{withVariant(window, 0x11), {}, 0, 0, kAnyQp, 0x13};
  unbind.free = true;
  unbind.mask = key_mask::kFree | key_mask::kVariant | key_mask::kQp;
  ASSERT_EQ(update(unbind), KeyFault::kNone);
  EXPECT_EQ(write(withVariant(window, 0x11), 0x5000, 8), AccessFault::kUnknownKey);
  EXPECT_TRUE(table_.destroy(indexOf(region_)).ok());
}

TEST_F(WindowTest, DestroyingAWindowUnbindsIt) {
  const MemoryKey window = allocate();
  ASSERT_EQ(update({window, {{region_, 0x5000, 0x100}}}), KeyFault::kNone);
  EXPECT_TRUE(table_.destroy(indexOf(window)).ok());
  EXPECT_TRUE(table_.destroy(indexOf(region_)).ok());
}

TEST_F(WindowTest, KeysOfKeysGoFourDeep) {
  MemoryKey below = region_;
  for (int level = 1; level <= 5; ++level) {
    const MemoryKey window = allocate();
    Bind bind{window, {{below, 0x5000, 0x100}}};
    bind.rights.localWrite = true;
    EXPECT_EQ(update(bind), level < 4 ? KeyFault::kNone : KeyFault::kBadPiece) << level;
    if (level < 4) below = withVariant(window, 0x11);
  }
  ASSERT_EQ(write(below, 0x5010, 8), AccessFault::kNone);
  EXPECT_EQ(segments_[0].address, BusAddress(0x9010));
}

TEST_F(WindowTest, InvalidationFreesWhatItMayAndNothingElse) {
  const MemoryKey window = allocate();
  const MemoryKey bound = withVariant(window, 0x11);
  ASSERT_EQ(update({window, {{region_, 0x5000, 0x100}}}), KeyFault::kNone);
  const auto invalidate = [&](MemoryKey key, std::uint32_t qp, bool remote, PdNumber pd) {
    return table_.invalidate({key, pd, QpNumber(qp), remote});
  };
  for (const bool remote : {false, true}) {
    EXPECT_EQ(invalidate(window, 77, remote, pd_), KeyFault::kUnknownKey) << "its variant of before";
    EXPECT_EQ(invalidate(MemoryKey(0xFFFFFF00), 77, remote, pd_), KeyFault::kUnknownKey);
    EXPECT_EQ(invalidate(bound, 78, remote, pd_), KeyFault::kWrongQp);
    EXPECT_EQ(invalidate(bound, 77, remote, PdNumber(pd_.value() + 1)), KeyFault::kWrongPd);
    EXPECT_EQ(invalidate(region_, 77, remote, pd_), KeyFault::kNotUpdatable);
  }
  EXPECT_EQ(write(bound, 0x5000, 8), AccessFault::kNone);
  EXPECT_EQ(invalidate(bound, 77, true, pd_), KeyFault::kNone);
  EXPECT_EQ(write(bound, 0x5000, 8), AccessFault::kUnknownKey);
  EXPECT_EQ(invalidate(bound, 77, true, pd_), KeyFault::kWrongState);
  EXPECT_TRUE(table_.destroy(indexOf(region_)).ok());
}

TEST_F(WindowTest, PagesComeByWorkRequestToo) {
  MkeyAttributes fast = region(0, 0, {});
  fast.free = true;
  fast.updatable = true;
  fast.translationOctwords = 2;
  const MemoryKey key = create(fast);
  std::vector<std::uint8_t> list(16);
  wire::storeBigEndian(list.data(), std::uint64_t{0x30003});  // with its right bits
  wire::storeBigEndian(list.data() + 8, std::uint64_t{0x50003});
  const auto with = [&](KeyUpdate& u) { u.translations = list; };
  Bind bind{key, {}, 0x7000, 0x2001, kAnyQp};
  EXPECT_EQ(update(bind, with), KeyFault::kOutOfRange) << "one byte more than two pages";
  bind.length = 0x2000;
  ASSERT_EQ(update(bind, with), KeyFault::kNone);
  ASSERT_EQ(write(withVariant(key, 0x11), 0x8010, 8), AccessFault::kNone);
  EXPECT_EQ(segments_[0].address, BusAddress(0x50010));
  wire::storeBigEndian(list.data(), std::uint64_t{0x70003});
  bind.window = withVariant(key, 0x11);
  bind.length = 0x4000;
  ASSERT_EQ(update(bind,
                   [&](KeyUpdate& u) {
                     u.translations = list;
                     u.partial = true;
                     u.offset = 1;
                   }),
            KeyFault::kNone);
  ASSERT_EQ(write(withVariant(key, 0x11), 0x7000, 0x4000), AccessFault::kNone);
  EXPECT_EQ(segments_[2].address, BusAddress(0x70000)) << "behind the two that stayed";
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
