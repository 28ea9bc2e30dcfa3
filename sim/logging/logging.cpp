#include "sim/logging/logging.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/dist_sink.h>
#include <spdlog/sinks/ostream_sink.h>

#include <map>
#include <utility>

#include "sim/logging/time_text.h"

namespace hca::logging {

namespace {

// One simulation a process, so one clock for all loggers.
const TimeOrigin* timeOrigin = nullptr;

class SimulatedTimeFlag final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg&, const std::tm&, spdlog::memory_buf_t& destination) override {
    const std::string text = timeOrigin == nullptr ? std::string("-") : microsecondsText(timeOrigin->now()) + " us";
    destination.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<SimulatedTimeFlag>();
  }
};

std::unique_ptr<spdlog::formatter> makeFormatter() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<SimulatedTimeFlag>('J').set_pattern("%J [%n] %l: %v");
  return formatter;
}

// All loggers share one sink, whose target changes with configure().
struct Registry {
  std::shared_ptr<spdlog::sinks::dist_sink_st> sink = std::make_shared<spdlog::sinks::dist_sink_st>();
  std::map<std::string, std::shared_ptr<spdlog::logger>> loggers;
  spdlog::level::level_enum level = spdlog::level::warn;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

void configure(std::ostream& stream, spdlog::level::level_enum level) {
  Registry& all = registry();
  auto target = std::make_shared<spdlog::sinks::ostream_sink_st>(stream);
  target->set_formatter(makeFormatter());
  all.sink->set_sinks({std::move(target)});
  all.level = level;
  for (const auto& [name, logger] : all.loggers) logger->set_level(level);
}

void setTimeOrigin(const TimeOrigin* origin) { timeOrigin = origin; }

std::shared_ptr<spdlog::logger> logger(const std::string& module) {
  Registry& all = registry();
  std::shared_ptr<spdlog::logger>& entry = all.loggers[module];
  if (entry == nullptr) {
    entry = std::make_shared<spdlog::logger>(module, all.sink);
    entry->set_level(all.level);
  }
  return entry;
}

}  // namespace hca::logging
