#include "models/host/watch_lists.h"

#include <algorithm>

namespace hca::host {

std::uint32_t WatchLists::add(std::uint32_t list, const Watch& watch) {
  if (list == 0) {
    if (free_.empty()) {
      list = static_cast<std::uint32_t>(lists_.size());
      lists_.emplace_back();
    } else {
      list = free_.back();
      free_.pop_back();
    }
  }
  lists_[list].watches.push_back(watch);
  return list;
}

std::uint32_t WatchLists::remove(std::uint32_t list, const Watch& watch) {
  if (list == 0) return 0;
  std::vector<Watch>& watches = lists_[list].watches;
  const auto found = std::find_if(watches.begin(), watches.end(), [&](const Watch& w) {
    return w.watcher == watch.watcher && w.begin == watch.begin && w.end == watch.end;
  });
  if (found != watches.end()) found->watcher = nullptr;
  const bool isEmpty =
      std::none_of(watches.begin(), watches.end(), [](const Watch& w) { return w.watcher != nullptr; });
  if (telling_ == 0) {
    clean(list);
  } else if (!lists_[list].isDirty) {
    lists_[list].isDirty = true;
    dirty_.push_back(list);
  }
  return isEmpty ? 0 : list;
}

void WatchLists::clean(std::uint32_t list) {
  std::vector<Watch>& watches = lists_[list].watches;
  watches.erase(std::remove_if(watches.begin(), watches.end(), [](const Watch& w) { return w.watcher == nullptr; }),
                watches.end());
  lists_[list].isDirty = false;
  if (watches.empty()) free_.push_back(list);
}

void WatchLists::tell(std::uint32_t list, std::uint64_t pageBegin, std::uint64_t begin, std::uint64_t end) {
  ++telling_;
  const std::size_t count = lists_[list].watches.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Watch watch = lists_[list].watches[i];  // a copy: the watcher may add to the list
    if (watch.watcher == nullptr || watch.end <= begin || end <= watch.begin) continue;
    const bool wasTold = std::max(begin, watch.begin) < pageBegin;
    if (!wasTold) watch.watcher->onMemoryWritten(BusAddress(begin), end - begin);
  }
  if (--telling_ > 0) return;
  for (const std::uint32_t dirty : dirty_) clean(dirty);
  dirty_.clear();
}

}  // namespace hca::host
