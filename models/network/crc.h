// The two checksums of InfiniBand packets. InfiniBand Architecture volume 1, sections 7.8.1 and 7.8.2.
#pragma once

#include <cstdint>

#include "models/base/byte_view.h"

namespace hca::network {

/// Accumulates the 32-bit invariant CRC: the polynomial of Ethernet, least significant bit of each byte first.
class InvariantCrc {
 public:
  void add(ByteView bytes);
  /// The checksum, sent least significant byte first.
  [[nodiscard]] std::uint32_t value() const { return ~state_; }

 private:
  std::uint32_t state_ = 0xFFFFFFFF;
};

/// Accumulates the 16-bit variant CRC: x^16 + x^12 + x^3 + x + 1, least significant bit of each byte first.
class VariantCrc {
 public:
  void add(ByteView bytes);
  /// The checksum, sent least significant byte first.
  [[nodiscard]] std::uint16_t value() const { return static_cast<std::uint16_t>(~state_); }

 private:
  std::uint16_t state_ = 0xFFFF;
};

}  // namespace hca::network
