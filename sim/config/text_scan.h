// Small things that every reader of text needs.
#pragma once

#include <string_view>

namespace hca::config {

[[nodiscard]] inline bool isBlank(char c) { return c == ' ' || c == '\t'; }

/// Without the blanks at both ends.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && isBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && isBlank(text.back())) text.remove_suffix(1);
  return text;
}

[[nodiscard]] inline bool startsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

}  // namespace hca::config
