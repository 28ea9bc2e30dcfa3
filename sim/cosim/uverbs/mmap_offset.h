// What an offset into the device file means to mmap.
#pragma once

#include <cstdint>

namespace hca::cosim {

/// Linux drivers/infiniband/hw/mlx5/main.c, get_command and get_extended_index: a command (rdma/mlx5-abi.h, enum
/// mlx5_ib_mmap_cmd) and an index, whose upper part goes on above the command.
struct MmapOffset {
  std::uint64_t command;
  std::uint64_t index;

  static constexpr unsigned kPageBits = 12;
  [[nodiscard]] static constexpr MmapOffset decode(std::uint64_t offset) {
    const std::uint64_t page = offset >> kPageBits;
    return {page >> 8 & 0xFF, (page & 0xFF) | page >> 16 << 8};
  }
  [[nodiscard]] constexpr std::uint64_t encoded() const {
    return (command << 8 | (index & 0xFF) | index >> 8 << 16) << kPageBits;
  }
};

/// A command beyond those of the header: pages of UAR objects, by their handles.
constexpr std::uint64_t kUarObjects = 0x40;

}  // namespace hca::cosim
