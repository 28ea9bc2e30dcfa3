// Regions registered by work requests as the Linux driver writes them: lists of whole units of 64 bytes, from a queue
// pair that belongs to no protection domain.
#include <gtest/gtest.h>

#include "models/adapter/memory/mkey_context.h"
#include "models/wire/wqe.h"
#include "tests/models/adapter/memory/mkey_fixture.h"

namespace hca::adapter {
namespace {

namespace key_mask = wire::key_mask;

class RegistrationTest : public test::MkeyTableTest {
 protected:
  static constexpr std::size_t kPerUnit = 8;  // entries of 8 bytes in 64
  static constexpr std::uint64_t kMask =
      key_mask::kFree | key_mask::kVariant | key_mask::kLength | key_mask::kStart | key_mask::kProtectionDomain;

  /// A free key with room for `octwords` of translations.
  MemoryKey allocate(std::uint64_t octwords) {
    MkeyAttributes attributes = region(0, 0, {});
    attributes.free = true;
    attributes.updatable = true;
    attributes.translationOctwords = octwords;
    return create(attributes);
  }
  /// `pages` pages of 0x10000, 0x12000, ..., padded with zeros to `units` units.
  static std::vector<std::uint8_t> list(std::size_t pages, std::size_t units) {
    std::vector<std::uint8_t> bytes(units * 64);
    for (std::size_t n = 0; n < pages; ++n) {
      wire::storeBigEndian(bytes.data() + n * 8, std::uint64_t{0x10003} + n * 0x2000);
    }
    return bytes;
  }
  struct Registration {
    MemoryKey key;
    std::size_t pages = 1;
    std::size_t units = 1;
    std::uint64_t offset = 0;  // octwords
    PdNumber into{};
    bool isPrivileged = true;
  };
  KeyFault update(const Registration& wish) {
    MkeyAttributes wanted;
    wanted.start = 0x7000;
    wanted.length = (wish.offset * 2 + wish.pages) * 0x1000;
    wanted.variant = 0x11;
    wanted.pd = wish.into == PdNumber() ? pd_ : wish.into;
    std::vector<std::uint8_t> context(wire::MemoryKeyContext::kSize);
    encodeMkeyContext(wanted, context);
    const std::vector<std::uint8_t> entries = list(wish.pages, wish.units);
    KeyUpdate update;
    update.key = wish.key;
    update.qp = QpNumber(77);
    update.isPrivileged = wish.isPrivileged;
    update.pd = PdNumber(0xABCDE);  // none
    update.mask = kMask;
    update.context = context;
    update.translations = entries;
    update.partial = wish.offset != 0;
    update.offset = wish.offset;
    return table_.update(update);
  }
  static MemoryKey registered(MemoryKey key) { return makeKey(indexOf(key), 0x11); }
  PdNumber domainOf(MemoryKey key) {
    MkeyAttributes attributes;
    EXPECT_TRUE(table_.query(indexOf(key), attributes).ok());
    return attributes.pd;
  }
};

TEST_F(RegistrationTest, AListMayBePaddedToAWholeUnitAndNoFurther) {
  for (const std::uint64_t room : {1U, 2U, 3U, 4U}) {
    EXPECT_EQ(update({allocate(room), 2 * room, 1}), KeyFault::kNone) << room;
    EXPECT_EQ(update({allocate(room), 2 * room, 2}), KeyFault::kTooLong) << room;
  }
  EXPECT_EQ(update({allocate(5), 10, 2}), KeyFault::kNone);
  EXPECT_EQ(update({allocate(5), 10, 3}), KeyFault::kTooLong);
  EXPECT_EQ(update({allocate(0), 1, 1}), KeyFault::kTooLong) << "no room at all";
}

TEST_F(RegistrationTest, TheRoomCountsFromWhereTheListStarts) {
  const MemoryKey key = allocate(5);  // rounded: 8
  ASSERT_EQ(update({key, kPerUnit, 1}), KeyFault::kNone);
  ASSERT_EQ(update({registered(key), 2, 1, 4}), KeyFault::kNone);
  EXPECT_EQ(update({registered(key), 2, 1, 5}), KeyFault::kTooLong);
  EXPECT_EQ(update({registered(key), 2, 1, 8}), KeyFault::kTooLong);
  EXPECT_EQ(update({registered(key), 2, 1, 0xFFFF}), KeyFault::kTooLong);
  ASSERT_EQ(fault(request(registered(key), 0x7000 + 9 * 0x1000 + 0x10, 8)), AccessFault::kNone);
  EXPECT_EQ(segments_[0].address, BusAddress(0x12010)) << "second of the second list";
}

TEST_F(RegistrationTest, PaddingTranslatesToNothing) {
  const MemoryKey key = allocate(2);
  ASSERT_EQ(update({key, 3, 1}), KeyFault::kNone);
  EXPECT_EQ(fault(request(registered(key), 0x7000, 0x3000)), AccessFault::kNone);
  EXPECT_EQ(fault(request(registered(key), 0x7000, 0x3001)), AccessFault::kOutOfRange);
}

TEST_F(RegistrationTest, OnlyThePrivilegedMayMoveAKeyIntoAnotherDomain) {
  PdNumber other;
  ASSERT_TRUE(pds_.allocate(other).ok());
  const MemoryKey key = allocate(4);
  EXPECT_EQ(update({key, 1, 1, 0, other, false}), KeyFault::kWrongPd);
  EXPECT_EQ(domainOf(key), pd_);
  EXPECT_EQ(update({key, 1, 1, 0, PdNumber(0x3FF)}), KeyFault::kWrongPd) << "a domain that is not there";
  ASSERT_EQ(update({key, 1, 1, 0, other}), KeyFault::kNone);
  EXPECT_EQ(domainOf(key), other);
  EXPECT_EQ(fault(request(registered(key), 0x7000, 8)), AccessFault::kWrongPd) << "of the former domain";
  AccessRequest access = request(registered(key), 0x7000, 8);
  access.pd = other;
  EXPECT_EQ(fault(access), AccessFault::kNone);
}

TEST_F(RegistrationTest, TheDomainOfAKeyIsHeldWherever) {
  PdNumber other;
  ASSERT_TRUE(pds_.allocate(other).ok());
  const MemoryKey key = allocate(4);
  EXPECT_FALSE(pds_.release(pd_).ok()) << "in use";
  ASSERT_EQ(update({key, 1, 1, 0, other}), KeyFault::kNone);
  EXPECT_FALSE(pds_.release(other).ok()) << "in use";
  EXPECT_TRUE(pds_.release(pd_).ok()) << "let go";
  ASSERT_TRUE(table_.destroy(indexOf(key)).ok());
  EXPECT_TRUE(pds_.release(other).ok());
}

TEST_F(RegistrationTest, PrivilegedAccessIsNotAskedForItsDomainButForTheRest) {
  MkeyAttributes readOnly = region(0x5000, 0x1000, {BusAddress(0x9000)});
  readOnly.rights.localWrite = false;
  const MemoryKey key = create(readOnly);
  AccessRequest access = request(key, 0x5000, 8);
  access.pd = PdNumber(0xABCDE);
  EXPECT_EQ(fault(access), AccessFault::kWrongPd);
  access.isPrivileged = true;
  EXPECT_EQ(fault(access), AccessFault::kNone);
  access.length = 0x1001;
  EXPECT_EQ(fault(access), AccessFault::kOutOfRange);
  access.length = 8;
  access.access = Access::kLocalWrite;
  EXPECT_EQ(fault(access), AccessFault::kDenied);
  access.key = makeKey(indexOf(key), 0x43);
  EXPECT_EQ(fault(access), AccessFault::kUnknownKey);
}

}  // namespace
}  // namespace hca::adapter
