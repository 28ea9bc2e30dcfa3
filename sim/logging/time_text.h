// Simulated time for people, and for fmt.
#pragma once

#include <fmt/format.h>

#include <string>

#include "models/base/units.h"

namespace hca {

/// In the largest unit that leaves a whole number in front, with up to three decimals, rounded: "870 ns", "12.346 us".
[[nodiscard]] std::string timeText(Time time);

/// In microseconds with all six decimals, so that lines below each other compare: "12.345678".
[[nodiscard]] std::string microsecondsText(Time time);

}  // namespace hca

/// `fmt::format("{}", time)` is timeText; width and alignment work as for strings.
template <>
struct fmt::formatter<hca::Time> : fmt::formatter<std::string> {
  template <class Context>
  auto format(hca::Time time, Context& context) const {
    return fmt::formatter<std::string>::format(hca::timeText(time), context);
  }
};
