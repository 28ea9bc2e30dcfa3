// Partition keys: which ports may talk to each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hca::network {

/// Bit 15 of a key: a full member; limited members talk to full ones alone.
constexpr std::uint16_t kFullMember = 0x8000;
/// Every port is a full member of it unless a subnet manager says otherwise.
constexpr std::uint16_t kDefaultPartition = 0xFFFF;

/// InfiniBand volume 1, 10.9.3: equal in the low 15 bits, which are not all zero, and not both limited members.
[[nodiscard]] constexpr bool partitionsMatch(std::uint16_t one, std::uint16_t other) {
  constexpr std::uint16_t kBase = 0x7FFF;
  return ((one ^ other) & kBase) == 0 && (one & kBase) != 0 && ((one | other) & kFullMember) != 0;
}

/// Keys that an adapter's port has room for.
constexpr std::size_t kMostPartitionKeys = 128;

/// Reads a port's table, "0xffff, 0x8001, 0, 0x7002": hexadecimal numbers by index, 0 for an empty entry. Nothing if
/// the text is something else, empty, or longer than the table.
[[nodiscard]] std::optional<std::vector<std::uint16_t>> parsePartitionKeys(std::string_view text);

}  // namespace hca::network
