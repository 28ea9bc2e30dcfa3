#include "sim/cosim/program_memory.h"

#include <algorithm>
#include <iterator>

namespace hca::cosim {

bool ProgramMemory::isForgotten(std::uint64_t address, std::uint64_t length) const {
  if (forgotten_.empty()) return false;
  // The last range that begins before the end of this one.
  const auto behind = forgotten_.lower_bound(address + std::max<std::uint64_t>(length, 1));
  return behind != forgotten_.begin() && std::prev(behind)->second > address;
}

void ProgramMemory::remember(std::uint64_t address, std::uint64_t length) {
  named_ = {address, length};
  const std::uint64_t end = address + length;
  auto at = forgotten_.lower_bound(end);
  while (at != forgotten_.begin() && std::prev(at)->second > address) {
    const auto [from, to] = *--at;
    at = forgotten_.erase(at);
    if (to > end) at = forgotten_.emplace(end, to).first;
    if (from < address) at = forgotten_.emplace(from, address).first;
  }
}

void ProgramMemory::forget(std::uint64_t address, std::uint64_t length) {
  std::uint64_t from = address, end = address + length;
  if (end <= from) return;
  auto at = forgotten_.upper_bound(end);
  while (at != forgotten_.begin() && std::prev(at)->second >= from) {
    --at;
    from = std::min(from, at->first);
    end = std::max(end, at->second);
    at = forgotten_.erase(at);
  }
  forgotten_.emplace(from, end);
}

}  // namespace hca::cosim
