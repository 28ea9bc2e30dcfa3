// Packets as the exact bytes of their link, for captures, external models and tests.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/byte_view.h"
#include "models/network/packet.h"

namespace hca::network {

/// Why bytes are no packet.
enum class DecodeError : std::uint8_t {
  kNone,
  kTooShort,            ///< ends inside a header
  kLengthMismatch,      ///< a length field disagrees with the others or with the bytes
  kNotTransport,        ///< a valid frame of something else: raw packet, other protocol or port, fragment
  kBadVersion,          ///< link, IP or transport version that does not exist
  kBadHeaderChecksum,   ///< IPv4
  kUnsupportedService,  ///< reliable datagram, vendor services
  kUnknownOperation,    ///< none of the service's operations
  kBadPadding,          ///< pad count beyond the payload, or payload and padding no multiple of four
  kUnexpectedPayload,   ///< payload in an operation that has none
  kBadVariantCrc,       ///< InfiniBand link CRC
  kBadInvariantCrc,     ///< end-to-end CRC
};

/// Puts `packet` into `bytes` (replacing what they held). InfiniBand: from the local route header to the variant CRC.
/// RoCE v2: from the Ethernet header to the invariant CRC and the padding to Ethernet's minimum, without the frame
/// check sequence. Addresses that are IPv4-mapped GIDs on both sides go as IPv4. A payload that is left out of the
/// simulation goes as zeros. `corrupted` packets get an inverted invariant CRC. Fields wider than the header's are cut.
/// Returns false, and no bytes, for a combination of service and operation that the codec does not know.
[[nodiscard]] bool encode(const Packet& packet, std::vector<std::uint8_t>& bytes);

/// Reads the bytes of one packet. RoCE v2 may have trailing bytes (padding, frame check sequence).
/// On kBadInvariantCrc `packet` is complete and marked corrupted; on any other error its content means nothing.
[[nodiscard]] DecodeError decode(ByteView bytes, LinkLayer layer, kernel::PayloadPool& pool, Packet& packet);

/// A few words for logs.
[[nodiscard]] const char* name(DecodeError error);

}  // namespace hca::network
