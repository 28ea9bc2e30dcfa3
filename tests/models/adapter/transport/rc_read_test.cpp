// RDMA READ and atomics of reliable connections: data, limits, fences, loss.
#include <gtest/gtest.h>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

constexpr std::uint64_t kRemote = 0x60000;  // of B; the local buffer is RcPair::kData of A

RcPair::Options read() {
  RcPair::Options options;
  options.opcode = 0x10;
  options.remote = kRemote;
  return options;
}
RcPair::Options atomic(std::uint8_t opcode, std::uint64_t swapOrAdd, std::uint64_t compare = 0) {
  RcPair::Options options;
  options.opcode = opcode;
  options.remote = kRemote;
  options.swapOrAdd = swapOrAdd;
  options.compare = compare;
  return options;
}
void fillRemote(RcPair& pair, std::uint32_t length) {
  for (std::uint32_t i = 0; i < length; ++i) pair.b.memory.bytes[kRemote + i] = static_cast<std::uint8_t>(i * 5 + 1);
}
bool returned(const RcPair& pair, std::uint32_t length) {
  return std::memcmp(&pair.a.memory.bytes[RcPair::kData], &pair.b.memory.bytes[kRemote], length) == 0;
}
std::uint64_t word(const Side& side, std::uint64_t address) {
  std::uint64_t value;
  std::memcpy(&value, &side.memory.bytes[address], sizeof value);
  return value;
}

TEST(RcRead, BringsDataOfOneAndOfSeveralPackets) {
  for (const std::uint32_t length : {1U, 255U, 256U, 257U, 1000U}) {
    RcPair pair;
    fillRemote(pair, 1024);
    pair.post(length, read());
    pair.run();
    EXPECT_TRUE(returned(pair, length)) << length;
    EXPECT_EQ(pair.a.memory.bytes[RcPair::kData + length], 0) << "nothing beyond " << length;
    ASSERT_EQ(pair.a.completions.records.size(), 1u);
    EXPECT_EQ(pair.a.completions.records[0].byteCount, length);
    EXPECT_EQ(pair.a.wire.sent, 1);
    EXPECT_EQ(pair.b.wire.sent, static_cast<int>((length + 255) / 256));
  }
}

TEST(RcRead, CompletesInOrderWithWritesAround) {
  RcPair pair;
  fillRemote(pair, 600);
  pair.post(64);
  pair.post(600, read());
  pair.post(64);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 3u);
  for (std::uint16_t i = 0; i < 3; ++i) EXPECT_EQ(pair.a.completions.records[i].wqeCounter, i);
  EXPECT_EQ(pair.a.requester.retransmissions(), 0u);
}

TEST(RcRead, NoMoreInFlightThanAllowed) {
  RcPair pair;
  int outstanding = 0, most = 0;
  pair.a.wire.filter = [&](network::Packet& packet) {
    if (packet.operation == network::Operation::kReadRequest) most = std::max(most, ++outstanding);
    return true;
  };
  pair.b.wire.filter = [&](network::Packet& packet) {
    if (network::carriesAeth(packet.operation) && packet.operation != network::Operation::kAcknowledge &&
        packet.operation != network::Operation::kReadResponseFirst) {
      --outstanding;
    }
    return true;
  };
  for (int i = 0; i < 8; ++i) pair.post(600, read());
  pair.run();
  EXPECT_EQ(pair.a.completions.records.size(), 8u);
  EXPECT_EQ(most, 2);
}

TEST(RcRead, FenceWaitsForReads) {
  RcPair pair;
  int responses = 0;
  bool early = false;
  pair.b.wire.filter = [&](network::Packet& packet) {
    responses += packet.operation == network::Operation::kReadResponseLast ? 1 : 0;
    return true;
  };
  pair.a.wire.filter = [&](network::Packet& packet) {
    if (packet.operation == network::Operation::kWriteOnly) early = responses == 0;
    return true;
  };
  pair.post(600, read());
  RcPair::Options fenced;
  fenced.completion = 0x08 | 0x40;  // CQE, fence mode 2
  pair.post(64, fenced);
  pair.run();
  EXPECT_EQ(pair.a.completions.records.size(), 2u);
  EXPECT_FALSE(early);
}

// Every single packet of a read exchange lost once, either way: the data are right, nothing completes twice.
TEST(RcRead, SurvivesTheLossOfAnyPacket) {
  for (int lost = 1; lost <= 7; ++lost) {
    for (const bool forward : {true, false}) {
      RcPair pair;
      fillRemote(pair, 1000);
      int count = 0;
      (forward ? pair.a : pair.b).wire.filter = [&](network::Packet&) { return ++count != lost; };
      pair.post(1000, read());
      pair.post(64);
      pair.post(700, read());
      pair.run(microseconds(200));
      EXPECT_TRUE(returned(pair, 1000)) << lost << forward;
      ASSERT_EQ(pair.a.completions.records.size(), 3u) << lost << forward;
      for (std::uint16_t i = 0; i < 3; ++i) {
        EXPECT_EQ(pair.a.completions.records[i].wqeCounter, i);
        EXPECT_EQ(pair.a.completions.records[i].opcode, CqeOpcode::kRequester);
      }
    }
  }
}

// The send behind the read finds no receive: that isn't the read's fault.
TEST(RcRead, ReceiverNotReadyBehindALostResponseFailsTheSend) {
  RcPair pair;
  fillRemote(pair, 64);
  int count = 0;
  pair.b.wire.filter = [&](network::Packet&) { return ++count != 1; };
  RcPair::Options send;
  send.opcode = 0x0A;
  pair.post(64, read());
  pair.post(64, send);
  pair.run(milliseconds(100));
  EXPECT_TRUE(returned(pair, 64));
  ASSERT_EQ(pair.a.completions.records.size(), 2u);
  EXPECT_EQ(pair.a.completions.records[0].opcode, CqeOpcode::kRequester);
  EXPECT_EQ(pair.a.completions.records[1].syndrome, CqeSyndrome::kRnrRetryExceeded);
}

TEST(RcRead, RefusedWithoutTheRight) {
  RcPair pair;
  RcPair::Options bad = read();
  bad.remoteKey = 0x9999;
  pair.post(64, bad);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kRemoteAccess);
}

TEST(RcRead, BadLocalBufferFailsAtTheRequester) {
  RcPair pair;
  RcPair::Options bad = read();
  bad.key = 0x9999;
  pair.post(64, bad);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kLocalProtection);
}

TEST(RcAtomic, FetchAddReturnsTheValueBefore) {
  RcPair pair;
  pair.b.memory.bytes[kRemote] = 41;
  pair.post(8, atomic(0x12, 1));
  pair.run();
  EXPECT_EQ(word(pair.b, kRemote), 42u);
  EXPECT_EQ(word(pair.a, RcPair::kData), 41u);
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].sendOpcode, 0x12);
}

TEST(RcAtomic, CompareSwapSwapsOnlyWhenEqual) {
  RcPair pair;
  pair.b.memory.bytes[kRemote] = 5;
  pair.post(8, atomic(0x11, 9, 4));
  pair.run();
  EXPECT_EQ(word(pair.b, kRemote), 5u);
  EXPECT_EQ(word(pair.a, RcPair::kData), 5u);
  pair.post(8, atomic(0x11, 9, 5));
  pair.run();
  EXPECT_EQ(word(pair.b, kRemote), 9u);
}

TEST(RcAtomic, SameAddressIsSerialised) {
  RcPair pair;
  for (int i = 0; i < 12; ++i) pair.post(8, atomic(0x12, 1));
  pair.run(microseconds(100));
  EXPECT_EQ(pair.a.completions.records.size(), 12u);
  EXPECT_EQ(word(pair.b, kRemote), 12u);
  EXPECT_GT(pair.b.atomics.conflicts(), 0u);
}

TEST(RcAtomic, DuplicateIsAnsweredAndNotExecutedAgain) {
  RcPair pair;
  int count = 0;
  pair.b.wire.filter = [&](network::Packet&) { return ++count != 1; };
  pair.b.memory.bytes[kRemote] = 7;
  pair.post(8, atomic(0x12, 1));
  pair.run(microseconds(100));
  EXPECT_EQ(word(pair.b, kRemote), 8u);
  EXPECT_EQ(word(pair.a, RcPair::kData), 7u);
  EXPECT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.b.responder.duplicates(), 1u);
}

TEST(RcAtomic, UnalignedIsAnInvalidRequest) {
  RcPair pair;
  RcPair::Options odd = atomic(0x12, 1);
  odd.remote += 4;
  pair.post(8, odd);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kRemoteInvalidRequest);
}

}  // namespace
}  // namespace hca::adapter::test
