// Which page of registers of which adapter.
#pragma once

#include <cstdint>

#include "models/wire/mmio_map.h"

namespace hca::cosim {

/// As programs hand it back with every access (channel::Request, argument 0): a page of BAR0, and above it the adapter.
struct RegisterPage {
  std::uint32_t adapter = 0;  ///< of its host
  std::uint64_t page = 0;

  /// Device memory takes bytes; other pages are doorbells and the clock.
  [[nodiscard]] constexpr bool isDeviceMemory() const { return wire::isDeviceMemoryOffset(page * wire::kUarPageSize); }

  [[nodiscard]] constexpr std::uint64_t barOffset(std::uint64_t offset) const {
    return page * wire::kUarPageSize + offset;
  }

  static constexpr unsigned kAdapterShift = 40;
  [[nodiscard]] constexpr std::uint64_t encoded() const { return std::uint64_t{adapter} << kAdapterShift | page; }
  [[nodiscard]] static constexpr RegisterPage decode(std::uint64_t value) {
    return {static_cast<std::uint32_t>(value >> kAdapterShift), value & ((std::uint64_t{1} << kAdapterShift) - 1)};
  }
};

}  // namespace hca::cosim
