// Small responses in completion entries: when, and that nothing is written to the buffer then.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

constexpr std::uint64_t kReadSource = 0x60000;  // of B

RcPair::Options scatterRead(std::uint8_t completion = 0x08) {
  RcPair::Options options;
  options.opcode = 0x10;
  options.completion = completion;
  options.remote = kReadSource;
  return options;
}
RcPair::Options scatterSend() {
  RcPair::Options options;
  options.opcode = 0x0A;
  return options;
}
std::vector<std::uint8_t> patternOf(std::uint32_t length) {
  std::vector<std::uint8_t> bytes(length);
  for (std::uint32_t i = 0; i < length; ++i) bytes[i] = static_cast<std::uint8_t>(i * 5 + 1);
  return bytes;
}
void putPattern(Side& side, std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
  std::copy(bytes.begin(), bytes.end(), side.memory.bytes.begin() + static_cast<std::ptrdiff_t>(address));
}
bool buffered(const Side& side, const std::vector<std::uint8_t>& bytes) {
  return std::equal(bytes.begin(), bytes.end(), side.memory.bytes.begin() + RcPair::kData);
}
void expectInline(const CompletionRecord& record, const std::vector<std::uint8_t>& bytes) {
  EXPECT_EQ(record.byteCount, bytes.size());
  ASSERT_EQ(record.inlineLength, bytes.size());
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), record.inlineData.begin()));
}

struct InlineLimit {
  std::uint8_t requester, responder;
  std::uint32_t most;
};
class InlineScatter : public ::testing::TestWithParam<InlineLimit> {};

TEST_P(InlineScatter, ReadsUpToTheLimitComeInTheEntry) {
  for (const std::uint32_t length : {1U, 16U, 32U, 33U, 64U, 65U}) {
    RcPair pair;
    pair.a.table.find(pair.qpA)->attributes.requesterInlineScatter = GetParam().requester;
    putPattern(pair.b, kReadSource, patternOf(length));
    pair.post(length, scatterRead());
    pair.run();
    ASSERT_EQ(pair.a.completions.records.size(), 1U);
    const CompletionRecord& record = pair.a.completions.records[0];
    EXPECT_EQ(buffered(pair.a, patternOf(length)), length > GetParam().most) << length;
    if (length > GetParam().most) {
      EXPECT_EQ(record.inlineLength, 0) << length;
    } else {
      expectInline(record, patternOf(length));
    }
  }
}

TEST_P(InlineScatter, ReceivesUpToTheLimitComeInTheEntry) {
  for (const std::uint32_t length : {1U, 16U, 32U, 33U, 64U, 65U}) {
    RcPair pair;
    pair.b.table.find(pair.qpB)->attributes.responderInlineScatter = GetParam().responder;
    putPattern(pair.a, RcPair::kData, patternOf(length));
    pair.postReceive(100);
    pair.post(length, scatterSend());
    pair.run();
    ASSERT_EQ(pair.b.completions.records.size(), 1U);
    const CompletionRecord& record = pair.b.completions.records[0];
    EXPECT_EQ(buffered(pair.b, patternOf(length)), length > GetParam().most) << length;
    if (length > GetParam().most) {
      EXPECT_EQ(record.inlineLength, 0) << length;
    } else {
      expectInline(record, patternOf(length));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, InlineScatter,
                         ::testing::Values(InlineLimit{0, 0, 0}, InlineLimit{0x11, 1, 32}, InlineLimit{0x22, 2, 64}));

TEST(InlineScatterRules, AtomicsComeInTheEntry) {
  RcPair pair;
  pair.a.table.find(pair.qpA)->attributes.requesterInlineScatter = 0x11;
  putPattern(pair.b, kReadSource, patternOf(8));
  RcPair::Options add = scatterRead();
  add.opcode = 0x12;
  add.swapOrAdd = 1;
  pair.post(8, add);
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1U);
  EXPECT_EQ(pair.a.completions.records[0].inlineLength, 8);
  EXPECT_FALSE(buffered(pair.a, patternOf(8)));
}

TEST(InlineScatterRules, UnsignaledReadHasNoEntryAndGoesToItsBuffer) {
  RcPair pair;
  pair.a.table.find(pair.qpA)->attributes.requesterInlineScatter = 0x11;
  putPattern(pair.b, kReadSource, patternOf(16));
  pair.post(16, scatterRead(0));
  pair.run();
  EXPECT_TRUE(pair.a.completions.records.empty());
  EXPECT_TRUE(buffered(pair.a, patternOf(16)));
}

TEST(InlineScatterRules, MessageThatDoesNotFitItsReceiveFailsAsEver) {
  RcPair pair;
  pair.b.table.find(pair.qpB)->attributes.responderInlineScatter = 1;
  pair.postReceive(15);
  pair.post(16, scatterSend());
  pair.run();
  ASSERT_FALSE(pair.b.completions.records.empty());
  EXPECT_EQ(pair.b.completions.records[0].syndrome, CqeSyndrome::kLocalLength);
}

TEST(InlineScatterRules, WriteWithImmediateGoesToItsBuffer) {
  RcPair pair;
  pair.b.table.find(pair.qpB)->attributes.responderInlineScatter = 2;
  putPattern(pair.a, RcPair::kData, patternOf(16));
  pair.postReceive(100);
  RcPair::Options options;
  options.opcode = 0x09;
  pair.post(16, options);
  pair.run();
  ASSERT_EQ(pair.b.completions.records.size(), 1U);
  EXPECT_EQ(pair.b.completions.records[0].inlineLength, 0);
  EXPECT_TRUE(buffered(pair.b, patternOf(16)));
}

TEST(InlineScatterRules, MoreThan32BytesNeedWideEntriesAndCodesAreKnown) {
  RcPair pair;  // its completion queues have entries of 64 bytes
  QpNumber number;
  for (const auto& [requester, responder, accepted] :
       {std::tuple(0x11, 1, true), std::tuple(0x22, 0, false), std::tuple(0, 2, false), std::tuple(0x33, 0, false),
        std::tuple(0, 3, false)}) {
    QpAttributes wanted = RcPair::attributes();
    wanted.requesterInlineScatter = static_cast<std::uint8_t>(requester);
    wanted.responderInlineScatter = static_cast<std::uint8_t>(responder);
    const CommandResult result = pair.a.table.create(wanted, number);
    EXPECT_EQ(result.ok(), accepted) << requester << ' ' << responder;
    EXPECT_EQ(result.syndrome == Syndrome::kQpInlineScatterUnsupported, !accepted);
  }
}

}  // namespace
}  // namespace hca::adapter::test
