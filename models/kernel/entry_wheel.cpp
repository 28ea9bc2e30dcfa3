#include "models/kernel/entry_wheel.h"

namespace hca::kernel {

std::uint32_t EntryWheel::growNodes() {
  nodes_.emplace_back();
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

}  // namespace hca::kernel
