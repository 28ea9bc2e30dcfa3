#include "sim/driver/device_memory_pages.h"

#include <algorithm>

namespace hca::driver {

std::optional<std::uint32_t> DeviceMemoryPages::take(std::uint32_t length, std::uint32_t from) {
  const std::uint32_t pages = pagesOf(length);
  for (std::uint64_t page = from; page + pages <= taken_.size(); ++page) {
    const auto first = taken_.begin() + static_cast<std::ptrdiff_t>(page);
    if (std::find(first, first + pages, true) != first + pages) continue;
    mark(static_cast<std::uint32_t>(page), length, true);
    return static_cast<std::uint32_t>(page);
  }
  return std::nullopt;
}

void DeviceMemoryPages::remove(std::uint32_t page) {
  giveBack(page, pieces_.at(page).length);
  pieces_.erase(page);
}

void DeviceMemoryPages::mark(std::uint32_t page, std::uint32_t length, bool isTaken) {
  std::fill_n(taken_.begin() + page, pagesOf(length), isTaken);
}

}  // namespace hca::driver
