// What the invariant CRC covers: a packet with the fields that switches and routers may change set to all ones.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/base/byte_view.h"

namespace hca::network {

/// How a packet gets to its destination: which headers come before the base transport header.
enum class Encapsulation : std::uint8_t { kLocal, kGlobal, kIpv4, kIpv6 };

/// Offset of the base transport header in the bytes of a packet.
[[nodiscard]] std::size_t transportOffset(Encapsulation encapsulation);

/// The invariant CRC of a packet: `bytes` from its first header to the end of its padding. InfiniBand Architecture
/// volume 1, section 7.8.1, and annex A17: the local route header of a global packet, or eight bytes in place of the
/// Ethernet header, count as ones. `bytes` must reach beyond the base transport header.
[[nodiscard]] std::uint32_t invariantCrc(ByteView bytes, Encapsulation encapsulation);

}  // namespace hca::network
