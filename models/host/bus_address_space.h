// The addresses that DMA uses, and whose memory is behind each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/base/byte_view.h"
#include "models/base/ids.h"
#include "models/base/units.h"

namespace hca::host {

/// Memory that belongs to one owner: the simulation's own, a program's in this process or another, a guest's.
/// Addresses are the owner's own virtual addresses. Either call may fail (memory unmapped meanwhile, process gone).
class MemoryBackend {
 public:
  virtual ~MemoryBackend() = default;
  /// Copies `into.size()` bytes from `address`; false if any of them can't be read (then `into` is unspecified).
  virtual bool read(std::uint64_t address, MutableByteView into) = 0;
  /// Copies `bytes` to `address`; false if any of them can't be written.
  virtual bool write(std::uint64_t address, ByteView bytes) = 0;
  /// Direct access to `length` bytes at `address` if the backend has them in this process, else nullptr.
  /// The pointer stays valid until the next unmap.
  virtual std::uint8_t* direct(std::uint64_t address, std::uint64_t length) {
    (void)address;
    (void)length;
    return nullptr;
  }
};

enum class DmaStatus : std::uint8_t {
  kOk,
  kUnmapped,      ///< no owner mapped this bus address: completes as Unsupported Request
  kAccessFailed,  ///< mapped, but the owner's memory refused: completes as Completer Abort
};

/// Told when a range of bus addresses was written by DMA (so that a polling thread need not poll in simulated time).
class MemoryWatcher {
 public:
  virtual void onMemoryWritten(BusAddress address, std::uint64_t length) = 0;

 protected:
  ~MemoryWatcher() = default;
};

/// Maps (owner, page) to bus addresses of one host. Two owners may use equal virtual addresses; bus addresses never
/// collide. Pages are 4 KiB; a mapping shorter than a page still occupies it, but only its bytes are accessible.
///
/// A range is mapped as often as it is registered: the mapping lives until it was unmapped as often (reference counts).
class BusAddressSpace {
 public:
  static constexpr std::uint64_t kPageSize = 4096;
  /// Longest range of one call, bytes. A mapping costs 24 bytes of this process a page.
  static constexpr std::uint64_t kLongestMapping = std::uint64_t{1} << 38;

  BusAddressSpace();
  ~BusAddressSpace();
  BusAddressSpace(const BusAddressSpace&) = delete;
  BusAddressSpace& operator=(const BusAddressSpace&) = delete;

  /// Adds an owner whose memory `backend` reaches. The backend must outlive the owner's mappings.
  OwnerId addOwner(std::string name, MemoryBackend& backend);
  /// Removes every mapping of `owner`; later DMA to them fails as kUnmapped.
  void removeOwner(OwnerId owner);

  /// Maps whole pages around [address, address + length) and returns the bus address of `address` itself.
  /// Pages of one call are contiguous on the bus; a range of 2 MiB or more agrees with its bus addresses in the low 21
  /// bits. Pages already mapped by the owner keep their bus address only if the
  /// whole range was mapped in one call before; otherwise they get a further one. Addresses are not given out again
  /// until all 48 bits came round, and never in the range of interrupt messages (0xFEE00000 to 0xFEEFFFFF).
  /// Throws std::invalid_argument for an unknown owner, an empty range, one longer than `kLongestMapping` or one that
  /// wraps at the end of the addresses.
  BusAddress map(OwnerId owner, std::uint64_t address, std::uint64_t length);
  /// Maps at a bus address that the owner chose (a guest's IOMMU mapping). False if any page is taken, lies beyond 48
  /// bits or in the range of interrupt messages, if the offsets within the page differ, and where `map` would throw.
  bool mapAt(BusAddress bus, OwnerId owner, std::uint64_t address, std::uint64_t length);
  /// Ends one mapping of each page around [bus, bus + length). Pages that aren't mapped are passed over.
  void unmap(BusAddress bus, std::uint64_t length);

  /// Nothing to read or to write is kOk. A byte that isn't mapped fails the whole access before any is copied.
  DmaStatus read(BusAddress address, MutableByteView into) const;
  /// Writes and tells watchers (not after a failure).
  DmaStatus write(BusAddress address, ByteView bytes);
  /// Whether every byte is mapped.
  [[nodiscard]] bool contains(BusAddress address, std::uint64_t length) const;

  /// Calls `watcher` with the bytes written after each DMA write that touches [address, address + length). One range a
  /// watcher call; several ranges may name the same watcher. The range need not be mapped. Watchers may call `watch`
  /// and `unwatch`. Throws std::invalid_argument for an empty range or one beyond 48 bits.
  void watch(BusAddress address, std::uint64_t length, MemoryWatcher& watcher);
  /// Ends the watch that was begun with the same arguments.
  void unwatch(BusAddress address, std::uint64_t length, MemoryWatcher& watcher);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hca::host
