// Completion entries over a real PCI Express link: what they cost, and that no reader sees half of one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "models/adapter/completion/cq_engine.h"
#include "sim/driver/completion_parser.h"
#include "sim/driver/completion_ring.h"
#include "tests/models/adapter/completion/cq_bench.h"
#include "tests/models/pcie/pcie_system.h"

namespace hca::driver {
namespace {

using adapter::CompletionRecord;
using adapter::CqeOpcode;
using adapter::CqeStride;

/// One queue behind a link, and the software that reads it.
class BusQueue {
 public:
  struct Shape {
    CqeStride stride = CqeStride::k64;
    CqCompression compression{};
    unsigned logSize = 7;
    std::uint32_t offset = 0;  // of the ring in its first page
    std::int64_t maxPayload = 256;
    std::int64_t generation = 3;
    pcie::LinkWidth width = pcie::LinkWidth::kX16;
    std::int64_t sessionMax = 64;
    std::int64_t buildCycles = 4;  // a completion occupies the writer
  };

  explicit BusQueue(const Shape& shape)
      : system_(configOf(shape)),
        attributes_(attributesOf(shape)),
        ring_(memory(kRing + shape.offset), memory(kRecord), shape.logSize, strideBytes(shape.stride),
              shape.compression),
        context_{system_.calendar, probes_,        pool_, system_.endpoint, kernel::ClockDomain(Hertz(1'000'000'000)),
                 HostIndex(0),     AdapterIndex(0)},
        events_(system_.calendar, unused_) {
    config_.compressionMax = shape.sessionMax;
    config_.shortEntries = true;
    config_.cqeBuildCycles = Cycles(shape.buildCycles);
    engine = std::make_unique<adapter::CqEngine>(context_, config_, events_, events_);
    engine->setFailureSink(failures_);
    ring_.initialise();
    EXPECT_TRUE(engine->create(attributes_, cq).ok());
  }
  void startAt(std::uint64_t index) {
    engine->startAt(cq, index);
    ring_.startAt(index);
  }
  [[nodiscard]] CompletionRing& ring() { return ring_; }
  [[nodiscard]] observe::Probes& probes() { return probes_; }
  [[nodiscard]] kernel::Calendar& calendar() { return system_.calendar; }
  [[nodiscard]] std::uint64_t bytes() const {
    return system_.link.counts(pcie::Link::Direction::kUpstream)[static_cast<std::size_t>(pcie::Traffic::kCqe)].bytes;
  }
  void complete(const CompletionRecord& record) {
    CompletionRecord own = record;
    own.cq = cq;
    engine->complete(own);
  }

  std::unique_ptr<adapter::CqEngine> engine;
  CqNumber cq;

 private:
  static constexpr std::uint64_t kRecord = 0, kRing = 4096;

  static pcie::PcieConfig configOf(const Shape& shape) {
    pcie::PcieConfig config;
    config.maxPayload = Bytes(shape.maxPayload);
    config.generation = shape.generation;
    config.width = shape.width;
    return config;
  }
  static std::uint32_t strideBytes(CqeStride stride) { return adapter::strideBytes(stride); }
  adapter::CqAttributes attributesOf(const Shape& shape) {
    adapter::CqAttributes wanted;
    wanted.logSize = static_cast<std::uint8_t>(shape.logSize);
    wanted.stride = shape.stride;
    wanted.eq = EqNumber(1);
    wanted.ring.offset = shape.offset;
    const std::uint64_t length = shape.offset + (std::uint64_t{strideBytes(shape.stride)} << shape.logSize);
    for (std::uint64_t at = 0; at < length; at += 4096) wanted.ring.pages.push_back(system_.at(kRing + at));
    wanted.doorbellRecord = system_.at(kRecord);
    wanted.compression = shape.compression.layout != CompressionKind::kNone;
    wanted.compressionLayout = shape.compression.layout == CompressionKind::kEnhanced ? 1 : 0;
    wanted.miniFormat = wanted.compression ? static_cast<std::uint8_t>(shape.compression.miniFormat) : 0;
    return wanted;
  }
  std::uint8_t* memory(std::uint64_t offset) {
    return system_.memory.direct(host::SparseMemory::kFirstAddress, pcie::test::PcieSystem::kMemory) + offset;
  }

  pcie::test::PcieSystem system_;
  observe::Probes probes_;
  kernel::PayloadPool pool_;
  adapter::CompletionConfig config_;
  adapter::CqAttributes attributes_;
  CompletionRing ring_;
  adapter::AdapterContext context_;
  hca::test::FakeDmaPort unused_{system_.calendar, 1};
  adapter::test::RecordedEvents events_;
  adapter::test::RecordedFailures failures_;
};

CompletionRecord receiveOf(std::uint16_t counter, std::uint8_t inlineLength = 0) {
  CompletionRecord record;
  record.qp = QpNumber(64);
  record.userIndex = 5;
  record.opcode = CqeOpcode::kResponderSend;
  record.wqeCounter = counter;
  record.byteCount = inlineLength != 0 ? inlineLength : 1000U + counter;
  record.remoteQp = QpNumber(7);
  record.inlineLength = inlineLength;
  return record;
}

std::uint64_t bytesOnTheBus(const BusQueue::Shape& shape, std::uint32_t completions, std::uint8_t inlineLength = 0) {
  BusQueue queue(shape);
  for (std::uint32_t i = 0; i < completions; ++i)
    queue.complete(receiveOf(static_cast<std::uint16_t>(i), inlineLength));
  queue.calendar().runUntil(kForever);
  EXPECT_EQ(queue.engine->find(queue.cq)->counters.cqes, completions);
  return queue.bytes();
}

constexpr std::uint64_t kHeader = 24;  // of a memory write: header, framing and link layer (pcie-bench's model)

TEST(CompletionBytes, NarrowEntry) { EXPECT_EQ(bytesOnTheBus({}, 5), 5 * (64 + kHeader)); }

TEST(CompletionBytes, ShortEntry) {
  BusQueue::Shape shape;
  shape.stride = CqeStride::k32;
  EXPECT_EQ(bytesOnTheBus(shape, 5), 5 * (32 + kHeader));
}

TEST(CompletionBytes, WideEntryWithoutPaddingIsNoLonger) {
  BusQueue::Shape shape;
  shape.stride = CqeStride::k128;
  EXPECT_EQ(bytesOnTheBus(shape, 5), 5 * (64 + kHeader));
}

TEST(CompletionBytes, PaddedEntryIsOneWriteOfBothHalves) {
  BusQueue::Shape shape;
  shape.stride = CqeStride::k128Padded;
  EXPECT_EQ(bytesOnTheBus(shape, 5), 5 * (128 + kHeader));
}

TEST(CompletionBytes, InlineDataOf32BytesCostNothing) { EXPECT_EQ(bytesOnTheBus({}, 5, 32), 5 * (64 + kHeader)); }

class WideInlineBytes : public testing::TestWithParam<std::uint8_t> {};

TEST_P(WideInlineBytes, MoreThan32TakeTheFirstHalf) {
  BusQueue::Shape shape;
  shape.stride = CqeStride::k128;
  EXPECT_EQ(bytesOnTheBus(shape, 5, GetParam()), 5 * ((GetParam() > 32 ? 128 : 64) + kHeader));
}

INSTANTIATE_TEST_SUITE_P(Lengths, WideInlineBytes, testing::Values(1, 32, 33, 64));

class CompressedBytes : public testing::TestWithParam<std::uint32_t> {};

// A title, and an array for each eight; alone an entry as any other.
TEST_P(CompressedBytes, Basic) {
  const std::uint64_t count = GetParam();
  BusQueue::Shape shape;
  shape.compression.layout = CompressionKind::kBasic;
  const std::uint64_t slots = count == 1 ? 1 : 1 + (count + 7) / 8;
  EXPECT_EQ(bytesOnTheBus(shape, GetParam()), slots * (64 + kHeader));
}

// The title is a completion of its own, then a block for each seven.
TEST_P(CompressedBytes, Enhanced) {
  const std::uint64_t count = GetParam();
  BusQueue::Shape shape;
  shape.compression.layout = CompressionKind::kEnhanced;
  const std::uint64_t slots = 1 + (count - 1 + 6) / 7;
  EXPECT_EQ(bytesOnTheBus(shape, GetParam()), slots * (64 + kHeader));
}

INSTANTIATE_TEST_SUITE_P(Sessions, CompressedBytes, testing::Values(1U, 2U, 7U, 8U, 9U, 64U));

// ---------------------------------------------------------------------------------------------------------------------

/// Million completions a second that a link carries, with a writer that is never in the way.
double measuredRate(BusQueue::Shape shape, std::uint32_t completions) {
  shape.buildCycles = 0;
  BusQueue queue(shape);
  Time first = kForever, last{};
  std::uint64_t atFirst = 0, seen = 0;
  queue.probes().cq.attach([&](const observe::CqEvent& event) {
    if (event.action != observe::CqAction::kCqeVisible) return;
    ++seen;
    first = earlier(first, event.time);
    if (event.time == first) atFirst = seen;
    last = event.time;
  });
  for (std::uint32_t i = 0; i < completions; ++i) queue.complete(receiveOf(static_cast<std::uint16_t>(i)));
  queue.calendar().runUntil(kForever);
  EXPECT_EQ(seen, completions);
  return static_cast<double>(completions - atFirst) / static_cast<double>((last - first).count()) * 1e6;
}

/// A link and what its byte model says of completions, in millions a second: entries of 64 and 128 bytes, sessions of 8
/// and of 64 completions in the basic layout.
struct LinkRates {
  const char* name;
  std::int64_t generation;
  pcie::LinkWidth width;
  double narrow, wide, sessionsOf8, sessionsOf64;
};

void PrintTo(const LinkRates& each, std::ostream* out) { *out << each.name; }

class CqBoundRate : public testing::TestWithParam<LinkRates> {
 protected:
  static BusQueue::Shape shape(CqeStride stride, unsigned logSize) {
    BusQueue::Shape wanted;
    wanted.stride = stride;
    wanted.logSize = logSize;
    wanted.generation = GetParam().generation;
    wanted.width = GetParam().width;
    return wanted;
  }
  static BusQueue::Shape compressed(std::int64_t sessionMax) {
    BusQueue::Shape wanted = shape(CqeStride::k64, 13);
    wanted.compression.layout = CompressionKind::kBasic;
    wanted.sessionMax = sessionMax;
    return wanted;
  }
  static void expectRate(double measured, double derived) { EXPECT_NEAR(measured, derived, 0.03 * derived); }
};

TEST_P(CqBoundRate, NarrowEntries) { expectRate(measuredRate(shape(CqeStride::k64, 13), 8192), GetParam().narrow); }
TEST_P(CqBoundRate, PaddedEntries) {
  expectRate(measuredRate(shape(CqeStride::k128Padded, 12), 4096), GetParam().wide);
}
TEST_P(CqBoundRate, SessionsOf8) { expectRate(measuredRate(compressed(8), 8192), GetParam().sessionsOf8); }
TEST_P(CqBoundRate, SessionsOf64) { expectRate(measuredRate(compressed(64), 8192), GetParam().sessionsOf64); }

INSTANTIATE_TEST_SUITE_P(Links, CqBoundRate,
                         testing::Values(LinkRates{"gen3_x8", 3, pcie::LinkWidth::kX8, 82, 48, 329, 585},
                                         LinkRates{"gen3_x16", 3, pcie::LinkWidth::kX16, 162, 93, 646, 1149},
                                         LinkRates{"gen4_x16", 4, pcie::LinkWidth::kX16, 323, 187, 1292, 2297},
                                         LinkRates{"gen5_x16", 5, pcie::LinkWidth::kX16, 646, 374, 2584, 4594}),
                         [](const testing::TestParamInfo<LinkRates>& each) { return std::string(each.param.name); });

// ---------------------------------------------------------------------------------------------------------------------

/// All that a reader can tell of one completion.
std::string textOf(const CompletionRing& ring, const wire::Cqe& cqe) {
  const WorkCompletion completion = parseCompletion(cqe);
  const ByteView data = ring.inlineData(cqe);
  std::string text = name(completion.status);
  for (const std::uint64_t value : {std::uint64_t{completion.vendorError}, std::uint64_t{completion.byteLength},
                                    std::uint64_t{completion.immediateOrKey}, std::uint64_t{completion.qp.value()},
                                    std::uint64_t{completion.sourceQp.value()}, std::uint64_t{cqe.wqeCounter.host()},
                                    std::uint64_t{wire::Cqe::UserIndex::get(cqe.userIndex)}}) {
    text += ' ' + std::to_string(value);
  }
  return text + ' ' +
         std::string(data.begin(), data.begin() + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(data.size()),
                                                                           completion.byteLength));
}

std::string expectedText(const CompletionRecord& record) {
  const bool error = record.isError();
  const bool requester = record.opcode == CqeOpcode::kRequester;
  const bool isRead = requester && record.sendOpcode == 0x10;
  const bool hasWord =
      record.opcode == CqeOpcode::kResponderSendImmediate || record.opcode == CqeOpcode::kResponderSendInvalidate;
  const bool hidden = record.inlineLength != 0 && record.inlineLength <= 32;
  std::string text = error ? "LOC_LEN_ERR" : "SUCCESS";
  for (const std::uint64_t value :
       {std::uint64_t{error ? record.vendorError : 0U},
        std::uint64_t{error || (requester && !isRead) ? 0 : record.byteCount},
        std::uint64_t{hasWord ? record.immediateOrKey : 0}, std::uint64_t{record.qp.value()},
        std::uint64_t{error || requester || hidden ? 0 : record.remoteQp.value()}, std::uint64_t{record.wqeCounter},
        std::uint64_t{record.userIndex}}) {
    text += ' ' + std::to_string(value);
  }
  return text + ' ' + std::string(record.inlineData.begin(), record.inlineData.begin() + record.inlineLength);
}

class RandomRecords {
 public:
  RandomRecords(std::uint64_t seed, bool wide) : random_(seed), wide_(wide) {}

  CompletionRecord next() {
    if (random_() % 8 == 0) kind_ = kKinds[random_() % kKinds.size()];
    CompletionRecord record = receiveOf(counter_++);
    record.opcode = kind_;
    record.qp = QpNumber(64 + random_() % 40 / 39);
    record.byteCount = static_cast<std::uint32_t>(1 + random_() % 5000);
    if (kind_ == CqeOpcode::kRequester) record.sendOpcode = random_() % 2 == 0 ? 0x10 : 0x08;
    record.immediateOrKey = random_() % 8 == 0 ? 0xCAFE : 0x55;
    const auto special = random_() % 12;
    if (special == 0) {
      record.opcode = kind_ == CqeOpcode::kRequester ? CqeOpcode::kRequesterError : CqeOpcode::kResponderError;
      record.syndrome = adapter::CqeSyndrome::kLocalLength;
      record.vendorError = 0x52;
    } else if (special == 1 && kind_ == CqeOpcode::kResponderSend) {
      record.inlineLength = static_cast<std::uint8_t>(1 + random_() % (wide_ ? 64 : 32));
      record.byteCount = record.inlineLength;
      for (std::uint8_t i = 0; i < record.inlineLength; ++i)
        record.inlineData[i] = static_cast<std::uint8_t>('a' + i % 26);
    }
    return record;
  }

 private:
  static constexpr std::array<CqeOpcode, 4> kKinds = {CqeOpcode::kRequester, CqeOpcode::kResponderSend,
                                                      CqeOpcode::kResponderSendImmediate,
                                                      CqeOpcode::kResponderSendInvalidate};
  std::mt19937_64 random_;
  bool wide_;
  CqeOpcode kind_ = CqeOpcode::kRequester;
  std::uint16_t counter_ = 65'500;
};

/// Software that looks at the ring after every step of the simulation, of which a TLP's arrival is one.
void readAfterEveryStep(const BusQueue::Shape& shape, std::uint64_t start, std::uint64_t seed) {
  BusQueue queue(shape);
  queue.startAt(start);
  RandomRecords records(seed, shape.stride != CqeStride::k64);
  std::mt19937_64 random(seed);
  std::vector<std::string> expected;
  std::size_t seen = 0;
  const auto look = [&] {
    for (; queue.ring().ready(); ++seen) {
      const wire::Cqe cqe = queue.ring().take();
      ASSERT_LT(seen, expected.size()) << "an entry that nobody reported";
      ASSERT_EQ(textOf(queue.ring(), cqe), expected[seen]) << seen;
    }
    queue.ring().publish();
  };
  const std::uint64_t room = (std::uint64_t{1} << shape.logSize) - 1;
  while (expected.size() < 1500 && !testing::Test::HasFailure()) {
    for (auto burst = 1 + random() % 12; burst > 0 && expected.size() - seen < room; --burst) {
      const CompletionRecord record = records.next();
      expected.push_back(expectedText(record));
      queue.complete(record);
    }
    const Time until = queue.calendar().now() + nanoseconds(static_cast<std::int64_t>(random() % 300));
    while (!queue.calendar().empty() && queue.calendar().next() <= until && !testing::Test::HasFailure()) {
      queue.calendar().step();
      look();
    }
    queue.calendar().runUntil(until);
  }
  while (!queue.calendar().empty() && !testing::Test::HasFailure()) {
    queue.calendar().step();
    look();
  }
  EXPECT_EQ(seen, expected.size());
}

struct BusCase {
  const char* name;
  BusQueue::Shape shape;
  std::uint64_t start;
};

void PrintTo(const BusCase& each, std::ostream* out) { *out << each.name; }

class ReaderAfterEachTlp : public testing::TestWithParam<BusCase> {};

TEST_P(ReaderAfterEachTlp, SeesNoTornNorEarlyEntry) { readAfterEveryStep(GetParam().shape, GetParam().start, 7); }

BusQueue::Shape shapeOf(CqeStride stride, CompressionKind layout, unsigned logSize, std::uint32_t offset = 0,
                        std::int64_t maxPayload = 128) {
  BusQueue::Shape shape;
  shape.stride = stride;
  shape.compression = {layout, adapter::MiniFormat::kChecksumStrideIndex};
  shape.logSize = logSize;
  shape.offset = offset;
  shape.maxPayload = maxPayload;
  return shape;
}

constexpr auto kNone = CompressionKind::kNone;
INSTANTIATE_TEST_SUITE_P(
    Formats, ReaderAfterEachTlp,
    testing::Values(
        BusCase{"narrow", shapeOf(CqeStride::k64, kNone, 4), (1U << 16) - 9},
        BusCase{"wide", shapeOf(CqeStride::k128, kNone, 4), (1U << 24) - 9},
        BusCase{"wide_across_pages", shapeOf(CqeStride::k128, kNone, 5, 4096 - 256), 0},
        BusCase{"padded", shapeOf(CqeStride::k128Padded, kNone, 4), (1U << 24) - 5},
        BusCase{"padded_across_pages", shapeOf(CqeStride::k128Padded, kNone, 5, 4096 - 128, 256), 3},
        BusCase{"basic", shapeOf(CqeStride::k64, CompressionKind::kBasic, 5), 256 * 32 - 5},
        BusCase{"basic_24_bits", shapeOf(CqeStride::k64, CompressionKind::kBasic, 7, 0, 256), (1U << 24) - 5},
        BusCase{"enhanced", shapeOf(CqeStride::k64, CompressionKind::kEnhanced, 5), 256 * 32 - 5},
        BusCase{"enhanced_24_bits", shapeOf(CqeStride::k64, CompressionKind::kEnhanced, 2, 0, 256), (1U << 24) - 5}),
    [](const testing::TestParamInfo<BusCase>& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace hca::driver
