// GUIDs as configurations write them.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hca::config {

/// Reads "0x0200c0ffee000001": hexadecimal, not zero. Nothing if the text is something else.
[[nodiscard]] inline std::optional<std::uint64_t> parseGuid(std::string_view text) {
  constexpr int kHexadecimal = 16;
  if (text.size() < 3 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X')) return std::nullopt;
  text.remove_prefix(2);
  std::uint64_t guid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), guid, kHexadecimal);
  if (error != std::errc() || end != text.data() + text.size() || guid == 0) return std::nullopt;
  return guid;
}

}  // namespace hca::config
