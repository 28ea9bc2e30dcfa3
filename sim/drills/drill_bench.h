// Performs drills on a simulated system.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/config.h"
#include "sim/report/result.h"
#include "sim/system/system.h"

namespace hca::sim {

/// Performs the drills of a configuration, and further ones when it is told to, each at its simulated time, and writes
/// down what they did. Works on the adapters from outside, so that it is the same to it who drives them: the driver
/// role for flows or programs, or a guest's kernel.
class DrillBench final : private kernel::CalendarClient {
 public:
  using Number = std::size_t;

  /// Before the system is brought up: a drill may concern that, too. `system` outlives the bench.
  DrillBench(System& system, const config::Config& config);
  DrillBench(const DrillBench&) = delete;
  DrillBench& operator=(const DrillBench&) = delete;

  /// Another one, at `when` (not in the past) or at its own time if that is later. It was checked against the
  /// configuration.
  Number perform(const config::NamedDrill& drill, Time when);
  /// Whether its time has come: it did something, or waits for what it concerns.
  [[nodiscard]] bool hasBegun(Number number) const { return drills_[number].begun; }
  /// Whether any that was asked for by `perform` has not begun.
  [[nodiscard]] bool isAsked() const { return asked_ != 0; }

  [[nodiscard]] const report::DrillResult& result(Number number) const { return drills_[number].result; }
  [[nodiscard]] std::vector<report::DrillResult> results() const;

  /// Called when a drill did something for the first time, or turned out to do nothing.
  void setListener(std::function<void(const report::DrillResult&)> listener) { listener_ = std::move(listener); }
  /// A line of the log of a host's kernel: it belongs to the last drill that did something there. The driver role's
  /// lines come here by themselves.
  void onKernelLine(HostIndex host, const std::string& line);

 private:
  struct Drill {
    DrillConfig config;
    report::DrillResult result;
    bool begun = false;
    bool wasAsked = false;
    std::uint32_t stepsLeft = 0;  // of what takes time: of a flapping link each change
  };
  void onCalendar(std::uint64_t token) override;
  Number add(const config::NamedDrill& named, Time when);
  void begin(Number number);
  void breakCommands(Number number);
  void loseInterrupts(Number number);
  void sendInterrupts(Number number);
  void overflow(Number number);
  void breakCompletionQueue(Number number);
  void step(Number number);
  void setState(Number number, bool isBroken);
  void restart(Number number);
  void reportHealth(Number number);
  [[nodiscard]] std::optional<InterruptVector> vectorOf(Number number);
  void happened(Number number, const std::string& effect);
  void failed(Number number, const std::string& why);
  [[nodiscard]] AdapterNode& node(Number number);
  [[nodiscard]] kernel::Calendar& calendar() { return system_.calendar(); }

  System& system_;
  std::deque<Drill> drills_;
  std::vector<Number> lastOfHost_;  // that did something; kNone
  std::size_t asked_ = 0;
  std::function<void(const report::DrillResult&)> listener_;
};

}  // namespace hca::sim
