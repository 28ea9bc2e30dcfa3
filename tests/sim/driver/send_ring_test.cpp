#include "sim/driver/send_ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "models/host/sparse_memory.h"

namespace hca::driver {
namespace {

using Bytes8 = std::vector<std::uint8_t>;

class SendRingTest : public testing::Test {
 protected:
  SendRingTest() {
    size_.blocks = 8;
    size_.maxPosted = 4;
    size_.maxGather = 3;
    size_.maxInline = 60;
    source_ = memory_.allocate(4096, 4096);
    std::uint8_t* bytes = memory_.direct(source_, 4096);
    std::iota(bytes, bytes + 256, std::uint8_t{0});
  }

  SendRing makeRing() { return {blocks_.data(), counter_.data(), size_, QpNumber(0xABCDEF), QpType::kRc}; }
  [[nodiscard]] Bytes8 at(std::size_t offset, std::size_t length) const {
    return {blocks_.begin() + static_cast<std::ptrdiff_t>(offset),
            blocks_.begin() + static_cast<std::ptrdiff_t>(offset + length)};
  }
  [[nodiscard]] SendWorkRequest write(std::uint64_t id, std::size_t pieces = 1) const {
    SendWorkRequest request;
    request.workRequestId = id;
    request.opcode = SendOpcode::kWrite;
    for (std::size_t i = 0; i < pieces; ++i) request.scatterGather.push_back({0x1122334455667788, 0x99, MemoryKey(7)});
    request.remoteAddress = 0x0102030405060708;
    request.remoteKey = MemoryKey(0xA0B0C0D0);
    return request;
  }
  [[nodiscard]] SendWorkRequest inlined(std::uint32_t length) const {
    SendWorkRequest request;
    request.inlineData = true;
    request.scatterGather.push_back({source_, length, MemoryKey(0)});
    return request;
  }

  SendQueueSize size_;
  std::vector<std::uint8_t> blocks_ = std::vector<std::uint8_t>(8 * 64, 0x5A);
  std::vector<std::uint8_t> counter_ = std::vector<std::uint8_t>(4);
  host::SparseMemory memory_;
  std::uint64_t source_ = 0;
};

TEST_F(SendRingTest, WriteIsControlRemoteAddressAndData) {
  SendRing ring = makeRing();
  ASSERT_EQ(ring.post(write(1), memory_), VerbsError::kNone);
  EXPECT_EQ(at(0, 48), (Bytes8{// control: opcode WRITE, block 0; QP number, three units; completion always
                               0x00, 0x00, 0x00, 0x08, 0xAB, 0xCD, 0xEF, 0x03, 0, 0, 0, 0x08, 0, 0, 0, 0,
                               // remote address and key
                               1, 2, 3, 4, 5, 6, 7, 8, 0xA0, 0xB0, 0xC0, 0xD0, 0, 0, 0, 0,
                               // length, key, address
                               0, 0, 0, 0x99, 0, 0, 0, 7, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}));
  EXPECT_EQ(at(48, 1)[0], 0x5A) << "nothing behind the request is touched";
}

TEST_F(SendRingTest, BindAndInvalidateAreUmrsAndFenceWhatFollows) {
  SendRing ring = makeRing();
  SendWorkRequest bind;
  bind.opcode = SendOpcode::kBindWindow;
  bind.bind.window = MemoryKey(0x00112233);
  bind.bind.newKey = MemoryKey(0x00112234);
  bind.bind.region = MemoryKey(0x00556677);
  bind.bind.address = 0x0102030405060708;
  bind.bind.length = 0x1234;
  bind.bind.access = static_cast<std::uint32_t>(MemoryAccess::kRemoteWrite);
  ASSERT_EQ(ring.post(bind, memory_), VerbsError::kNone);
  Bytes8 wanted{// control: UMR, 12 units, completion always, the window's key
                0, 0, 0, 0x25, 0xAB, 0xCD, 0xEF, 0x0C, 0, 0, 0, 0x08, 0, 0x11, 0x22, 0x33,
                // inline, check free, translation offset; 4 units of translations; what changes
                0xB0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0x20, 0x3C, 0x60, 0x41};
  wanted.resize(64);
  // remote write; queue pair and variant; start and length
  const Bytes8 context{0, 0, 0x20, 0, 0xAB, 0xCD, 0xEF, 0x34, 0, 0, 0, 0, 0, 0, 0,    0,
                       1, 2, 3,    4, 5,    6,    7,    8,    0, 0, 0, 0, 0, 0, 0x12, 0x34};
  wanted.insert(wanted.end(), context.begin(), context.end());
  wanted.resize(128);
  const Bytes8 piece{0, 0, 0x12, 0x34, 0, 0x55, 0x66, 0x77, 1, 2, 3, 4, 5, 6, 7, 8};
  wanted.insert(wanted.end(), piece.begin(), piece.end());
  wanted.resize(192);
  EXPECT_EQ(at(0, 192), wanted);

  SendWorkRequest invalidate;
  invalidate.opcode = SendOpcode::kLocalInvalidate;
  invalidate.immediateOrKey = 0x00112234;
  ASSERT_EQ(ring.post(invalidate, memory_), VerbsError::kNone);
  EXPECT_EQ(at(192, 16), (Bytes8{0, 0, 3, 0x25, 0xAB, 0xCD, 0xEF, 0x08, 0, 0, 0, 0x28, 0, 0x11, 0x22, 0x34}))
      << "8 units; a small fence behind the bind";
  // inline, check queue pair, translation offset; free, variant, queue pair
  EXPECT_EQ(at(208, 16), (Bytes8{0x98, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0x60, 0}));
  EXPECT_EQ(at(256, 8), (Bytes8{0x40, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0})) << "free, of no queue pair";
  ASSERT_EQ(ring.post(write(1), memory_), VerbsError::kNone);
  EXPECT_EQ(at(320 + 11, 1), Bytes8{0x28});
  ASSERT_EQ(ring.post(write(2), memory_), VerbsError::kNone);
  EXPECT_EQ(at(384 + 11, 1), Bytes8{0x08});
  EXPECT_EQ(ring.retire(0).opcode, SendOpcode::kBindWindow);
  EXPECT_EQ(ring.retire(3).opcode, SendOpcode::kLocalInvalidate);
}

TEST_F(SendRingTest, DatagramHasItsAddressVectorBehindTheControlSegment) {
  SendRing ring(blocks_.data(), counter_.data(), size_, QpNumber(0xABCDEF), QpType::kUd);
  SendWorkRequest request;
  request.scatterGather.push_back({0x1122334455667788, 0x99, MemoryKey(7)});
  request.datagram.queueKey = 0x11223344;
  request.datagram.qp = QpNumber(0x010203);
  request.datagram.address.lid = Lid(0xBEEF);
  request.datagram.address.serviceLevel = 5;
  request.datagram.address.sourcePathBits = 3;
  ASSERT_EQ(ring.post(request, memory_), VerbsError::kNone);
  EXPECT_EQ(at(0, 16), (Bytes8{0, 0, 0, 0x0A, 0xAB, 0xCD, 0xEF, 5, 0, 0, 0, 0x08, 0, 0, 0, 0}));
  EXPECT_EQ(at(16, 16), (Bytes8{0x11, 0x22, 0x33, 0x44, 0, 0, 0, 0, 0x80, 1, 2, 3, 5, 3, 0xBE, 0xEF}));
  EXPECT_EQ(at(32, 32), Bytes8(32)) << "no global route";
  EXPECT_EQ(at(64, 16), (Bytes8{0, 0, 0, 0x99, 0, 0, 0, 7, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88}));
}

TEST_F(SendRingTest, GlobalRouteOfADatagram) {
  SendRing ring(blocks_.data(), counter_.data(), size_, QpNumber(1), QpType::kUd);
  SendWorkRequest request;
  AddressHandle& to = request.datagram.address;
  to.globalRoute = true;
  to.trafficClass = 0xA5;
  to.hopLimit = 64;
  to.sourceGidIndex = 0xC3;
  to.flowLabel = 0x54321;
  std::iota(to.remoteGid.begin(), to.remoteGid.end(), std::uint8_t{0xE0});
  ASSERT_EQ(ring.post(request, memory_), VerbsError::kNone);
  EXPECT_EQ(at(42, 6), (Bytes8{0xA5, 64, 0x4C, 0x35, 0x43, 0x21}));
  EXPECT_EQ(at(48, 16), Bytes8(to.remoteGid.begin(), to.remoteGid.end()));
}

TEST_F(SendRingTest, FlagsAndImmediate) {
  SendRing ring = makeRing();
  SendWorkRequest request;
  request.opcode = SendOpcode::kSendImmediate;
  request.immediateOrKey = 0xCAFE0001;
  request.signaled = false;
  request.solicited = true;
  request.fence = true;
  ASSERT_EQ(ring.post(request, memory_), VerbsError::kNone);
  EXPECT_EQ(at(0, 16), (Bytes8{0, 0, 0, 0x0B, 0xAB, 0xCD, 0xEF, 1, 0, 0, 0, 0x82, 0xCA, 0xFE, 0, 1}));
}

TEST_F(SendRingTest, EveryOpcodeByItsNumber) {
  size_.blocks = 32;
  size_.maxPosted = 16;
  blocks_.assign(32 * 64, 0);
  SendRing ring = makeRing();
  const std::pair<SendOpcode, int> opcodes[] = {{SendOpcode::kSend, 0x0A},           {SendOpcode::kSendImmediate, 0x0B},
                                                {SendOpcode::kSendInvalidate, 0x01}, {SendOpcode::kWrite, 0x08},
                                                {SendOpcode::kWriteImmediate, 0x09}, {SendOpcode::kRead, 0x10},
                                                {SendOpcode::kCompareSwap, 0x11},    {SendOpcode::kFetchAdd, 0x12}};
  std::size_t block = 0;
  for (const auto& [opcode, number] : opcodes) {
    SendWorkRequest request;
    request.opcode = opcode;
    ASSERT_EQ(ring.post(request, memory_), VerbsError::kNone);
    EXPECT_EQ(at(block * 64 + 3, 1)[0], number);
    block = ring.nextIndex();
  }
}

TEST_F(SendRingTest, AtomicsCarrySwapAndCompare) {
  SendRing ring = makeRing();
  SendWorkRequest request = write(1);
  request.opcode = SendOpcode::kCompareSwap;
  request.compareOrAdd = 0x1111;
  request.swap = 0x2222;
  ASSERT_EQ(ring.post(request, memory_), VerbsError::kNone);
  EXPECT_EQ(at(32, 16), (Bytes8{0, 0, 0, 0, 0, 0, 0x22, 0x22, 0, 0, 0, 0, 0, 0, 0x11, 0x11}));
  request.opcode = SendOpcode::kFetchAdd;
  ASSERT_EQ(ring.post(request, memory_), VerbsError::kNone);
  EXPECT_EQ(at(64 + 32, 16), (Bytes8{0, 0, 0, 0, 0, 0, 0x11, 0x11, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(SendRingTest, InlineDataAreCopiedAndPadded) {
  SendRing ring = makeRing();
  ASSERT_EQ(ring.post(inlined(5), memory_), VerbsError::kNone);
  EXPECT_EQ(at(7, 1)[0], 2) << "two units";
  EXPECT_EQ(at(16, 16), (Bytes8{0x80, 0, 0, 5, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(SendRingTest, InlineLimitIsExactAndARefusalLeavesTheQueueAlone) {
  SendRing ring = makeRing();
  EXPECT_EQ(ring.post(inlined(61), memory_), VerbsError::kNoMemory);
  EXPECT_EQ(at(0, 64), Bytes8(64, 0x5A));
  EXPECT_EQ(ring.nextIndex(), 0U);
  EXPECT_EQ(ring.post(inlined(60), memory_), VerbsError::kNone);
  EXPECT_EQ(ring.nextIndex(), 2U);  // 16 + 64 bytes
  SendWorkRequest huge = inlined(0);
  huge.scatterGather.assign(3, {source_, 1U << 30, MemoryKey(0)});  // the sum overflows 32 bits
  EXPECT_EQ(ring.post(huge, memory_), VerbsError::kNoMemory);
}

TEST_F(SendRingTest, InlineDataFromNowhereAreRefused) {
  SendRing ring = makeRing();
  SendWorkRequest request = inlined(8);
  request.scatterGather.front().address = 64;
  EXPECT_EQ(ring.post(request, memory_), VerbsError::kInvalid);
}

TEST_F(SendRingTest, EmptyPiecesAreLeftOut) {
  SendRing ring = makeRing();
  SendWorkRequest request = write(1, 3);
  request.scatterGather[0].length = 0;
  request.scatterGather[2].length = 0;
  ASSERT_EQ(ring.post(request, memory_), VerbsError::kNone);
  EXPECT_EQ(at(7, 1)[0], 3);
}

TEST_F(SendRingTest, RequestWrapsAroundTheEndOfTheRing) {
  SendRing ring = makeRing();
  for (std::uint64_t id = 0; id < 3; ++id) ASSERT_EQ(ring.post(inlined(60), memory_), VerbsError::kNone);
  ASSERT_EQ(ring.post(write(9), memory_), VerbsError::kNone);
  EXPECT_EQ(ring.nextIndex(), 7U);
  ring.retire(6);
  ASSERT_EQ(ring.post(inlined(60), memory_), VerbsError::kNone);  // blocks 7 and 0
  EXPECT_EQ(at(7 * 64 + 16, 8), (Bytes8{0x80, 0, 0, 60, 0, 1, 2, 3}));
  EXPECT_EQ(at(0, 4), (Bytes8{44, 45, 46, 47}));
  EXPECT_EQ(at(7 * 64, 8), (Bytes8{0, 0, 7, 0x0A, 0xAB, 0xCD, 0xEF, 5}));
}

TEST_F(SendRingTest, RingWritesTheCounterAndNamesTheLastRequest) {
  SendRing ring = makeRing();
  ASSERT_EQ(ring.post(inlined(60), memory_), VerbsError::kNone);
  ASSERT_EQ(ring.post(write(2), memory_), VerbsError::kNone);
  const SendRing::Doorbell doorbell = ring.ring();
  EXPECT_EQ(counter_, (Bytes8{0, 0, 0, 3}));
  EXPECT_EQ(doorbell.wqe, blocks_.data() + 2 * 64);
  EXPECT_EQ(doorbell.bytes, 48U);
}

TEST_F(SendRingTest, FullQueueRefusesUntilACompletionRetiresAllOlderOnes) {
  SendRing ring = makeRing();
  for (std::uint64_t id = 0; id < 4; ++id) {
    SendWorkRequest request = write(100 + id);
    request.signaled = id == 2;
    ASSERT_EQ(ring.post(request, memory_), VerbsError::kNone);
  }
  EXPECT_EQ(ring.post(write(104), memory_), VerbsError::kNoMemory);
  const SendRing::Retired retired = ring.retire(2);
  EXPECT_EQ(retired.workRequestId, 102U);
  EXPECT_EQ(retired.index, 2U);
  EXPECT_EQ(ring.outstanding(), 1U);
  for (std::uint64_t id = 0; id < 3; ++id) EXPECT_EQ(ring.post(write(id), memory_), VerbsError::kNone);
  EXPECT_EQ(ring.post(write(104), memory_), VerbsError::kNoMemory);
}

TEST_F(SendRingTest, TooManyGatherEntries) {
  SendRing ring = makeRing();
  EXPECT_EQ(ring.post(write(1, 4), memory_), VerbsError::kNoMemory);
  EXPECT_EQ(ring.post(write(1, 3), memory_), VerbsError::kNone);
}

TEST_F(SendRingTest, CounterInTheRequestHasSixteenBits) {
  SendRing ring = makeRing();
  for (std::uint64_t id = 0; id < 0x10001; ++id) {
    ASSERT_EQ(ring.post(write(id), memory_), VerbsError::kNone);
    const SendRing::Retired retired = ring.retire(static_cast<std::uint16_t>(id));
    ASSERT_EQ(retired.workRequestId, id);
    ASSERT_EQ(retired.index, id) << "the free-running index doesn't wrap";
  }
  ring.ring();
  EXPECT_EQ(counter_, (Bytes8{0, 0, 0, 1}));
}

TEST_F(SendRingTest, UcKnowsNoReadsAndAtomics) {
  SendRing ring(blocks_.data(), counter_.data(), size_, QpNumber(1), QpType::kUc);
  SendWorkRequest request = write(1);
  EXPECT_EQ(ring.post(request, memory_), VerbsError::kNone);
  request.opcode = SendOpcode::kRead;
  EXPECT_EQ(ring.post(request, memory_), VerbsError::kInvalid);
  request.opcode = SendOpcode::kFetchAdd;
  EXPECT_EQ(ring.post(request, memory_), VerbsError::kInvalid);
}

}  // namespace
}  // namespace hca::driver
