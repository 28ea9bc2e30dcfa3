// Section [run]: what holds for the run as a whole.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::config {

enum class PayloadMode : std::uint8_t { kMoved, kTiming };
enum class PrintMode : std::uint8_t { kNone, kEvents };
enum class LogLevel : std::uint8_t { kTrace, kDebug, kInfo, kWarning, kError, kOff };

template <>
struct EnumNames<PayloadMode> {
  static constexpr std::pair<const char*, PayloadMode> kNames[] = {{"moved", PayloadMode::kMoved},
                                                                   {"timing", PayloadMode::kTiming}};
};
template <>
struct EnumNames<PrintMode> {
  static constexpr std::pair<const char*, PrintMode> kNames[] = {{"none", PrintMode::kNone},
                                                                 {"events", PrintMode::kEvents}};
};
template <>
struct EnumNames<LogLevel> {
  static constexpr std::pair<const char*, LogLevel> kNames[] = {
      {"trace", LogLevel::kTrace},     {"debug", LogLevel::kDebug}, {"info", LogLevel::kInfo},
      {"warning", LogLevel::kWarning}, {"error", LogLevel::kError}, {"off", LogLevel::kOff}};
};

struct RunConfig {
  std::string name;
  std::uint64_t seed = 1;
  Time timeLimit = kForever;
  PayloadMode payload = PayloadMode::kMoved;
  bool strictNotify = false;
  PrintMode print = PrintMode::kNone;
  LogLevel log = LogLevel::kWarning;
  bool progress = true;

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    key("name", self.name, "Title of the run, shown with its results");
    key("seed", self.seed, range(std::uint64_t{0}, std::uint64_t{INT64_MAX}),
        "Start of every random number; the same seed gives byte-identical results");
    key("time_limit", self.timeLimit, range(picoseconds(1), kForever), "Simulated time at which the run ends anyway");
    key("payload", self.payload, "moved: message bytes are copied from host to host; timing: only their time passes");
    key("strict_notify", self.strictNotify,
        "Give every adapter the arm rule ib_spec, so that a wake-up which the specification doesn't promise is lost");
    key("print", self.print, "events: tell what happens to completion queues and interrupts, as it happens");
    key("log", self.log, "Least severity of log lines");
    key("progress", self.progress, "Show a progress bar if standard error is a terminal");
  }
};

}  // namespace hca::config
