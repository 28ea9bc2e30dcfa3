// Bytes written as text, for hand-assembled vectors in tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hca::test {

/// "0a ff 10" as three bytes; blanks are skipped, anything else must be pairs of hexadecimal digits.
inline std::vector<std::uint8_t> hexBytes(const std::string& text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ' && c != '\n') digits += c;
  }
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

}  // namespace hca::test
