// Simulated time as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "models/base/units.h"

namespace hca::report {

/// In nanoseconds: whole where it is, with decimals otherwise.
inline nlohmann::ordered_json nanosecondsJson(Time time) {
  constexpr std::int64_t kPerNanosecond = 1000;
  if (time.count() % kPerNanosecond == 0) return time.count() / kPerNanosecond;
  return static_cast<double>(time.count()) / static_cast<double>(kPerNanosecond);
}

}  // namespace hca::report
