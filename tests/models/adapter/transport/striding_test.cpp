// Striding receive queues: several frames to an entry.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

constexpr std::uint32_t kStrides = 512, kStride = 64;

class Striding : public testing::Test {
 protected:
  Striding() {
    StridingLayout& layout = pair.b.table.find(pair.qpB)->attributes.striding;
    layout.isOn = true;
    layout.logCount = 9;
    layout.logSize = 6;
    FlowTarget target;
    target.queues = std::make_shared<std::vector<QpNumber>>(1, pair.qpB);
    FlowRule rule;  // every frame
    rule.targets = {std::make_shared<FlowTarget>(target)};
    rule.flowTag = 1;
    std::uint64_t name = 0;
    EXPECT_TRUE(pair.b.table.addFlow(rule, name).ok());
  }
  void shift() { pair.b.table.find(pair.qpB)->attributes.striding.shifts = true; }
  /// Entry `n` has a buffer of its own, of `length` bytes.
  static std::uint64_t buffer(std::uint32_t entry) { return RcPair::kData + 0x8000 * entry; }
  void postEntry(std::uint32_t length = kStrides * kStride) {
    std::vector<std::uint8_t> bytes;
    RcPair::put(bytes, 0, 16);  // the next segment
    RcPair::put(bytes, length, 4);
    RcPair::put(bytes, PlainTranslator::kKey, 4);
    RcPair::put(bytes, buffer(posted), 8);
    std::copy(bytes.begin(), bytes.end(),
              pair.b.memory.bytes.begin() + static_cast<std::ptrdiff_t>(RcPair::kRing + posted % 8 * 32));
    pair.b.memory.bytes[RcPair::kRecord + 3] = static_cast<std::uint8_t>(++posted);
  }
  /// Sends a frame of `length` bytes, which differs from others in its content.
  void send(std::uint32_t length) {
    frame.assign(length, static_cast<std::uint8_t>(++sent));
    const std::uint8_t head[] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xB5};
    std::copy(std::begin(head), std::end(head), frame.begin());
    std::copy(frame.begin(), frame.end(), pair.a.memory.bytes.begin() + RcPair::kData);
    std::vector<std::uint8_t> wqe;
    RcPair::put(wqe, (pair.sendIndex & 0xFFFF) << 8 | 0x0A, 4);
    RcPair::put(wqe, std::uint64_t{pair.qpA.value()} << 8 | 3, 4);
    RcPair::put(wqe, 0x08, 4);
    RcPair::put(wqe, 0, 20);
    RcPair::put(wqe, length, 4);
    RcPair::put(wqe, PlainTranslator::kKey, 4);
    RcPair::put(wqe, RcPair::kData, 8);
    pair.putWqe(wqe);
    pair.ring();
    pair.run(microseconds(5));
  }
  /// Where the last frame is.
  [[nodiscard]] bool lies(std::uint64_t at) const {
    return std::equal(frame.begin(), frame.end(), pair.b.memory.bytes.begin() + static_cast<std::ptrdiff_t>(at));
  }
  const std::vector<CompletionRecord>& records() { return pair.b.completions.records; }
  const CompletionRecord& last() { return records().back(); }

  RcPair pair{0, QpService::kRaw};
  std::uint32_t posted = 0, sent = 0;
  std::vector<std::uint8_t> frame;
};

TEST_F(Striding, EachFrameTakesStridesBehindThoseOfTheOneBefore) {
  postEntry();
  std::uint32_t at = 0;
  for (const std::uint32_t length : {64U, 65U, 60U, 200U}) {
    send(length);
    const std::uint32_t strides = (length + kStride - 1) / kStride;
    EXPECT_EQ(last().wqeCounter, at);
    EXPECT_EQ(last().strides, strides);
    EXPECT_EQ(last().byteCount, length);
    EXPECT_EQ(last().wqeId, 0);
    EXPECT_FALSE(last().isFiller);
    EXPECT_TRUE(lies(buffer(0) + at * kStride));
    at += strides;
  }
  EXPECT_EQ(records().size(), 4U);
}

TEST_F(Striding, TwoBytesOfZerosMayComeFirst) {
  shift();
  postEntry();
  std::fill_n(pair.b.memory.bytes.begin() + static_cast<std::ptrdiff_t>(buffer(0)), 256, std::uint8_t{0xEE});
  send(62);
  EXPECT_EQ(last().strides, 1);
  EXPECT_EQ(last().byteCount, 62U) << "without them";
  EXPECT_EQ(pair.b.memory.bytes[buffer(0)], 0);
  EXPECT_EQ(pair.b.memory.bytes[buffer(0) + 1], 0);
  EXPECT_TRUE(lies(buffer(0) + 2));
  send(63);
  EXPECT_EQ(last().strides, 2);
  EXPECT_EQ(last().wqeCounter, 1);
  EXPECT_TRUE(lies(buffer(0) + kStride + 2));
}

TEST_F(Striding, AnEntryThatIsUsedUpIsFollowedByTheNext) {
  postEntry();
  postEntry();
  for (std::uint32_t used = 0; used < kStrides; used += 4) send(4 * kStride);
  EXPECT_EQ(last().wqeId, 0);
  EXPECT_EQ(last().wqeCounter, kStrides - 4);
  send(100);
  EXPECT_EQ(last().wqeId, 1);
  EXPECT_EQ(last().wqeCounter, 0);
  EXPECT_TRUE(lies(buffer(1)));
  for (const CompletionRecord& record : records()) EXPECT_FALSE(record.isFiller);
}

TEST_F(Striding, AFrameThatTheRestIsTooShortForLeavesItToAFiller) {
  postEntry();
  postEntry();
  for (std::uint32_t used = 0; used < kStrides - 4; used += 4) send(4 * kStride);
  send(2 * kStride);
  const std::size_t before = records().size();
  send(3 * kStride);
  ASSERT_EQ(records().size(), before + 2);
  const CompletionRecord& filler = records()[before];
  EXPECT_TRUE(filler.isFiller);
  EXPECT_EQ(filler.strides, 2);
  EXPECT_EQ(filler.wqeCounter, kStrides - 2);
  EXPECT_EQ(filler.wqeId, 0);
  EXPECT_EQ(filler.byteCount, 0U);
  EXPECT_EQ(last().wqeId, 1);
  EXPECT_EQ(last().strides, 3);
  EXPECT_TRUE(lies(buffer(1)));
}

TEST_F(Striding, AFrameLongerThanTheBuffersIsALocalLengthError) {
  for (const std::uint32_t room : {100U, 99U}) {
    postEntry(room);
    send(100);
    const bool fits = room == 100;
    EXPECT_EQ(last().opcode, fits ? CqeOpcode::kResponderSend : CqeOpcode::kResponderError);
    if (fits) {
      // The entry has strides left, but no room behind the first two.
      send(60);
      EXPECT_EQ(last().opcode, CqeOpcode::kResponderError);
      EXPECT_EQ(last().syndrome, CqeSyndrome::kLocalLength);
      return;
    }
  }
}

TEST_F(Striding, AnEntryUsedInPartIsFlushedFirst) {
  postEntry();
  postEntry();
  send(100);
  EXPECT_TRUE(pair.b.table.modify(pair.qpB, QpTransition::kToError, 0, {}).ok());
  pair.run();
  ASSERT_EQ(records().size(), 3U);
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(records()[1 + i].syndrome, CqeSyndrome::kWorkRequestFlushed);
    EXPECT_EQ(records()[1 + i].wqeCounter, i);
  }
}

TEST_F(Striding, LayoutsThatTheAdapterDoesNotHaveAreRefused) {
  QpAttributes wanted = RcPair::attributes();
  wanted.service = QpService::kRaw;
  wanted.hasSendQueue = false;
  wanted.striding = {true, false, 9, 6};
  const auto syndrome = [this](const QpAttributes& attributes) {
    QpNumber number;
    return pair.b.table.create(attributes, number).syndrome;
  };
  EXPECT_EQ(syndrome(wanted), Syndrome::kNone);
  const auto refuses = [&](const StridingLayout& layout) {
    QpAttributes changed = wanted;
    changed.striding = layout;
    return syndrome(changed) == Syndrome::kQpReceiveLayoutUnsupported;
  };
  EXPECT_TRUE(refuses({true, false, 8, 6}));
  EXPECT_FALSE(refuses({true, false, 16, 13}));
  EXPECT_TRUE(refuses({true, false, 17, 13}));
  EXPECT_TRUE(refuses({true, false, 16, 14}));
  EXPECT_TRUE(refuses({true, false, 9, 5}));
  QpAttributes changed = wanted;
  changed.workQueueType = 2;
  EXPECT_EQ(syndrome(changed), Syndrome::kQpReceiveLayoutUnsupported) << "a linked list";
  changed = wanted;
  changed.service = QpService::kRc;
  EXPECT_EQ(syndrome(changed), Syndrome::kQpReceiveLayoutUnsupported) << "of raw packets alone";
  changed = wanted;
  changed.logReceiveStride = 4;
  EXPECT_EQ(syndrome(changed), Syndrome::kQpReceiveLayoutUnsupported) << "no room behind the next segment";
}

TEST_F(Striding, WithoutAnEntryFramesAreDropped) {
  send(100);
  EXPECT_TRUE(records().empty());
  postEntry();
  send(100);
  EXPECT_EQ(records().size(), 1U);
}

}  // namespace
}  // namespace hca::adapter::test
