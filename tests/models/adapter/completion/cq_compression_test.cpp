// Compressed sessions: their bytes, and what ends them.
#include <gtest/gtest.h>

#include <vector>

#include "tests/models/adapter/completion/cq_bench.h"

namespace hca::adapter {
namespace {

using test::CqBench;

constexpr std::int64_t kBuildToWrite = 40;  // cycles from complete() to the hand-over: 4 + 36

class CompressionBench : public CqBench {
 public:
  explicit CompressionBench(CompressionLayout layout, std::uint8_t logSize = 7, MiniFormat format = MiniFormat::kHash) {
    wanted_ = attributes(logSize);
    wanted_.compression = true;
    wanted_.compressionLayout = static_cast<std::uint8_t>(layout);
    wanted_.miniFormat = static_cast<std::uint8_t>(format);
    cq = create(wanted_);
  }
  [[nodiscard]] std::vector<hca::test::FakeDmaPort::Operation> entries() const { return dma.of(pcie::Traffic::kCqe); }
  [[nodiscard]] std::uint64_t slotOf(std::size_t write) const {
    return (entries()[write].address - wanted_.ring.pages[0].value()) / sizeof(wire::Cqe);
  }
  [[nodiscard]] std::uint64_t ended(SessionEnd end) const {
    return counters(cq).sessionEnds[static_cast<std::size_t>(end)];
  }
  /// Three that are alike, handed over, so that a session is open.
  void open() {
    complete(cq, 3);
    runFor(nanoseconds(kBuildToWrite + 3 * 4));
  }
  CompletionRecord receive(std::uint16_t wqe) const {
    CompletionRecord record = completion(cq, 64, wqe);
    record.opcode = CqeOpcode::kResponderSend;
    record.byteCount = wqe * 100U;
    record.remoteQp = QpNumber(7);
    return record;
  }
  CqNumber cq;

 private:
  CqAttributes wanted_;
};

std::size_t writesOf(CompressionLayout layout, int completions) {
  CompressionBench bench(layout);
  bench.complete(bench.cq, completions);
  bench.settle();
  EXPECT_EQ(bench.counters(bench.cq).cqes, static_cast<std::uint64_t>(completions));
  EXPECT_EQ(bench.counters(bench.cq).compressedSessions, completions > 1 ? 1U : 0U);
  std::size_t bytes = 0;
  for (const auto& write : bench.entries()) bytes += write.bytes.size();
  EXPECT_EQ(bytes, 64 * bench.entries().size());
  return bench.entries().size();
}

// A title, and an array for each eight.
TEST(CqCompression, BasicSessionTakesATitleAndASlotForEachEight) {
  for (const int count : {2, 7, 8, 9, 16, 17, 64}) {
    EXPECT_EQ(writesOf(CompressionLayout::kBasic, count), 1U + (static_cast<unsigned>(count) + 7) / 8) << count;
  }
  EXPECT_EQ(writesOf(CompressionLayout::kBasic, 1), 1U) << "alone: an entry as any other";
}

// The title is a completion of its own, then a block for each seven.
TEST(CqCompression, EnhancedSessionTakesATitleAndASlotForEachSeven) {
  for (const int count : {1, 2, 7, 8, 9, 15, 16, 64}) {
    EXPECT_EQ(writesOf(CompressionLayout::kEnhanced, count), 1U + (static_cast<unsigned>(count) + 5) / 7) << count;
  }
}

TEST(CqCompression, BasicBlockIsLaidOutAsReadersExpect) {
  CompressionBench bench(CompressionLayout::kBasic, 7, MiniFormat::kChecksumStrideIndex);
  for (std::uint16_t i = 0; i < 18; ++i) {
    CompletionRecord record = bench.receive(static_cast<std::uint16_t>(100 + 3 * i));
    record.checksum = static_cast<std::uint16_t>(0xA000 + i);
    bench.engine->complete(record);
  }
  bench.settle();
  const auto writes = bench.entries();
  ASSERT_EQ(writes.size(), 4U);
  EXPECT_EQ(bench.slotOf(0), 1U);
  EXPECT_EQ(bench.slotOf(1), 8U);
  EXPECT_EQ(bench.slotOf(2), 16U);
  EXPECT_EQ(bench.slotOf(3), 0U) << "the title, which makes the block valid, comes last";
  const auto title = structFrom<wire::Cqe>(writes[3].bytes);
  EXPECT_EQ(title.opOwn, 0x2C) << "receive of a SEND, compressed, owner 0";
  EXPECT_EQ(title.byteCount.host(), 18U);
  EXPECT_EQ(title.wqeCounter.host(), 100U);
  for (std::uint32_t i = 0; i < 18; ++i) {
    const std::vector<std::uint8_t>& array = writes[i / 8].bytes;
    const auto mini = structFrom<wire::MiniCqe>({&array[i % 8 * 8], 8});
    EXPECT_EQ(mini.high.host(), 0xA000 + i);
    EXPECT_EQ(mini.low.host(), 100 + 3 * i);
    EXPECT_EQ(mini.byteCount.host(), (100 + 3 * i) * 100);
  }
  for (std::size_t at = 16; at < 64; ++at) EXPECT_EQ(writes[2].bytes[at], 0) << "behind the last mini CQE";
}

TEST(CqCompression, FramesOfOneRuleShareASessionWhateverTheirHash) {
  CompressionBench bench(CompressionLayout::kBasic);
  for (std::uint16_t i = 0; i < 4; ++i) {
    CompletionRecord record = bench.receive(i);
    record.frame.emplace();
    record.frame->rssHashType = 4;
    record.frame->rssHash = 0x12340000U * i + 5U;
    record.frame->flowTag = i < 3 ? 7 : 8;
    bench.engine->complete(record);
  }
  bench.settle();
  EXPECT_EQ(bench.counters(bench.cq).compressedSessions, 1U);
  EXPECT_EQ(bench.ended(SessionEnd::kMismatch), 1U) << "another flow tag";
  const auto second = structFrom<wire::MiniCqe>({&bench.entries()[0].bytes[8], 8});
  EXPECT_EQ(second.high.host(), 0x1234);
  EXPECT_EQ(second.low.host(), 5);
}

TEST(CqCompression, EnhancedBlockEndsAsAnEntryDoes) {
  CompressionBench bench(CompressionLayout::kEnhanced, 3);
  for (std::uint16_t i = 0; i < 8; ++i) bench.engine->complete(bench.receive(i));
  bench.settle();
  bench.setConsumerIndex(bench.cq, 8);
  for (std::uint16_t i = 8; i < 11; ++i) bench.engine->complete(bench.receive(i));
  bench.settle();
  const auto writes = bench.entries();
  ASSERT_EQ(writes.size(), 4U);
  EXPECT_EQ(writes[0].bytes[63], 0x20) << "the title is an entry as any other";
  EXPECT_EQ(writes[0].bytes[62], 0) << "first pass";
  EXPECT_EQ(bench.slotOf(1), 1U);
  EXPECT_EQ(writes[1].bytes[63], 0x6C) << "seven, compressed";
  EXPECT_EQ(bench.slotOf(3), 1U);
  EXPECT_EQ(writes[3].bytes[63], 0x1D) << "two, compressed, owner 1";
  EXPECT_EQ(writes[3].bytes[62], 1) << "second pass";
}

TEST(CqCompression, RequestersMiniEntryNamesRequestAndOpcode) {
  CompressionBench bench(CompressionLayout::kBasic);
  for (const std::uint8_t opcode : {0x0A, 0x10}) {
    CompletionRecord record = CqBench::completion(bench.cq, 64, static_cast<std::uint16_t>(0x300 + opcode));
    record.sendOpcode = opcode;
    record.byteCount = 5;
    bench.engine->complete(record);
  }
  bench.settle();
  const std::vector<std::uint8_t> expected = {0x03, 0x0A, 0x0A, 0, 0, 0, 0, 5, 0x03, 0x10, 0x10, 0, 0, 0, 0, 5};
  const std::vector<std::uint8_t> bytes = bench.entries().front().bytes;
  EXPECT_EQ(std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + 16), expected);
}

TEST(CqCompression, TimeoutEndsASession) {
  CompressionBench bench(CompressionLayout::kBasic);
  bench.complete(bench.cq, 2);
  bench.runFor(nanoseconds(kBuildToWrite + 999));
  EXPECT_EQ(bench.entries().size(), 0U) << "one microsecond from the first completion";
  bench.runFor(nanoseconds(1));
  EXPECT_EQ(bench.entries().size(), 2U);
  EXPECT_EQ(bench.ended(SessionEnd::kTimeout), 1U);
}

// Each row: what comes behind three completions that are alike, and how the session ends.
void expectEnd(SessionEnd end, void (*spoil)(CompletionRecord&)) {
  for (const CompressionLayout layout : {CompressionLayout::kBasic, CompressionLayout::kEnhanced}) {
    CompressionBench bench(layout);
    for (std::uint16_t i = 0; i < 4; ++i) {
      CompletionRecord record = bench.receive(i);
      if (i == 3) spoil(record);
      bench.engine->complete(record);
    }
    bench.runFor(nanoseconds(kBuildToWrite + 4 * 4));
    EXPECT_EQ(bench.ended(end), 1U);
    EXPECT_EQ(bench.counters(bench.cq).compressedSessions, 1U);
    bench.settle();
    EXPECT_EQ(bench.counters(bench.cq).cqes, 4U);
  }
}

TEST(CqCompression, OtherQueuePairEndsASession) {
  expectEnd(SessionEnd::kMismatch, [](CompletionRecord& record) { record.qp = QpNumber(65); });
}
TEST(CqCompression, OtherOpcodeEndsASession) {
  expectEnd(SessionEnd::kMismatch, [](CompletionRecord& record) { record.opcode = CqeOpcode::kRequester; });
}
TEST(CqCompression, OtherSenderEndsASession) {
  expectEnd(SessionEnd::kMismatch, [](CompletionRecord& record) { record.remoteQp = QpNumber(8); });
}
TEST(CqCompression, ReceiveOutOfOrderEndsASessionWithoutStrideIndices) {
  expectEnd(SessionEnd::kMismatch, [](CompletionRecord& record) { record.wqeCounter = 9; });
}
TEST(CqCompression, ErrorEndsASession) {
  expectEnd(SessionEnd::kError, [](CompletionRecord& record) { record.opcode = CqeOpcode::kResponderError; });
}
TEST(CqCompression, SolicitedCompletionEndsASession) {
  expectEnd(SessionEnd::kSolicited, [](CompletionRecord& record) { record.solicited = true; });
}
TEST(CqCompression, CompletionWithDataEndsASession) {
  expectEnd(SessionEnd::kInline, [](CompletionRecord& record) { record.inlineLength = 8; });
}
TEST(CqCompression, CompletionWithItsOwnEventEndsASession) {
  expectEnd(SessionEnd::kForcedEvent, [](CompletionRecord& record) { record.forceEvent = true; });
}

TEST(CqCompression, CountEndsASession) {
  CompressionBench bench(CompressionLayout::kBasic);
  bench.complete(bench.cq, 64);
  bench.runFor(nanoseconds(kBuildToWrite + 63 * 4 - 1));
  EXPECT_EQ(bench.entries().size(), 0U);
  bench.runFor(nanoseconds(1));
  EXPECT_EQ(bench.entries().size(), 9U);
  EXPECT_EQ(bench.ended(SessionEnd::kCount), 1U);
}

TEST(CqCompression, ResizeEndsASession) {
  CompressionBench bench(CompressionLayout::kBasic);
  bench.open();
  EXPECT_EQ(bench.entries().size(), 0U);
  const CqAttributes fresh = bench.attributes(7);
  bool asked = false;
  bench.engine->refreshConsumerIndex(bench.cq, [&asked] { asked = true; });
  while (!asked) bench.calendar.step();
  ASSERT_TRUE(bench.engine->resize(bench.cq, {CqeStride::k64, 7, fresh.ring}).ok());
  EXPECT_EQ(bench.ended(SessionEnd::kResize), 1U);
  ASSERT_EQ(bench.entries().size(), 3U);
  EXPECT_EQ(bench.slotOf(2), 3U) << "the resize entry, behind the block";
}

// Software that polled, found nothing and armed is told of what was held at that time.
TEST(CqCompression, ArmEndsASessionAndIsServed) {
  for (const CompressionLayout layout : {CompressionLayout::kBasic, CompressionLayout::kEnhanced}) {
    CompressionBench bench(layout);
    bench.open();
    EXPECT_EQ(bench.completionEvents(), 0U);
    bench.arm(bench.cq, layout == CompressionLayout::kBasic ? 0 : 1);
    EXPECT_EQ(bench.ended(SessionEnd::kArm), 1U);
    EXPECT_EQ(bench.counters(bench.cq).cqes, 3U);
    bench.runFor(nanoseconds(20));
    EXPECT_EQ(bench.completionEvents(), 1U);
  }
}

TEST(CqCompression, ArmedQueueHoldsNothingBack) {
  CompressionBench bench(CompressionLayout::kBasic);
  bench.arm(bench.cq, 0);
  bench.complete(bench.cq);
  bench.runFor(nanoseconds(kBuildToWrite + 4 - 1));
  bench.runFor(nanoseconds(1));
  EXPECT_EQ(bench.entries().size(), 1U);
  EXPECT_EQ(bench.completionEvents(), 1U);
}

// Moderation: the event is not later than without compression, and the session lasts as long as it.
TEST(CqCompression, ModerationEndsASessionWithItsEvent) {
  CompressionBench bench(CompressionLayout::kBasic);
  CqModeration change;
  change.count = 5;
  change.period = 100;
  ASSERT_TRUE(bench.engine->modifyModeration(bench.cq, change).ok());
  bench.arm(bench.cq, 0);
  bench.complete(bench.cq, 5);
  bench.runFor(nanoseconds(kBuildToWrite + 4 * 4 - 1));
  EXPECT_EQ(bench.entries().size(), 0U);
  bench.runFor(nanoseconds(1));
  EXPECT_EQ(bench.entries().size(), 2U);
  EXPECT_EQ(bench.ended(SessionEnd::kModeration), 1U);
  EXPECT_EQ(bench.completionEvents(), 1U);
}

TEST(CqCompression, ResetOfTheQueuePairEndsItsSessionAlone) {
  CompressionBench bench(CompressionLayout::kBasic);
  bench.open();
  bool written = false;
  bench.engine->whenWritten(QpNumber(65), [&written] { written = true; });
  EXPECT_TRUE(written);
  EXPECT_EQ(bench.entries().size(), 0U);
  bench.engine->discard(QpNumber(64));
  EXPECT_EQ(bench.ended(SessionEnd::kQueuePairReset), 1U);
  EXPECT_EQ(bench.entries().size(), 2U);
}

TEST(CqCompression, OverrunLosesNothingThatHadItsPlace) {
  CompressionBench bench(CompressionLayout::kBasic, 2);
  bench.complete(bench.cq, 4);
  bench.complete(bench.cq, 1, 65);
  bench.settle();
  EXPECT_EQ(bench.counters(bench.cq).overruns, 1U);
  EXPECT_EQ(bench.counters(bench.cq).cqes, 4U);
  EXPECT_EQ(bench.failures.qps, (std::vector<std::uint32_t>{65}));
}

TEST(CqCompression, SessionThatCannotBeWrittenFailsItsQueuePair) {
  CompressionBench bench(CompressionLayout::kBasic);
  bench.dma.broken.insert(bench.query(bench.cq).ring.pages[0].value());
  CompletionRecord error = CqBench::completion(bench.cq, 66);
  error.opcode = CqeOpcode::kRequesterError;
  bench.engine->complete(error);
  bench.complete(bench.cq, 2, 65);
  bench.settle();
  EXPECT_EQ(bench.query(bench.cq).status, CqStatus::kWriteFailed);
  EXPECT_EQ(bench.failures.qps, (std::vector<std::uint32_t>{65, 65})) << "each that was held";
  EXPECT_EQ(bench.entries().size(), 1U);
}

// What the adapter's model takes on the bus: a TLP of 64 bytes costs 24 more.
TEST(CqCompression, RatesAreThoseOfTheIdentity) {
  constexpr double kUsableGen3x8 = 57.9e9 / 8;  // bytes a second
  const auto rate = [](int completions) {
    const double bytes = static_cast<double>(writesOf(CompressionLayout::kBasic, completions)) * (64 + 24);
    return kUsableGen3x8 / bytes * completions / 1e6;
  };
  EXPECT_NEAR(rate(1), 82, 0.5);
  EXPECT_NEAR(rate(8), 329, 0.5);
  EXPECT_NEAR(rate(64), 585, 0.5);
}

}  // namespace
}  // namespace hca::adapter
