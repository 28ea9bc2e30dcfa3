// What a work queue's DMA carries to find its queue again.
#pragma once

#include <cstdint>

namespace hca::adapter {

/// Names a queue and one life of it, so that what was read for a queue that is reset or gone meanwhile is dropped.
struct QueueToken {
  std::uint8_t purpose = 0;
  std::uint32_t life = 0;    ///< counts the resets of the number's queue
  std::uint32_t number = 0;  ///< 24 bits

  /// [63:56] purpose, [55:24] life, [23:0] number.
  [[nodiscard]] std::uint64_t encoded() const {
    return (std::uint64_t{purpose} << (kNumberBits + kLifeBits)) | (std::uint64_t{life} << kNumberBits) | number;
  }
  [[nodiscard]] static QueueToken decode(std::uint64_t token) {
    return {static_cast<std::uint8_t>(token >> (kNumberBits + kLifeBits)),
            static_cast<std::uint32_t>(token >> kNumberBits),
            static_cast<std::uint32_t>(token & ((std::uint64_t{1} << kNumberBits) - 1))};
  }

 private:
  static constexpr unsigned kNumberBits = 24;
  static constexpr unsigned kLifeBits = 32;
};

}  // namespace hca::adapter
