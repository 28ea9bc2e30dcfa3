#include "models/network/packet_numbers.h"

#include <algorithm>
#include <charconv>

namespace hca::network {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr const char* kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<std::uint64_t> numberOf(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<PacketNumbers> PacketNumbers::parse(std::string_view text) {
  PacketNumbers numbers;
  if (trimmed(text).empty()) return numbers;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    const std::string_view item = text.substr(0, comma);
    if (more) text.remove_prefix(comma + 1);
    const std::size_t dash = item.find('-');
    const auto first = numberOf(trimmed(item.substr(0, dash)));
    const auto last = dash == std::string_view::npos ? first : numberOf(trimmed(item.substr(dash + 1)));
    if (!first || !last || *last < *first) return std::nullopt;
    numbers.ranges_.push_back({*first, *last});
  }
  auto& ranges = numbers.ranges_;
  std::sort(ranges.begin(), ranges.end(), [](const NumberRange& a, const NumberRange& b) { return a.first < b.first; });
  std::size_t kept = 0;  // the last range that stays
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first <= ranges[kept].last) {
      ranges[kept].last = std::max(ranges[kept].last, ranges[i].last);
    } else {
      ranges[++kept] = ranges[i];
    }
  }
  ranges.resize(kept + 1);
  return numbers;
}

bool PacketNumbers::contains(std::uint64_t number) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), number,
                                      [](std::uint64_t n, const NumberRange& range) { return n < range.first; });
  return after != ranges_.begin() && number <= std::prev(after)->last;
}

}  // namespace hca::network
