// The simulation's own memory: what malloc is to a program.
#pragma once

#include <cstdint>
#include <map>

#include "models/base/byte_view.h"
#include "models/host/bus_address_space.h"
#include "models/host/zeroed_arena.h"

namespace hca::host {

/// One owner's virtual memory. Each allocation is one contiguous block of this process, zero-filled by the operating
/// system when it is first touched: memory that a study never writes costs nothing, but for small blocks. Addresses
/// grow and are never given out twice, so that an access to freed memory fails instead of hitting somebody else's.
class SparseMemory final : public MemoryBackend {
 public:
  /// Every instance hands out the same addresses: two owners' virtual addresses are equal, as with real programs.
  static constexpr std::uint64_t kFirstAddress = 0x5555'0000'0000;

  SparseMemory() = default;
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;

  /// `length` > 0 zeroed bytes at a multiple of `alignment` (a power of two). Throws std::invalid_argument on other
  /// values, std::bad_alloc when this process has not that much memory.
  std::uint64_t allocate(std::uint64_t length, std::uint64_t alignment);
  /// Frees the allocation that starts at `address`; false if there is none. End its bus mappings first: a bus address
  /// space keeps direct pointers while they live.
  bool free(std::uint64_t address);

  bool read(std::uint64_t address, MutableByteView into) override;
  bool write(std::uint64_t address, ByteView bytes) override;
  /// nullptr if the range isn't inside one allocation.
  std::uint8_t* direct(std::uint64_t address, std::uint64_t length) override;

  /// Bytes allocated now, as asked for.
  [[nodiscard]] std::uint64_t allocatedBytes() const { return allocatedBytes_; }

 private:
  struct Block {
    ZeroedArena* arena = nullptr;
    std::uint8_t* bytes = nullptr;
    std::uint64_t length = 0;
  };

  ZeroedArena& arenaFor(std::uint64_t length);

  // Rings of a page or two are touched anyway, and with many queues there are many of them. An owner that has a few
  // needs no huge page for those.
  static constexpr std::uint64_t kSmallBlock = 8192;
  static constexpr std::uint64_t kFewBytes = std::uint64_t{1} << 20;

  ZeroedArena few_{ZeroedArena::Pages::kSmall, std::size_t{1} << 16};
  ZeroedArena many_{ZeroedArena::Pages::kHuge, std::size_t{4} << 20};
  ZeroedArena large_{ZeroedArena::Pages::kSmall, std::size_t{1} << 20};
  std::uint64_t smallBytes_ = 0;           // given out in small blocks, ever
  std::map<std::uint64_t, Block> blocks_;  // by first address
  std::map<std::uint64_t, Block>::const_iterator lastHit_ = blocks_.end();
  std::uint64_t next_ = kFirstAddress;
  std::uint64_t allocatedBytes_ = 0;
};

}  // namespace hca::host
