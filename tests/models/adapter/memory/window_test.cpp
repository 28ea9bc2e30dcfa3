// Memory windows: keys made of others, changed by work requests.
#include <gtest/gtest.h>

#include <functional>

#include "models/adapter/memory/mkey_context.h"
#include "models/wire/wqe.h"
#include "tests/models/adapter/memory/mkey_fixture.h"

namespace hca::adapter {
namespace {

namespace key_mask = wire::key_mask;

class WindowTest : public test::MkeyTableTest {
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

}  // namespace
}  // namespace hca::adapter
