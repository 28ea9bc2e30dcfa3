// Where modelled memory really is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace hca::host {

/// Gives out zeroed memory from large pieces of address space, which the operating system fills when they are first
/// touched, and takes it back.
class ZeroedArena {
 public:
  /// kSmall: by 4 KiB: what is never touched costs nothing. kHuge: by 2 MiB where the system offers that. With
  /// thousands of rings the processor's translations of small pages don't fit its buffers, and every access walks the
  /// page table.
  enum class Pages : std::uint8_t { kSmall, kHuge };

  ZeroedArena(Pages pages, std::size_t chunk) : pages_(pages), chunk_(chunk) {}
  ~ZeroedArena();
  ZeroedArena(const ZeroedArena&) = delete;
  ZeroedArena& operator=(const ZeroedArena&) = delete;

  /// `length` > 0 bytes that begin on a cache line. Throws std::bad_alloc when this process has not that much memory.
  std::uint8_t* allocate(std::size_t length);
  /// What `allocate` returned, with the same length. The bytes are not given out again: the system has them back.
  void free(std::uint8_t* bytes, std::size_t length);

 private:
  struct Chunk {
    std::size_t size = 0;
    std::size_t used = 0;    // bytes from its begin
    std::size_t blocks = 0;  // alive
  };
  using Chunks = std::map<std::uintptr_t, Chunk>;  // by first address

  Chunks::iterator addChunk(std::size_t atLeast);
  static void release(const Chunks::value_type& chunk);

  Pages pages_;
  std::size_t chunk_;
  Chunks chunks_;
  Chunks::iterator current_ = chunks_.end();  // the one that is given out from
};

}  // namespace hca::host
