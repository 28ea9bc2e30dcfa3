// The header checksum of IPv4 (RFC 791).
#pragma once

#include <cstdint>

#include "models/base/byte_view.h"

namespace hca::network {

/// Complement of the one's complement sum of a header's 16-bit words (an even number of bytes). With the checksum field
/// zero: what belongs into it. Over a header with its checksum in place: 0 if it is right.
[[nodiscard]] inline std::uint16_t ipv4Checksum(ByteView header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < header.size(); i += 2)
    sum += static_cast<std::uint32_t>(header[i] << 8 | header[i + 1]);
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace hca::network
