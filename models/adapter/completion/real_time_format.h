// How a completion entry holds the real time.
#pragma once

#include <cstdint>
#include <utility>

#include "models/base/config_key.h"

namespace hca::adapter {

enum class RealTimeFormat : std::uint8_t {
  kSecondsNanoseconds,  ///< seconds in [62:32], nanoseconds in [31:0], as DPDK has it
  kNanoseconds,         ///< one number of nanoseconds, as libmlx5 reads it
};

}  // namespace hca::adapter

template <>
struct hca::config::EnumNames<hca::adapter::RealTimeFormat> {
  static constexpr std::pair<const char*, adapter::RealTimeFormat> kNames[] = {
      {"seconds_nanoseconds", adapter::RealTimeFormat::kSecondsNanoseconds},
      {"nanoseconds", adapter::RealTimeFormat::kNanoseconds},
  };
};
