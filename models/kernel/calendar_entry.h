// What a calendar keeps of a pending event.
#pragma once

#include <cstdint>

#include "models/base/units.h"

namespace hca::kernel {

class CalendarClient;

struct CalendarEntry {
  Time when;
  std::uint64_t order = 0;  ///< among those of one time
  CalendarClient* client = nullptr;
  std::uint64_t token = 0;

  /// Ascending in the order of execution. One number of 128 bits, so that a comparison is one instead of two with a
  /// branch between them: which of two entries is earlier can't be predicted.
  static WideInteger key(Time when, std::uint64_t order) {
    return static_cast<WideInteger>(when.count()) << 64 | static_cast<WideInteger>(order);
  }
  [[nodiscard]] WideInteger key() const { return key(when, order); }
};

}  // namespace hca::kernel
