// A memory key's context, decoded.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/ids.h"

namespace hca::adapter {

/// mkc.access_mode
enum class MkeyMode : std::uint8_t { kPhysical = 0, kTranslated = 1, kIndirect = 2 };

/// Rights, as one byte of flags.
struct AccessRights {
  bool localRead = false;
  bool localWrite = false;
  bool remoteRead = false;
  bool remoteWrite = false;
  bool atomic = false;
};

struct MkeyAttributes {
  bool free = false;
  MkeyMode mode = MkeyMode::kTranslated;
  AccessRights rights;
  bool relaxedOrderingWrite = false;
  bool relaxedOrderingRead = false;
  bool anyLength = false;            ///< mkc.length64: the whole address space
  std::uint8_t variant = 0;          ///< low byte of the key
  std::uint32_t boundQp = 0xFFFFFF;  ///< 0xffffff: any queue pair
  PdNumber pd;
  std::uint64_t start = 0;   ///< first virtual address
  std::uint64_t length = 0;  ///< bytes
  std::uint8_t logPageSize = 12;
  std::vector<BusAddress> pages;  ///< translation of page i from the page of `start`
};

}  // namespace hca::adapter
