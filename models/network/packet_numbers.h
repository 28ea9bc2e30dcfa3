// A set of packet numbers, as a configuration lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hca::network {

/// Numbers and ranges of numbers, counted from 1.
class PacketNumbers {
 public:
  /// Reads "3, 10-12": decimal numbers and ascending ranges, both ends included, in any order. Nothing if the text is
  /// something else. An empty text is the empty set.
  [[nodiscard]] static std::optional<PacketNumbers> parse(std::string_view text);

  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] bool contains(std::uint64_t number) const;

 private:
  struct NumberRange {
    std::uint64_t first;
    std::uint64_t last;
  };
  std::vector<NumberRange> ranges_;  // by first; they don't overlap
};

}  // namespace hca::network
