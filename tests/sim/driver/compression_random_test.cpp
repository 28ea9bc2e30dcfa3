// A compressed queue and a plain one are told the same completions: software must read the same from both.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "sim/driver/completion_parser.h"
#include "sim/driver/completion_ring.h"
#include "tests/models/adapter/completion/cq_bench.h"

namespace hca::driver {
namespace {

using adapter::CompletionRecord;
using adapter::CqeOpcode;
using adapter::test::CqBench;

constexpr unsigned kSmallestRing = 2, kLargestRing = 6;

/// What tells one completion from another; the time stamp is not in mini CQEs.
using Seen = std::tuple<int, int, int, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                        std::uint16_t, std::uint16_t, std::uint16_t, int, std::string>;

Seen seenOf(const CompletionRing& ring, const wire::Cqe& cqe) {
  const WorkCompletion completion = parseCompletion(cqe);
  const ByteView data = ring.inlineData(cqe);
  const bool plain = data.empty() && completion.status == WcStatus::kSuccess;
  return {static_cast<int>(completion.status),
          static_cast<int>(completion.opcode),
          completion.vendorError,
          completion.byteLength,
          completion.immediateOrKey,
          completion.qp.value(),
          completion.sourceQp.value(),
          wire::Cqe::UserIndex::get(cqe.userIndex),
          cqe.wqeCounter.host(),
          completion.status == WcStatus::kSuccess && data.empty() ? cqe.wqeId.host() : std::uint16_t{0},
          plain ? cqe.checksum.host() : std::uint16_t{0},
          static_cast<int>(cqe.opcodeQp.host() >> 24),
          std::string(data.begin(), data.end())};
}

/// One queue and the software that reads it.
struct Reader {
  Reader(CqBench& bench, unsigned logEntries, const CqCompression& compression)
      : attributes(bench.attributes(kLargestRing)),
        ring(&bench.dma.memory[attributes.ring.pages[0].value()], &bench.dma.memory[attributes.doorbellRecord.value()],
             logEntries, sizeof(wire::Cqe), compression) {
    attributes.logSize = static_cast<std::uint8_t>(logEntries);
    attributes.compression = compression.layout != CompressionKind::kNone;
    attributes.compressionLayout = compression.layout == CompressionKind::kEnhanced ? 1 : 0;
    attributes.miniFormat = attributes.compression ? static_cast<std::uint8_t>(compression.miniFormat) : 0;
    ring.initialise();
    cq = bench.create(attributes);
  }
  void startAt(CqBench& bench, std::uint64_t index) {
    ring.startAt(index);
    bench.engine->startAt(cq, index);
  }
  void poll(std::uint64_t most) {
    while (most-- > 0 && ring.ready()) {
      const wire::Cqe cqe = ring.take();
      seen.push_back(seenOf(ring, cqe));
    }
    ring.publish();
  }

  adapter::CqAttributes attributes;
  CompletionRing ring;
  CqNumber cq;
  std::vector<Seen> seen;
  std::uint64_t cleaned = 0;
};

class Pair {
 public:
  Pair(std::uint64_t seed, const CqCompression& compression)
      : striding_(compression.striding),
        random_(seed),
        logSize_(kSmallestRing + random_() % (kLargestRing - kSmallestRing + 1)),
        plain_(configured(), logSize_, {}),
        compressed_(bench_, logSize_, compression) {
    if (striding_) kind_ = CqeOpcode::kResponderSend;
    const std::uint64_t start = startIndex();
    plain_.startAt(bench_, start);
    compressed_.startAt(bench_, start);
  }

  void run(int steps) {
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      const auto choice = random_() % 100;
      if (choice < 60) {
        for (auto burst = 1 + (random_() % 4 == 0 ? random_() % 20 : 0); burst > 0; --burst) complete();
      } else if (choice < 85) {
        reader().poll(random_() % 9);
      } else if (choice < 93) {
        arm(reader());
      } else if (choice < 95) {
        resize();
      } else if (choice < 96) {
        clean();
      } else if (choice < 97) {
        moderate();
      }
      pass(nanoseconds(static_cast<std::int64_t>(random_() % (random_() % 20 == 0 ? 2000 : 60))));
    }
    pass(microseconds(10));
    plain_.poll(~0ULL);
    compressed_.poll(~0ULL);
  }

  [[nodiscard]] const std::vector<Seen>& plain() const { return plain_.seen; }
  [[nodiscard]] const std::vector<Seen>& compressed() const { return compressed_.seen; }
  [[nodiscard]] std::uint64_t issued() const { return issued_ - plain_.cleaned; }
  [[nodiscard]] const adapter::CqCounters& counters() const { return bench_.counters(compressed_.cq); }

 private:
  // A little before a wrap: of the ring, of 256 passes of it, of 16, 24 and 32 bits.
  std::uint64_t startIndex() {
    const std::uint64_t size = std::uint64_t{1} << logSize_;
    const std::array<std::uint64_t, 6> wraps = {
        0, size, 256 * size, std::uint64_t{1} << 16, std::uint64_t{1} << 24, std::uint64_t{1} << 32};
    const std::uint64_t wrap = wraps[random_() % wraps.size()];
    return wrap - std::min(wrap, random_() % (2 * size));
  }
  CqBench& configured() {
    bench_.config.compressionMax = 2 + static_cast<std::int64_t>(random_() % 63);
    bench_.build();
    return bench_;
  }
  Reader& reader() { return random_() % 2 == 0 ? plain_ : compressed_; }

  /// One event at a time; software may look at the ring between any two.
  void pass(Time span) {
    const Time end = bench_.calendar.now() + span;
    while (!bench_.calendar.empty() && bench_.calendar.next() <= end) {
      bench_.calendar.step();
      if (!resizing_ && random_() % 3 == 0) compressed_.poll(random_() % 3);
    }
    bench_.calendar.runUntil(end);
  }

  void complete() {
    if (outstanding() >= (1U << logSize_) - 1) return;
    ++issued_;
    next();
    record_.cq = plain_.cq;
    bench_.engine->complete(record_);
    record_.cq = compressed_.cq;
    bench_.engine->complete(record_);
  }

  [[nodiscard]] std::uint64_t outstanding() const {
    return issued_ - std::min(plain_.seen.size() + plain_.cleaned, compressed_.seen.size() + compressed_.cleaned);
  }

  // Mostly one more of the same kind.
  void next() {
    constexpr std::array<CqeOpcode, 5> kKinds = {
        CqeOpcode::kRequester, CqeOpcode::kResponderSend, CqeOpcode::kResponderSendImmediate,
        CqeOpcode::kResponderWriteImmediate, CqeOpcode::kResponderSendInvalidate};
    if (random_() % 12 == 0) {
      kind_ = striding_ ? CqeOpcode::kResponderSend : kKinds[random_() % kKinds.size()];
      qp_ = 64 + random_() % 3;
    }
    CompletionRecord record;
    record.qp = QpNumber(qp_);
    record.userIndex = qp_ - 60;
    record.opcode = kind_;
    record.wqeCounter = counter_ = static_cast<std::uint16_t>(counter_ + (random_() % 15 == 0 ? random_() : 1));
    record.byteCount = static_cast<std::uint32_t>(random_() % 100'000);
    if (striding_) placeInStrides(record);
    const bool requester = kind_ == CqeOpcode::kRequester;
    if (requester) record.sendOpcode = random_() % 2 == 0 ? 0x10 : 0x0A;
    record.immediateOrKey = random_() % 30 == 0 ? 7 : 0;
    if (!requester && random_() % 8 == 0) record.checksum = static_cast<std::uint16_t>(random_());
    if (!requester) record.remoteQp = QpNumber(200 + qp_);
    spoil(record);
    record_ = record;
  }

  // Each packet behind the one before, to the end of the entry, which a filler tells.
  void placeInStrides(CompletionRecord& record) {
    constexpr std::uint32_t kStrides = 512;
    record.byteCount %= 0x10000;
    record.wqeId = entry_;
    record.wqeCounter = static_cast<std::uint16_t>(stride_);
    record.strides = static_cast<std::uint16_t>(1 + (random_() % 3 == 0 ? random_() % 40 : 0));
    if (stride_ + record.strides > kStrides) {
      record.strides = static_cast<std::uint16_t>(kStrides - stride_);
      record.isFiller = true;
      record.byteCount = 0;
    }
    stride_ += record.strides;
    if (stride_ < kStrides) return;
    stride_ = 0;
    ++entry_;
  }

  void spoil(CompletionRecord& record) {
    switch (random_() % 60) {
      case 0:
        record.opcode = kind_ == CqeOpcode::kRequester ? CqeOpcode::kRequesterError : CqeOpcode::kResponderError;
        record.vendorError = 0x88;
        break;
      case 1:
        record.solicited = true;
        break;
      case 2:
        record.forceEvent = true;
        break;
      case 3:
        record.inlineLength = 32;
        for (std::uint8_t& byte : record.inlineData) byte = static_cast<std::uint8_t>(random_());
        break;
      default:
        break;
    }
  }

  void moderate() {
    adapter::CqModeration change;
    change.count = static_cast<std::uint16_t>(random_() % 5);
    change.period = static_cast<std::uint16_t>(random_() % 3);
    for (const Reader* reader : {&plain_, &compressed_}) {
      EXPECT_TRUE(bench_.engine->modifyModeration(reader->cq, change).ok());
    }
  }

  void arm(Reader& reader) {
    if (random_() % 2 == 0) reader.ring.countEvent();
    bench_.engine->onArm(CqBench::kUar, reader.ring.arm(reader.cq, random_() % 4 == 0));
  }

  /// Both queues, to the same size, while completions are under way.
  void resize() {
    const auto logSize = static_cast<unsigned>(kSmallestRing + random_() % (kLargestRing - kSmallestRing + 1));
    if (outstanding() + 1 >= 1U << std::min(logSize, logSize_)) return;
    logSize_ = logSize;
    resizing_ = true;  // software holds the queue's lock
    for (Reader* reader : {&plain_, &compressed_}) {
      const adapter::CqAttributes fresh = bench_.attributes(kLargestRing);
      std::uint8_t* const entries = &bench_.dma.memory[fresh.ring.pages[0].value()];
      CompletionRing::invalidate(entries, logSize, sizeof(wire::Cqe));
      bool asked = false;
      bench_.engine->refreshConsumerIndex(reader->cq, [&asked] { asked = true; });
      while (!asked) bench_.calendar.step();
      const adapter::CqRing ring{adapter::CqeStride::k64, static_cast<std::uint8_t>(logSize), fresh.ring};
      ASSERT_TRUE(bench_.engine->resize(reader->cq, ring).ok());
      pass(nanoseconds(400));
      ASSERT_TRUE(reader->ring.moveTo(entries, logSize).has_value());
    }
    resizing_ = false;
  }

  /// A queue pair is reset: its completions are written by then, and software drops those that it didn't take.
  void clean() {
    const std::uint32_t gone = 64 + random_() % 3;
    bool written = false;
    bench_.engine->whenWritten(QpNumber(gone), [&written] { written = true; });
    while (!written) bench_.calendar.step();
    pass(nanoseconds(400));
    plain_.poll(~0ULL);
    const std::uint32_t dropped = compressed_.ring.clean(gone - 60);
    compressed_.cleaned += dropped;
    forget(gone, dropped);
  }
  // The plain queue's software had taken what the other dropped: the youngest of that queue pair.
  void forget(std::uint32_t qp, std::uint32_t dropped) {
    for (std::size_t i = plain_.seen.size(); dropped > 0 && i-- > 0;) {
      if (std::get<5>(plain_.seen[i]) != qp) continue;
      plain_.seen.erase(plain_.seen.begin() + static_cast<std::ptrdiff_t>(i));
      ++plain_.cleaned;
      --dropped;
    }
  }

  bool striding_;
  std::mt19937_64 random_;
  CqBench bench_{adapter::ArmRule::kCiCompareOnce};
  unsigned logSize_;
  Reader plain_;
  Reader compressed_;
  CompletionRecord record_;
  CqeOpcode kind_ = CqeOpcode::kRequester;
  std::uint32_t qp_ = 64;
  std::uint16_t counter_ = 65'000;
  std::uint16_t entry_ = 65'530;  // of a striding queue
  std::uint32_t stride_ = 0;      // its next one
  std::uint64_t issued_ = 0;
  bool resizing_ = false;
};

struct Case {
  CompressionKind layout;
  adapter::MiniFormat format;
  bool striding = false;
};

class CompressionRandom : public testing::TestWithParam<Case> {};

TEST_P(CompressionRandom, ReadsAsThePlainQueue) {
  std::uint64_t sessions = 0;
  std::array<std::uint64_t, adapter::kSessionEnds> ends{};
  for (std::uint64_t seed = 1; seed <= 24 && !HasFailure(); ++seed) {
    Pair pair(seed, {GetParam().layout, GetParam().format, GetParam().striding});
    pair.run(2000);
    ASSERT_EQ(pair.plain().size(), pair.issued()) << seed;
    ASSERT_EQ(pair.compressed().size(), pair.plain().size()) << seed;
    for (std::size_t i = 0; i < pair.plain().size(); ++i)
      ASSERT_EQ(pair.compressed()[i], pair.plain()[i]) << seed << ' ' << i;
    sessions += pair.counters().compressedSessions;
    for (std::size_t end = 0; end < ends.size(); ++end) ends[end] += pair.counters().sessionEnds[end];
  }
  EXPECT_GT(sessions, 100U);
  for (std::size_t end = 0; end < ends.size(); ++end) {
    const auto cause = static_cast<adapter::SessionEnd>(end);
    const bool reached = cause != adapter::SessionEnd::kOverrun;
    EXPECT_TRUE(!reached || ends[end] > 0) << "never ended by cause " << end;
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, CompressionRandom,
                         testing::Values(Case{CompressionKind::kBasic, adapter::MiniFormat::kHash},
                                         Case{CompressionKind::kBasic, adapter::MiniFormat::kChecksum},
                                         Case{CompressionKind::kBasic, adapter::MiniFormat::kChecksumStrideIndex},
                                         Case{CompressionKind::kEnhanced, adapter::MiniFormat::kHash},
                                         Case{CompressionKind::kEnhanced, adapter::MiniFormat::kChecksum},
                                         Case{CompressionKind::kEnhanced, adapter::MiniFormat::kChecksumStrideIndex}));

INSTANTIATE_TEST_SUITE_P(Striding, CompressionRandom,
                         testing::Values(Case{CompressionKind::kBasic, adapter::MiniFormat::kHash, true},
                                         Case{CompressionKind::kBasic, adapter::MiniFormat::kChecksum, true},
                                         Case{CompressionKind::kBasic, adapter::MiniFormat::kChecksumStrideIndex, true},
                                         Case{CompressionKind::kEnhanced, adapter::MiniFormat::kHash, true},
                                         Case{CompressionKind::kEnhanced, adapter::MiniFormat::kChecksum, true},
                                         Case{CompressionKind::kEnhanced, adapter::MiniFormat::kChecksumStrideIndex,
                                              true}));

// Slots 1 to 3 are written in the first pass and then left out 255 times; in the pass after that their validity byte is
// the right one again.
TEST(CompressionValidity, HoleDoesNotLookNewAfter256Passes) {
  constexpr std::uint64_t kSlots = 4;
  std::vector<std::uint8_t> slots(kSlots * 64), record(8);
  CompletionRing ring(slots.data(), record.data(), 2, 64, {CompressionKind::kEnhanced, adapter::MiniFormat::kHash});
  ring.initialise();
  const auto write = [&slots](std::uint64_t index, std::uint8_t opOwn) {
    slots[index % kSlots * 64 + 62] = static_cast<std::uint8_t>(index / kSlots);
    slots[index % kSlots * 64 + 63] = opOwn;
  };
  const auto takeAll = [&ring] {
    std::uint64_t taken = 0;
    for (; ring.ready(); ++taken) ring.take();
    return taken;
  };
  for (std::uint64_t index = 0; index < kSlots; ++index) write(index, 0x20);
  ASSERT_EQ(takeAll(), kSlots);
  for (std::uint64_t pass = 1; pass < 256; ++pass) {
    write(pass * kSlots, 0x3C);  // four, compressed
    ASSERT_EQ(takeAll(), kSlots) << pass;
  }
  write(256 * kSlots, 0x20);
  EXPECT_EQ(takeAll(), 1U) << "nothing behind it was written";
}

}  // namespace
}  // namespace hca::driver
