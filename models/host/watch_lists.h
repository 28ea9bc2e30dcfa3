// Who watches which bytes of a page.
#pragma once

#include <cstdint>
#include <vector>

#include "models/host/bus_address_space.h"

namespace hca::host {

/// One list of watched ranges for each watched page; number 0 is the empty list. Lists are reused, so that a poller
/// that starts and ends its watch for each message allocates nothing.
///
/// A watcher may watch and unwatch, itself or others, while it is told of a write: whoever is unwatched isn't told any
/// more, whoever is new isn't told of this write.
class WatchLists {
 public:
  struct Watch {
    std::uint64_t begin = 0;  ///< bus address
    std::uint64_t end = 0;
    MemoryWatcher* watcher = nullptr;  ///< nullptr: ended while a write was being told
  };

  /// Adds to list `list` (0: a new one) and returns its number.
  std::uint32_t add(std::uint32_t list, const Watch& watch);
  /// Removes one equal entry and returns the list's number, 0 if it became empty.
  std::uint32_t remove(std::uint32_t list, const Watch& watch);

  /// Tells every watcher of `list` whose range meets the write [begin, end) and was not told on an earlier page of the
  /// same write; `pageBegin` is the first address of the list's page.
  void tell(std::uint32_t list, std::uint64_t pageBegin, std::uint64_t begin, std::uint64_t end);

 private:
  struct List {
    std::vector<Watch> watches;
    bool isDirty = false;  // has ended entries, to be removed after the telling
  };
  void clean(std::uint32_t list);

  std::vector<List> lists_{1};
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> dirty_;
  unsigned telling_ = 0;  // depth
};

}  // namespace hca::host
