// Finds what somebody probably meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hca::config {

/// Least number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other
/// (optimal string alignment). Upper and lower case count as equal.
[[nodiscard]] std::size_t editDistance(std::string_view a, std::string_view b);

/// The candidate with the least distance, the first of equals; empty if there are none.
[[nodiscard]] std::string nearestName(std::string_view word, const std::vector<std::string>& candidates);

/// Whether `candidate` is so near that `word` is probably a misspelling of it: a third of its letters at most.
[[nodiscard]] bool isMisspelling(std::string_view word, std::string_view candidate);

}  // namespace hca::config
