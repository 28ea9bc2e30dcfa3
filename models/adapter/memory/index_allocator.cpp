#include "models/adapter/memory/index_allocator.h"

namespace hca::adapter {

IndexAllocator::IndexAllocator(std::uint32_t first, std::uint32_t count, std::uint32_t quarantine)
    : first_(first), count_(count), quarantine_(quarantine) {}

std::optional<std::uint32_t> IndexAllocator::allocate() {
  const bool hasFresh = fresh_ < count_;
  if (released_.size() > quarantine_ || (!hasFresh && !released_.empty())) {
    const std::uint32_t index = released_.front();
    released_.pop_front();
    return index;
  }
  if (!hasFresh) return std::nullopt;
  return first_ + fresh_++;
}

void IndexAllocator::release(std::uint32_t index) { released_.push_back(index); }

void IndexAllocator::reset() {
  fresh_ = 0;
  released_.clear();
}

}  // namespace hca::adapter
