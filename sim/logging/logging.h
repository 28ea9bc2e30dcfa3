// Log lines: one logger a module, each line starts with the simulated time.
#pragma once

#include <spdlog/logger.h>

#include <iosfwd>
#include <memory>
#include <string>

#include "models/base/units.h"

namespace hca::logging {

/// Where lines take their time from.
class TimeOrigin {
 public:
  [[nodiscard]] virtual Time now() const = 0;

 protected:
  ~TimeOrigin() = default;
};

/// Sets where lines go, and the least severity (spdlog's). Loggers made before and after follow it. `stream` must
/// outlive all logging or be replaced by another call.
void configure(std::ostream& stream, spdlog::level::level_enum level);

/// From now on lines show `origin.now()`; nullptr: a run is not under way, lines show "-".
void setTimeOrigin(const TimeOrigin* origin);

/// The logger of a module, by the module's path ("host.0.adapter.completion"). Made at the first call.
/// A line reads `12.345678 us [host.0.adapter.completion] warning: text`.
[[nodiscard]] std::shared_ptr<spdlog::logger> logger(const std::string& module);

}  // namespace hca::logging
