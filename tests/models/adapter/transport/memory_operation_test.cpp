// Requests that change memory keys: UMR as libmlx5 writes it, local and remote invalidate.
#include <gtest/gtest.h>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

using Options = RcPair::Options;

constexpr std::uint8_t kUmr = 0x25, kLocalInvalidate = 0x1B, kRead = 0x10, kSendInvalidate = 0x01;
constexpr std::uint32_t kAnyQp = 0xFFFFFF;
constexpr std::uint8_t kVariant = 0x33;

MemoryKey create(Side& side, const MkeyAttributes& attributes) {
  MkeyIndex index;
  EXPECT_TRUE(side.translator.keys.create(attributes, index).ok());
  return makeKey(index, attributes.variant);
}
/// A region that covers 64 KiB of the bus one to one.
MkeyAttributes region() {
  MkeyAttributes region;
  region.rights = {true, true, true, true, true};
  region.pd = PdNumber(PlainTranslator::kPd);
  region.start = RcPair::kData;
  region.length = 0x10000;
  for (std::uint64_t page = 0; page < 16; ++page) region.pages.emplace_back(RcPair::kData + page * 4096);
  region.updatable = true;
  region.remoteInvalidate = true;
  return region;
}
MemoryKey window(Side& side) {
  MkeyAttributes window;
  window.free = true;
  window.mode = MkeyMode::kIndirect;
  window.updatable = true;
  window.remoteInvalidate = true;
  window.pd = PdNumber(PlainTranslator::kPd);
  window.translationOctwords = 4;
  return create(side, window);
}
bool isFree(Side& side, MemoryKey key) {
  MkeyAttributes attributes;
  EXPECT_TRUE(side.translator.keys.query(indexOf(key), attributes).ok());
  return attributes.free;
}

struct Bind {
  MemoryKey window;
  MemoryKey region;
  std::uint64_t address = RcPair::kData;
  std::uint32_t length = 256;
  std::uint8_t flags = 0xB0;  // inline, check free, translation offset
  std::uint8_t fence = 0;
  std::uint64_t listAddress = 0;  // the list is there instead
  std::uint32_t listKey = PlainTranslator::kKey;
  std::uint32_t listLength = 64;
};

/// Control, UMR control, key context, and one row of translation or where it is.
std::vector<std::uint8_t> bindWqe(const RcPair& pair, const Bind& b) {
  std::vector<std::uint8_t> bytes;
  const bool points = b.listAddress != 0;
  RcPair::put(bytes, (pair.sendIndex & 0xFFFF) << 8 | kUmr, 4);
  RcPair::put(bytes, std::uint64_t{pair.qpA.value()} << 8 | (points ? 9U : 12U), 4);
  RcPair::put(bytes, 0x08U | b.fence, 4);
  RcPair::put(bytes, b.window.value(), 4);
  RcPair::put(bytes, points ? b.flags & 0x7FU : b.flags, 1);
  RcPair::put(bytes, 0, 3);
  RcPair::put(bytes, 4, 2);  // translation octwords
  RcPair::put(bytes, 0, 2);
  RcPair::put(bytes, 0x203C6041, 8);  // free, variant, QP, length, start, rights
  RcPair::put(bytes, 0, 8);
  for (int i = 0; i < 3; ++i) RcPair::put(bytes, 0, 8);
  RcPair::put(bytes, 0x00003000, 4);  // remote write and read
  RcPair::put(bytes, std::uint64_t{pair.qpA.value()} << 8 | kVariant, 4);
  RcPair::put(bytes, 0, 8);
  RcPair::put(bytes, b.address, 8);
  RcPair::put(bytes, b.length, 8);
  for (int i = 0; i < 4; ++i) RcPair::put(bytes, 0, 8);
  RcPair::put(bytes, points ? b.listLength : b.length, 4);
  RcPair::put(bytes, points ? b.listKey : b.region.value(), 4);
  RcPair::put(bytes, points ? b.listAddress : b.address, 8);
  while (!points && bytes.size() % 64 != 0) RcPair::put(bytes, 0, 8);
  return bytes;
}
void bind(RcPair& pair, const Bind& b) {
  pair.putWqe(bindWqe(pair, b));
  pair.ring();
}
Options invalidate(MemoryKey key, std::uint8_t fence = 0) {
  Options options;
  options.opcode = kLocalInvalidate;
  options.immediate = key.value();
  options.completion = static_cast<std::uint8_t>(0x08 | fence);
  return options;
}
Options sendInvalidate(MemoryKey key) {
  Options options;
  options.opcode = kSendInvalidate;
  options.immediate = key.value();
  return options;
}

TEST(MemoryOperation, BindMakesTheWindowValidUnderItsNewKey) {
  RcPair pair;
  const MemoryKey own = window(pair.a);
  bind(pair, {own, create(pair.a, region())});
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  const CompletionRecord& record = pair.a.completions.records[0];
  EXPECT_EQ(record.opcode, CqeOpcode::kRequester);
  EXPECT_EQ(record.sendOpcode, kUmr);
  EXPECT_EQ(record.wqeCounter, 0);
  MkeyAttributes bound;
  ASSERT_TRUE(pair.a.translator.keys.query(indexOf(own), bound).ok());
  EXPECT_FALSE(bound.free);
  EXPECT_EQ(bound.variant, kVariant);
  EXPECT_EQ(bound.boundQp, pair.qpA.value());
  EXPECT_EQ(bound.length, 256u);
  EXPECT_EQ(pair.a.wire.sent, 0);
}

TEST(MemoryOperation, TakesItsCyclesAfterItsTurn) {
  for (const std::int64_t cycles : {50, 500}) {
    RcPair pair;
    pair.a.config.memoryOperationCycles = Cycles(cycles);
    Time scheduled, completed;
    pair.a.probes.stage.attach([&](const observe::StageEvent& event) {
      if (event.stage == observe::Stage::kScheduled) scheduled = event.time;
      if (event.stage == observe::Stage::kAcknowledged) completed = event.time;
    });
    bind(pair, {window(pair.a), create(pair.a, region())});
    pair.run();
    EXPECT_EQ(completed - scheduled, nanoseconds(cycles));
  }
}

TEST(MemoryOperation, RefusedBindFailsWithItsOwnStatusAndFlushesTheRest) {
  RcPair pair;
  const MemoryKey own = window(pair.a);
  pair.putWqe(bindWqe(pair, {own, create(pair.a, region()), RcPair::kData + 0x10000 - 255}));
  pair.putWqe(pair.wqe(64, {}));
  pair.ring();
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 2u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kMemoryWindowBind);
  EXPECT_EQ(pair.a.completions.records[1].syndrome, CqeSyndrome::kWorkRequestFlushed);
  EXPECT_TRUE(isFree(pair.a, own));
  EXPECT_TRUE(pair.a.table.find(pair.qpA)->inError());
  EXPECT_EQ(pair.a.wire.sent, 0);
}

TEST(MemoryOperation, ListMayLieInHostMemory) {
  constexpr std::uint64_t kList = 0x60040;
  RcPair pair;
  const MemoryKey target = create(pair.a, region());
  std::vector<std::uint8_t> list;
  RcPair::put(list, 256, 4);
  RcPair::put(list, target.value(), 4);
  RcPair::put(list, RcPair::kData, 8);
  std::copy(list.begin(), list.end(), pair.a.memory.bytes.begin() + static_cast<std::ptrdiff_t>(kList));
  Bind points{window(pair.a), target};
  points.listAddress = kList;
  bind(pair, points);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].opcode, CqeOpcode::kRequester);
  EXPECT_FALSE(isFree(pair.a, points.window));
}

TEST(MemoryOperation, WhatCantBeReadFailsTheRequest) {
  const struct {
    const char* what;
    std::uint32_t key, length;
    std::uint64_t address;
    CqeSyndrome syndrome;
  } kCases[] = {
      {"unknown key", 0x999901, 64, 0x60040, CqeSyndrome::kLocalProtection},
      {"beyond the memory", PlainTranslator::kKey, 64, 0xFFFF0, CqeSyndrome::kLocalProtection},
      {"less than announced", PlainTranslator::kKey, 63, 0x60040, CqeSyndrome::kLocalQpOperation},
  };
  for (const auto& each : kCases) {
    RcPair pair;
    Bind points{window(pair.a), create(pair.a, region())};
    points.listAddress = each.address;
    points.listKey = each.key;
    points.listLength = each.length;
    bind(pair, points);
    pair.run();
    ASSERT_EQ(pair.a.completions.records.size(), 1u) << each.what;
    EXPECT_EQ(pair.a.completions.records[0].syndrome, each.syndrome) << each.what;
    EXPECT_TRUE(isFree(pair.a, points.window)) << each.what;
  }
}

TEST(MemoryOperation, TruncatedUmrIsMalformed) {
  RcPair pair;
  std::vector<std::uint8_t> wqe = bindWqe(pair, {window(pair.a), create(pair.a, region())});
  wqe[7] = 7;  // ends within the context
  pair.putWqe(wqe);
  pair.ring();
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kLocalQpOperation);
}

TEST(MemoryOperation, DatagramQueuePairHasNone) {
  RcPair pair(0, QpService::kUd);
  bind(pair, {window(pair.a), create(pair.a, region())});
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kLocalQpOperation);
}

TEST(MemoryOperation, LocalInvalidateFreesAndASecondOneFails) {
  RcPair pair;
  const MemoryKey key = create(pair.a, region());
  pair.post(0, invalidate(key));
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].opcode, CqeOpcode::kRequester);
  EXPECT_EQ(pair.a.completions.records[0].sendOpcode, kLocalInvalidate);
  EXPECT_TRUE(isFree(pair.a, key));
  pair.post(0, invalidate(key));
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 2u);
  EXPECT_EQ(pair.a.completions.records[1].syndrome, CqeSyndrome::kMemoryWindowBind);
}

// A read writes into memory whose key goes away behind it: only a fence makes that right.
TEST(MemoryOperation, FenceWaitsForReads) {
  constexpr std::uint8_t kNone = 0, kSmall = 1 << 5, kFence = 2 << 5, kStrong = 3 << 5, kSmallAndFence = 4 << 5;
  for (const std::uint8_t fence : {kNone, kSmall, kFence, kStrong, kSmallAndFence}) {
    RcPair pair;
    const MemoryKey key = create(pair.a, region());
    Options read;
    read.opcode = kRead;
    read.key = key.value();
    pair.putWqe(pair.wqe(600, read));
    pair.putWqe(pair.wqe(0, invalidate(key, fence)));
    pair.ring();
    pair.run();
    ASSERT_EQ(pair.a.completions.records.size(), 2u) << int{fence};
    const bool waits = fence >= kFence;
    EXPECT_EQ(pair.a.completions.records[0].opcode, waits ? CqeOpcode::kRequester : CqeOpcode::kRequesterError);
    EXPECT_TRUE(waits || pair.a.completions.records[0].syndrome == CqeSyndrome::kLocalProtection);
    EXPECT_TRUE(isFree(pair.a, key));
  }
}

TEST(MemoryOperation, StrongOrderingWaitsForAcknowledgementsToo) {
  for (const bool strong : {false, true}) {
    for (const QpService service : {QpService::kRc, QpService::kUc}) {
      RcPair pair(0, service);
      const MemoryKey key = create(pair.a, region());
      bool freeAtArrival = false;
      pair.a.wire.filter = [&](network::Packet&) {
        freeAtArrival = isFree(pair.a, key);
        return true;
      };
      pair.b.wire.filter = [&](network::Packet&) {
        freeAtArrival = isFree(pair.a, key);
        return true;
      };
      pair.putWqe(pair.wqe(64, {}));
      pair.putWqe(pair.wqe(0, invalidate(key, strong ? 3 << 5 : 0)));
      pair.ring();
      pair.run();
      EXPECT_EQ(pair.a.completions.records.size(), 2u);
      EXPECT_TRUE(isFree(pair.a, key));
      EXPECT_TRUE(service == QpService::kUc || freeAtArrival != strong);
    }
  }
}

TEST(MemoryOperation, CompletesBehindWhatWentBeforeAndIsDoneOnceHoweverOftenThatIsSent) {
  RcPair pair;
  int count = 0;
  pair.a.wire.filter = [&](network::Packet&) { return ++count != 1; };
  const Bind once{window(pair.a), create(pair.a, region())};  // would fail if it were done again: not free
  pair.putWqe(pair.wqe(64, {}));
  pair.putWqe(bindWqe(pair, once));
  pair.putWqe(pair.wqe(64, {}));
  pair.ring();
  pair.run();
  EXPECT_EQ(pair.a.requester.retransmissions(), 1u);
  ASSERT_EQ(pair.a.completions.records.size(), 3u);
  for (const CompletionRecord& record : pair.a.completions.records) EXPECT_EQ(record.opcode, CqeOpcode::kRequester);
  EXPECT_EQ(pair.a.completions.records[1].sendOpcode, kUmr);
  EXPECT_FALSE(isFree(pair.a, once.window));
}

TEST(MemoryOperation, WhatIsUnderWayWhenTheQueuePairFailsHasNoEffect) {
  RcPair pair;
  pair.a.config.memoryOperationCycles = Cycles(5000);
  const Bind late{window(pair.a), create(pair.a, region())};
  bind(pair, late);
  pair.run(microseconds(1));
  ASSERT_TRUE(pair.a.table.modify(pair.qpA, QpTransition::kToError, 0, {}).ok());
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kWorkRequestFlushed);
  EXPECT_TRUE(isFree(pair.a, late.window));
}

// ---- the peer's keys

TEST(RemoteInvalidate, FreesTheKeyAndTellsWhich) {
  for (const std::uint32_t length : {0u, 64u, 600u}) {
    RcPair pair;
    const MemoryKey key = create(pair.b, region());
    pair.postReceive(1024);
    pair.fill(length);
    pair.post(length, sendInvalidate(key));
    pair.run();
    EXPECT_TRUE(pair.arrived(length));
    EXPECT_TRUE(isFree(pair.b, key));
    ASSERT_EQ(pair.b.completions.records.size(), 1u);
    EXPECT_EQ(pair.b.completions.records[0].opcode, CqeOpcode::kResponderSendInvalidate);
    EXPECT_EQ(pair.b.completions.records[0].immediateOrKey, key.value());
    ASSERT_EQ(pair.a.completions.records.size(), 1u);
    EXPECT_EQ(pair.a.completions.records[0].sendOpcode, kSendInvalidate);
  }
}

TEST(RemoteInvalidate, DuplicateIsAcknowledgedAndNotDoneAgain) {
  RcPair pair;
  int count = 0;
  pair.b.wire.filter = [&](network::Packet&) { return ++count != 1; };  // the acknowledgement is lost
  pair.postReceive(64);
  pair.post(64, sendInvalidate(create(pair.b, region())));
  pair.run();
  EXPECT_EQ(pair.b.responder.duplicates(), 1u);
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].opcode, CqeOpcode::kRequester);
}

TEST(RemoteInvalidate, BadKeyEndsBothSides) {
  MkeyAttributes fixed = region();
  fixed.remoteInvalidate = false;
  MkeyAttributes ofAnother = region();
  ofAnother.boundQp = 0x123;
  for (int bad = 0; bad < 4; ++bad) {
    RcPair pair;
    MemoryKey key(0x778801);
    if (bad == 1) key = create(pair.b, fixed);
    if (bad == 2) key = create(pair.b, ofAnother);
    if (bad == 3) key = window(pair.b);
    pair.postReceive(64);
    pair.postReceive(64);
    pair.post(64, sendInvalidate(key));
    pair.run();
    ASSERT_EQ(pair.a.completions.records.size(), 1u) << bad;
    EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kRemoteAccess) << bad;
    ASSERT_EQ(pair.b.completions.records.size(), 2u) << bad;
    EXPECT_EQ(pair.b.completions.records[0].syndrome, CqeSyndrome::kRemoteInvalidRequest) << bad;
    EXPECT_EQ(pair.b.completions.records[1].syndrome, CqeSyndrome::kWorkRequestFlushed) << bad;
  }
}

TEST(RemoteInvalidate, UnreliableConnectionHasNone) {
  RcPair pair(0, QpService::kUc);
  pair.post(64, sendInvalidate(create(pair.b, region())));
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kLocalQpOperation);
}

TEST(RemoteInvalidate, NoAccessAfterIt) {
  RcPair pair;
  Options write;
  write.remoteKey = create(pair.b, region()).value();
  pair.postReceive(64);
  pair.fill(64);
  pair.putWqe(pair.wqe(64, write));
  pair.putWqe(pair.wqe(0, sendInvalidate(MemoryKey(write.remoteKey))));
  pair.putWqe(pair.wqe(64, write));
  pair.ring();
  pair.run();
  EXPECT_TRUE(pair.arrived(64));
  ASSERT_EQ(pair.a.completions.records.size(), 3u);
  EXPECT_EQ(pair.a.completions.records[1].opcode, CqeOpcode::kRequester);
  EXPECT_EQ(pair.a.completions.records[2].syndrome, CqeSyndrome::kRemoteAccess);
}

TEST(RemoteInvalidate, KeyOfAnotherQueuePairGivesNoAccess) {
  RcPair pair;
  MkeyAttributes attributes = region();
  attributes.boundQp = pair.qpB.value() + 1;
  Options write;
  write.remoteKey = create(pair.b, attributes).value();
  pair.post(64, write);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kRemoteAccess);
}

}  // namespace
}  // namespace hca::adapter::test
