// Page lists in commands.
#pragma once

#include <algorithm>
#include <vector>

#include "models/adapter/memory/page_list.h"
#include "models/base/byte_view.h"
#include "models/wire/context_field.h"

namespace hca::adapter::commands {

/// Largest page of a ring or buffer: what the public drivers use at most (MLX5_MAX_PAGE_SHIFT).
constexpr std::uint8_t kLargestLogPage = 31;

/// The page addresses from `Words` to the end of the input.
template <class Words>
std::vector<BusAddress> readPages(ByteView input) {
  std::vector<BusAddress> pages;
  const std::size_t count = Words::count(input);
  pages.reserve(count);
  for (std::size_t n = 0; n < count; ++n) pages.emplace_back(Words::get(input, n));
  return pages;
}

/// As many of `pages` as the output has room for.
template <class Words>
void writePages(const std::vector<BusAddress>& pages, MutableByteView output) {
  const std::size_t count = std::min(pages.size(), Words::count(output));
  for (std::size_t n = 0; n < count; ++n) Words::set(output, n, pages[n].value());
}

}  // namespace hca::adapter::commands
