// The driver's own queue pair of UMRs: no protection domain, no peer, keys of every domain.
#include <gtest/gtest.h>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

using Options = RcPair::Options;

constexpr std::uint8_t kUmrOpcode = 0x25;
constexpr std::uint64_t kListAt = 0x60040;

/// A pair whose sender is such a queue pair: of no domain.
struct Registering : RcPair {
  explicit Registering(QpService service = QpService::kRegisteredUmr) {
    QpAttributes wanted = attributes();
    wanted.service = service;
    wanted.pd = PdNumber();
    EXPECT_TRUE(a.table.create(wanted, qpA).ok());
    connect(a, qpA, QpNumber(), 2, 0);
  }
  MemoryKey create(bool free, bool readable = true) {
    MkeyAttributes region;
    region.rights = {readable, true, true, true, true};
    region.variant = 0x21;
    region.pd = PdNumber(kPd);
    region.start = free ? 0 : kData;
    region.length = free ? 0 : 0x30000;
    region.free = free;
    region.updatable = true;
    region.translationOctwords = 4;
    for (std::uint64_t page = 0; !free && page < 48; ++page) region.pages.emplace_back(kData + page * 4096);
    MkeyIndex index;
    EXPECT_TRUE(a.translator.keys.create(region, index).ok());
    return makeKey(index, region.variant);
  }
  MkeyAttributes query(MemoryKey key) {
    MkeyAttributes attributes;
    EXPECT_TRUE(a.translator.keys.query(indexOf(key), attributes).ok());
    return attributes;
  }
  /// Control, UMR control, key context and where the list of one unit is, in memory of `list`.
  void registerPages(MemoryKey key, MemoryKey list, std::uint64_t domain = kPd) {
    std::vector<std::uint8_t> bytes;
    put(bytes, (sendIndex & 0xFFFF) << 8 | kUmrOpcode, 4);
    put(bytes, std::uint64_t{qpA.value()} << 8 | 9U, 4);
    put(bytes, 0x08, 4);
    put(bytes, key.value(), 4);
    put(bytes, 0x20, 1);  // check free
    put(bytes, 0, 3);
    put(bytes, 4, 2);  // translation octwords
    put(bytes, 0, 2);
    put(bytes, 0x200020C1, 8);  // free, variant, start, length, protection domain
    for (int i = 0; i < 4; ++i) put(bytes, 0, 8);
    put(bytes, 0, 4);
    put(bytes, 0xFFFFFF00U | 0x21U, 4);
    put(bytes, 0, 4);
    put(bytes, domain, 4);
    put(bytes, 0x7000, 8);
    put(bytes, 0x2000, 8);
    for (int i = 0; i < 4; ++i) put(bytes, 0, 8);
    put(bytes, 64, 4);
    put(bytes, list.value(), 4);
    put(bytes, kListAt, 8);
    putWqe(bytes);
    ring();
    run();
  }
  void writeList() {
    std::vector<std::uint8_t> list;
    put(list, 0x9003, 8);
    put(list, 0xB003, 8);
    std::copy(list.begin(), list.end(), a.memory.bytes.begin() + static_cast<std::ptrdiff_t>(kListAt));
  }
  static constexpr std::uint32_t kPd = PlainTranslator::kPd;
};

TEST(RegisteredUmr, RegistersKeysOfEveryDomainWithListsOfEveryDomain) {
  Registering pair;
  const MemoryKey key = pair.create(true);
  pair.writeList();
  pair.registerPages(key, pair.create(false));
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].opcode, CqeOpcode::kRequester);
  EXPECT_EQ(pair.a.completions.records[0].sendOpcode, kUmrOpcode);
  const MkeyAttributes registered = pair.query(key);
  EXPECT_FALSE(registered.free);
  EXPECT_EQ(registered.start, 0x7000U);
  EXPECT_EQ(registered.length, 0x2000U);
  ASSERT_GE(registered.pages.size(), 2u);
  EXPECT_EQ(registered.pages[1], BusAddress(0xB000));
}

TEST(RegisteredUmr, OtherQueuePairsHaveTheKeysOfTheirDomainAlone) {
  Registering pair(QpService::kRc);
  const MemoryKey key = pair.create(true);
  pair.writeList();
  pair.registerPages(key, pair.create(false));
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kLocalProtection) << "the list's key";
  EXPECT_TRUE(pair.query(key).free);
}

TEST(RegisteredUmr, TheListsKeyMustAllowToReadIt) {
  Registering pair;
  const MemoryKey key = pair.create(true);
  pair.registerPages(key, pair.create(false, false));
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kLocalProtection);
  EXPECT_TRUE(pair.query(key).free);
}

TEST(RegisteredUmr, RefusesWhatIsNotFreeAndDomainsThatAreNotThere) {
  for (const bool free : {false, true}) {
    Registering pair;
    const MemoryKey key = pair.create(free);
    pair.writeList();
    pair.registerPages(key, pair.create(false), free ? 0x77 : Registering::kPd);
    ASSERT_EQ(pair.a.completions.records.size(), 1u) << free;
    EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kMemoryWindowBind) << free;
    EXPECT_EQ(pair.query(key).free, free);
  }
}

TEST(RegisteredUmr, ExecutesNothingElseButNops) {
  for (const std::uint8_t opcode : {0x08, 0x0A, 0x10, 0x1B}) {
    Registering pair;
    Options other;
    other.opcode = opcode;
    pair.post(opcode == 0x1B ? 0 : 64, other);
    pair.run();
    ASSERT_EQ(pair.a.completions.records.size(), 1u) << int{opcode};
    EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kLocalQpOperation) << int{opcode};
    EXPECT_EQ(pair.a.wire.sent, 0);
  }
  Registering pair;
  Options nop;
  nop.opcode = 0;
  pair.post(0, nop);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_FALSE(pair.a.completions.records[0].isError());
}

TEST(RegisteredUmr, NoPacketReachesIt) {
  Registering pair;
  pair.a.wire.receiver = &pair.a.dispatcher.port(1);
  pair.qpA = RcPair::create(pair.a, QpService::kRc);
  RcPair::connect(pair.a, pair.qpA, pair.qpB, 2, 0);
  const QpNumber registers = RcPair::create(pair.a, QpService::kRegisteredUmr);
  RcPair::connect(pair.a, registers, QpNumber(), 2, 0);
  pair.a.wire.filter = [&](network::Packet& packet) {
    packet.destinationQp = registers;
    return true;
  };
  pair.post(64);
  pair.run(microseconds(1));
  EXPECT_EQ(pair.a.dispatcher.drops().wrongService, 1u);
}

}  // namespace
}  // namespace hca::adapter::test
