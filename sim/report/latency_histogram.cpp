#include "sim/report/latency_histogram.h"

#include <algorithm>
#include <cassert>

namespace hca::report {

// Values below 2^kMantissaBits have a bucket each. A larger value, with its highest bit at position e, is numbered by
// the kMantissaBits bits below that one: a bucket is 2^(e - kMantissaBits) wide, 1/2048 of the octave's start.
std::size_t LatencyHistogram::bucketOf(Time latency) {
  const auto value = static_cast<std::uint64_t>(latency.count());
  constexpr std::uint64_t kLinear = std::uint64_t{1} << kMantissaBits;
  if (value < kLinear) return static_cast<std::size_t>(value);
  const unsigned highest = 63U - static_cast<unsigned>(__builtin_clzll(value));
  const unsigned shift = highest - kMantissaBits;
  const std::uint64_t mantissa = (value >> shift) - kLinear;
  return static_cast<std::size_t>(((static_cast<std::uint64_t>(shift) + 1) << kMantissaBits) + mantissa);
}

Time LatencyHistogram::upperEdge(std::size_t bucket) {
  constexpr std::uint64_t kLinear = std::uint64_t{1} << kMantissaBits;
  if (bucket < kLinear) return Time(static_cast<std::int64_t>(bucket));
  const unsigned shift = static_cast<unsigned>(bucket >> kMantissaBits) - 1;
  const std::uint64_t mantissa = (bucket & (kLinear - 1)) + kLinear;
  return Time(static_cast<std::int64_t>(((mantissa + 1) << shift) - 1));
}

void LatencyHistogram::addExact(Time latency) {
  samples_.push_back(latency);
  sorted_ = false;
  if (samples_.size() > kExactSamples) convert();
}

void LatencyHistogram::convert() {
  buckets_.resize(bucketOf(kForever) + 1);
  for (const Time sample : samples_) ++buckets_[bucketOf(sample)];
  samples_ = {};
}

void LatencyHistogram::merge(const LatencyHistogram& other) {
  if (other.empty()) return;
  if (other.exact()) {
    for (const Time sample : other.samples_) add(sample);
    return;
  }
  if (exact()) convert();
  for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  if (other.minimum_ < minimum_) minimum_ = other.minimum_;
  maximum_ = later(maximum_, other.maximum_);
}

Time LatencyHistogram::mean() const {
  if (empty()) return Time();
  return Time(
      static_cast<std::int64_t>((sum_ + static_cast<WideInteger>(count_ / 2)) / static_cast<WideInteger>(count_)));
}

Time LatencyHistogram::percentile(unsigned perMille) const {
  assert(perMille >= 1 && perMille <= 1000);
  if (empty()) return Time();
  const auto rank = static_cast<std::uint64_t>((static_cast<WideInteger>(count_) * perMille + 999) / 1000);
  if (exact()) {
    if (!sorted_) std::sort(samples_.begin(), samples_.end());
    sorted_ = true;
    return samples_[static_cast<std::size_t>(rank - 1)];
  }
  std::uint64_t seen = 0;
  std::size_t bucket = 0;
  while (seen + buckets_[bucket] < rank) seen += buckets_[bucket++];
  return later(minimum_, upperEdge(bucket) < maximum_ ? upperEdge(bucket) : maximum_);
}

}  // namespace hca::report
