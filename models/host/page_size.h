// Sizes of memory pages.
#pragma once

#include <cstdint>
#include <utility>

#include "models/base/config_key.h"

namespace hca::host {

/// Those of x86-64; the value is the binary logarithm.
enum class PageSize : std::uint8_t { k4KiB = 12, k2MiB = 21, k1GiB = 30 };

}  // namespace hca::host

template <>
struct hca::config::EnumNames<hca::host::PageSize> {
  static constexpr std::pair<const char*, hca::host::PageSize> kNames[] = {
      {"4KiB", hca::host::PageSize::k4KiB}, {"2MiB", hca::host::PageSize::k2MiB}, {"1GiB", hca::host::PageSize::k1GiB}};
};
