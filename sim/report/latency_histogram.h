// Latency distribution of one flow.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/units.h"

namespace hca::report {

/// Collects latencies and answers percentiles.
///
/// Count, minimum, maximum and mean are always exact. A percentile is the nearest-rank one (the smallest latency such
/// that at least p of all samples are not above it). It is exact while at most kExactSamples were added. After that
/// samples are counted in buckets whose width is at most 1/2048 of the value, and a percentile is the upper edge of
/// its bucket, clipped to the maximum: never too low, too high by less than 0.05 %. Memory stays below 2 MiB.
class LatencyHistogram {
 public:
  static constexpr std::size_t kExactSamples = 131'072;

  /// `latency` may not be negative.
  void add(Time latency) {
    ++count_;
    sum_ += static_cast<WideInteger>(latency.count());
    if (latency < minimum_) minimum_ = latency;
    if (maximum_ < latency) maximum_ = latency;
    if (!buckets_.empty()) {
      ++buckets_[bucketOf(latency)];
    } else {
      addExact(latency);
    }
  }
  /// Adds all samples of `other`.
  void merge(const LatencyHistogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// Whether percentiles are exact.
  [[nodiscard]] bool exact() const { return buckets_.empty(); }
  /// The following are zero for an empty histogram.
  [[nodiscard]] Time minimum() const { return empty() ? Time() : minimum_; }
  [[nodiscard]] Time maximum() const { return maximum_; }
  /// Rounded to the nearest picosecond.
  [[nodiscard]] Time mean() const;
  /// `perMille` in tenths of a percent: 500 is the median, 999 is p99.9. 1..1000.
  [[nodiscard]] Time percentile(unsigned perMille) const;

 private:
  static constexpr unsigned kMantissaBits = 11;
  static std::size_t bucketOf(Time latency);
  static Time upperEdge(std::size_t bucket);
  void addExact(Time latency);
  void convert();

  std::uint64_t count_ = 0;
  WideInteger sum_ = 0;
  Time minimum_ = kForever;
  Time maximum_{};
  mutable std::vector<Time> samples_;
  mutable bool sorted_ = false;
  std::vector<std::uint64_t> buckets_;  // empty until kExactSamples is passed
};

}  // namespace hca::report
