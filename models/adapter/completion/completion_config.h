// Section [adapter.completion]: the completion queue entry writer and the arm rule.
#pragma once

#include <cstdint>

#include "models/adapter/clock/adapter_clock.h"
#include "models/adapter/completion/arm_rule.h"
#include "models/adapter/completion/real_time_format.h"
#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::adapter {

struct CompletionConfig {
  ArmRule armRule = ArmRule::kIbSpec;
  Cycles cqeBuildCycles{4};
  Cycles cqeWriteCycles{36};
  Cycles armLatencyCycles{20};
  std::int64_t logMaxCqSize = 22;
  std::int64_t logMaxCqs = 20;
  bool moderation = true;
  std::int64_t compressionMax = 64;
  Time compressionTimeout = microseconds(1);
  bool enhancedCompression = true;
  bool wideEntries = true;
  bool shortEntries = false;
  bool poison = false;
  Hertz timestampClock{156'250'000};
  std::int64_t timestampBits = AdapterClock::kMostBits;
  std::int64_t timestampStart = 0;
  bool realTimeStamps = true;
  RealTimeFormat realTimeFormat = RealTimeFormat::kSecondsNanoseconds;
  std::int64_t realTimeStart = 0;

  /// The clock that the keys above describe.
  [[nodiscard]] AdapterClock::Settings timestamps() const {
    AdapterClock::Settings settings;
    settings.frequency = kernel::ClockDomain(timestampClock);
    settings.bits = static_cast<unsigned>(timestampBits);
    settings.firstTick = static_cast<std::uint64_t>(timestampStart);
    settings.firstSecond = static_cast<std::uint64_t>(realTimeStart);
    settings.flatRealTime = realTimeFormat == RealTimeFormat::kNanoseconds;
    return settings;
  }

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    key("arm_rule", self.armRule, "When an entry that was written before the arm raises an event");
    key("cqe_build_cycles", self.cqeBuildCycles, range(Cycles(0), Cycles(100'000)),
        "Time for which one CQE occupies the writer");
    key("cqe_write_cycles", self.cqeWriteCycles, range(Cycles(0), Cycles(100'000)),
        "From the built CQE to its hand-over to PCIe");
    key("arm_latency_cycles", self.armLatencyCycles, range(Cycles(0), Cycles(100'000)),
        "From the arrival of an arm at its register to the event it finds owed");
    key("log_max_cq_size", self.logMaxCqSize, range<std::int64_t>(1, 22),
        "Binary logarithm of the most entries of one completion queue");
    key("log_max_cqs", self.logMaxCqs, range<std::int64_t>(1, 24),
        "Binary logarithm of the number of completion queues");
    key("moderation", self.moderation, "Whether the adapter can moderate the events of completion queues");
    key("cqe_compression_max", self.compressionMax, range<std::int64_t>(0, 64),
        "Most completions of a compressed session; 0: the adapter can't compress");
    key("cqe_compression_timeout", self.compressionTimeout, range(nanoseconds(1), milliseconds(1)),
        "How long after its first completion a compressed session ends");
    key("enhanced_compression", self.enhancedCompression,
        "Whether the adapter has the enhanced layout of compressed completions, too");
    key("cqe_128", self.wideEntries,
        "Whether the adapter pads entries of 128B to their full size, and compresses them");
    key("cqe_32", self.shortEntries,
        "Whether the adapter has entries of 32B, too; no real one does: to study what they would save");
    key("poison", self.poison,
        "Whether what an error entry leaves undefined is filled with 0xA5 instead of zeros: finds software that reads "
        "it");
    key("timestamp_clock", self.timestampClock, range(Hertz(1'000'000), Hertz(4'000'000'000)),
        "Clock of the time stamps in CQEs");
    key("timestamp_bits", self.timestampBits, range<std::int64_t>(16, AdapterClock::kMostBits),
        "Width of the time stamps of that clock; drivers assume 41 bits at least");
    key("timestamp_start", self.timestampStart, range<std::int64_t>(0, INT64_MAX),
        "What that clock shows at the start; to see a wrap, a little less than 2^timestamp_bits");
    key("real_time_timestamps", self.realTimeStamps,
        "Whether a completion queue may have time stamps in seconds and nanoseconds instead of ticks of that clock");
    key("real_time_format", self.realTimeFormat, "How such a time stamp holds the real time");
    key("real_time_start", self.realTimeStart, range<std::int64_t>(0, INT32_MAX),
        "Real time at the start, in seconds since 1970");
  }
};

}  // namespace hca::adapter
