// A memory key's context, decoded.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/ids.h"

namespace hca::adapter {

/// mkc.access_mode
enum class MkeyMode : std::uint8_t {
  kPhysical = 0,
  kTranslated = 1,
  kIndirect = 2,
  kFixedIndirect = 3,
  kDeviceMemory = 5,
};

/// A row of an indirect key: a piece of what another key gives access to.
struct KeyPiece {
  MemoryKey key;
  std::uint64_t address = 0;
  std::uint64_t length = 0;  ///< bytes, at most 2 GiB
};

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
  std::uint64_t start = 0;   ///< first virtual address; of device memory its offset in BAR0, requests count from 0
  std::uint64_t length = 0;  ///< bytes
  std::uint8_t logPageSize = 12;
  std::vector<BusAddress> pages;  ///< translation of page i from the page of `start`

  bool updatable = false;                 ///< mkc.umr_en: work requests may change it
  bool remoteInvalidate = false;          ///< mkc.en_rinval: a SEND with invalidate may free it
  std::uint32_t translationOctwords = 0;  ///< room for translations that work requests bring, 16-byte units
  std::vector<KeyPiece> pieces;           ///< of an indirect key, one behind the other
};

}  // namespace hca::adapter
