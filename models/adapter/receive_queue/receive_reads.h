// What receive queues read from host memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/adapter/memory/page_list.h"
#include "models/pcie/dma_port.h"
#include "models/wire/endian.h"

namespace hca::adapter {

enum class ReceiveRead : std::uint8_t { kRecord, kEntries };

/// The doorbell record: one big-endian word that counts what was posted, modulo 2^16.
inline pcie::DmaRead recordRead(BusAddress record) {
  pcie::DmaRead read;
  read.address = record;
  read.length = sizeof(std::uint32_t);
  read.traffic = pcie::Traffic::kDoorbellRecord;
  return read;
}
inline std::uint16_t postedIn(ByteView record) {
  return static_cast<std::uint16_t>(wire::loadBigEndian<std::uint32_t>(record.data()));
}

/// The place of a ring's entries.
struct ReceiveRing {
  const PageList& buffer;
  std::uint8_t logSize = 0;    ///< entries
  std::uint8_t logStride = 0;  ///< bytes
  [[nodiscard]] std::uint64_t entries() const { return std::uint64_t{1} << logSize; }

  /// How many of `wanted` entries one read from entry `first` on can bring: not beyond the end of the ring or of its
  /// page; at least one.
  [[nodiscard]] std::uint64_t inOneRead(std::uint64_t first, std::uint64_t wanted) const {
    const std::uint64_t page = std::uint64_t{1} << buffer.logPageSize;
    const std::uint64_t toPageEnd = (page - (((first << logStride) + buffer.offset) & (page - 1))) >> logStride;
    return std::max<std::uint64_t>(1, std::min({wanted, entries() - first, toPageEnd}));
  }
  [[nodiscard]] pcie::DmaRead read(std::uint64_t first, std::uint64_t count) const {
    pcie::DmaRead read;
    read.address = buffer.address(first << logStride);
    read.length = static_cast<std::uint32_t>(count << logStride);
    read.traffic = pcie::Traffic::kWqe;
    return read;
  }
};

}  // namespace hca::adapter
