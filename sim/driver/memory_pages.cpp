#include "sim/driver/memory_pages.h"

namespace hca::driver {

void setMemory(adapter::MkeyAttributes& key, std::uint64_t start, std::uint64_t length, BusAddress bus,
               unsigned largest) {
  constexpr unsigned kSmallest = 12;
  const std::uint64_t difference = start ^ bus.value();
  unsigned log = kSmallest;
  while (log < largest && (std::uint64_t{1} << log) < length && (difference & (std::uint64_t{1} << log)) == 0) ++log;
  key.start = start;
  key.length = length;
  key.logPageSize = static_cast<std::uint8_t>(log);
  key.pages.clear();
  const std::uint64_t page = std::uint64_t{1} << log;
  const std::uint64_t end = bus.value() + length;
  for (std::uint64_t at = bus.value() & ~(page - 1); at < end; at += page) key.pages.emplace_back(at);
}

}  // namespace hca::driver
