#include "sim/workload/message_sizes.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/base/mixed_bits.h"
#include "sim/workload/random_draw.h"

namespace hca::sim {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Digits alone; more than fits is no number.
bool parseCount(const std::string& text, std::uint64_t& count) {
  if (text.empty() || text.size() > 9) return false;
  count = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    count = count * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return true;
}

bool parseBytes(const std::string& text, std::uint64_t& bytes) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string unit = text.substr(digits);
  const std::pair<const char*, std::uint64_t> units[] = {{"B", 1}, {"KiB", 1024}, {"MiB", std::uint64_t{1} << 20}};
  const auto* known = std::find_if(std::begin(units), std::end(units), [&](const auto& u) { return unit == u.first; });
  if (known == std::end(units) || !parseCount(text.substr(0, digits), bytes)) return false;
  bytes *= known->second;
  return bytes <= std::uint64_t{1} << 30;
}

}  // namespace

SizeMix parseSizeMix(const std::string& text) {
  SizeMix mix;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = trimmed(text.substr(at, end - at));
    at = end + 1;
    const std::size_t colon = part.find(':');
    std::uint64_t bytes = 0, weight = 1;
    const bool isRead = parseBytes(trimmed(part.substr(0, colon)), bytes) &&
                        (colon == std::string::npos || parseCount(trimmed(part.substr(colon + 1)), weight));
    if (!isRead || weight == 0) {
      mix.problem = '\'' + part + "' is no size with a weight, such as 4KiB:50";
      return mix;
    }
    mix.parts.emplace_back(static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(weight));
    mix.weights += weight;
  }
  return mix;
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
    case SizeDistribution::kMix: {
      std::uint64_t at = key % mix_.weights;
      for (const auto& [bytes, weight] : mix_.parts) {
        if (at < weight) return bytes;
        at -= weight;
      }
      break;
    }
  }
  return most_;
}

}  // namespace hca::sim
