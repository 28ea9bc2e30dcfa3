#include "sim/workload/message_sizes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/base/mixed_bits.h"
#include "sim/workload/random_draw.h"

namespace hca::sim {
SizeMix parseSizeMix(const std::string& text) {
  return parseWeightedMix<std::uint32_t>(
      text, "is no size with a weight, such as 4KiB:50",
      [](const std::string& size, std::uint32_t& bytes) { return parseSize(size, true, bytes); });
}

MessageSizes::MessageSizes(const FlowConfig& config, std::uint64_t seed)
    : distribution_(config.size_distribution),
      isFixed_(config.size_distribution == SizeDistribution::kFixed),
      least_(static_cast<std::uint32_t>(config.size_min.count())),
      most_(static_cast<std::uint32_t>(config.size.count())),
      seed_(seed) {
  if (isFixed_) least_ = most_;
  if (distribution_ == SizeDistribution::kMix) {
    mix_ = parseSizeMix(config.size_mix);
    least_ = most_;
    for (const auto& part : mix_.parts) least_ = std::min(least_, part.first);
  }
  if (distribution_ == SizeDistribution::kFile) {
    table_ = config.size_table;
    least_ = table_.least();
  }
  if (distribution_ == SizeDistribution::kLogNormal) {
    logMedian_ = std::log(static_cast<double>(std::max<std::int64_t>(config.size_median.count(), 1)));
    sigma_ = config.size_sigma;
  }
}

std::uint32_t MessageSizes::draw(std::uint32_t index, std::uint64_t number) const {
  const std::uint64_t key = mixedBits(mixedBits(seed_ + index) + number);
  switch (distribution_) {
    case SizeDistribution::kFixed:
      break;
    case SizeDistribution::kUniform:
      return least_ + static_cast<std::uint32_t>(key % (std::uint64_t{most_} - least_ + 1));
    case SizeDistribution::kLogNormal: {
      const double drawn = std::exp(logMedian_ + sigma_ * normalOf(key));
      return static_cast<std::uint32_t>(std::clamp(drawn, double(least_), double(most_)));
    }
    case SizeDistribution::kFile:
      return table_.draw(uniformOf(key), mixedBits(key));
    case SizeDistribution::kMix:
      return mix_.draw(key);
  }
  return most_;
}

}  // namespace hca::sim
