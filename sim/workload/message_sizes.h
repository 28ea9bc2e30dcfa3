// How long the messages of a flow are.
#pragma once

#include <cstdint>
#include <string>

#include "sim/workload/flow_config.h"
#include "sim/workload/size_table.h"
#include "sim/workload/weighted_mix.h"

namespace hca::sim {

/// Sizes in bytes and their weights, as the key `size_mix` has them: "64B:3, 4KiB:1".
using SizeMix = WeightedMix<std::uint32_t>;
[[nodiscard]] SizeMix parseSizeMix(const std::string& text);

/// Draws by size_distribution. The size of a message is a function of seed, queue pair and number alone.
class MessageSizes {
 public:
  /// Precondition: the rules of the flow hold (flow_rules.h).
  MessageSizes(const FlowConfig& config, std::uint64_t seed);

  /// Bytes of message `number` of queue pair `index`; never more than the key `size`.
  [[nodiscard]] std::uint32_t of(std::uint32_t index, std::uint64_t number) const {
    return isFixed_ ? most_ : draw(index, number);
  }
  /// The shortest that may come.
  [[nodiscard]] std::uint32_t least() const { return least_; }
  /// The longest.
  [[nodiscard]] std::uint32_t most() const { return most_; }

 private:
  [[nodiscard]] std::uint32_t draw(std::uint32_t index, std::uint64_t number) const;

  SizeDistribution distribution_;
  SizeMix mix_;
  SizeTable table_;
  bool isFixed_;
  std::uint32_t least_, most_;
  double logMedian_ = 0, sigma_ = 0;
  std::uint64_t seed_;
};

}  // namespace hca::sim
