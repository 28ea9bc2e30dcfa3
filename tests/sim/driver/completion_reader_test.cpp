// Completion entries over a real PCI Express link: no reader sees half of one.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "sim/driver/completion_parser.h"
#include "tests/sim/driver/bus_queue.h"

namespace hca::driver {
namespace {

using adapter::CompletionRecord;
using adapter::CqeOpcode;
using adapter::CqeStride;

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
