// Things that come with weights, as a text has them: "64B:90, 4KiB:10".
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hca::sim {

template <class Item>
struct WeightedMix {
  std::vector<std::pair<Item, std::uint32_t>> parts;  ///< item and weight
  std::uint64_t weights = 0;                          ///< all together
  std::string problem;                                ///< empty if the text could be read

  /// The item that random `bits` stand for. Precondition: there is no problem.
  [[nodiscard]] Item draw(std::uint64_t bits) const {
    std::uint64_t at = bits % weights;
    for (const auto& [item, weight] : parts) {
      if (at < weight) return item;
      at -= weight;
    }
    return parts.back().first;
  }
};

/// Digits alone, at most nine: more is no number.
[[nodiscard]] bool parseWeight(const std::string& text, std::uint64_t& count);
/// Without blanks at its ends.
[[nodiscard]] std::string trimmed(const std::string& text);

/// Reads "ITEM[:WEIGHT], ..."; a weight that isn't given is 1. `read(text, item)` tells whether `text` is an item;
/// `what` completes the sentence about a part that is none.
template <class Item, class Read>
[[nodiscard]] WeightedMix<Item> parseWeightedMix(const std::string& text, const char* what, Read&& read) {
  WeightedMix<Item> mix;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = trimmed(text.substr(at, end - at));
    at = end + 1;
    const std::size_t colon = part.find(':');
    Item item{};
    std::uint64_t weight = 1;
    const bool isRead = read(trimmed(part.substr(0, colon)), item) &&
                        (colon == std::string::npos || parseWeight(trimmed(part.substr(colon + 1)), weight));
    if (!isRead || weight == 0) {
      mix.problem = '\'' + part + "' " + what;
      return mix;
    }
    mix.parts.emplace_back(item, static_cast<std::uint32_t>(weight));
    mix.weights += weight;
  }
  return mix;
}

}  // namespace hca::sim
