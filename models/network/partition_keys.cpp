#include "models/network/partition_keys.h"

#include <charconv>

namespace hca::network {

namespace {

std::optional<std::uint16_t> partitionKeyOf(std::string_view text) {
  constexpr int kHexadecimal = 16;
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  const bool hasPrefix = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (!hasPrefix && text != "0") return std::nullopt;
  if (hasPrefix) text.remove_prefix(2);
  std::uint16_t key = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), key, kHexadecimal);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return key;
}

}  // namespace

std::optional<std::vector<std::uint16_t>> parsePartitionKeys(std::string_view text) {
  std::vector<std::uint16_t> keys;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    const auto key = partitionKeyOf(text.substr(0, comma));
    if (!key || keys.size() == kMostPartitionKeys) return std::nullopt;
    keys.push_back(*key);
    if (more) text.remove_prefix(comma + 1);
  }
  return keys;
}

}  // namespace hca::network
