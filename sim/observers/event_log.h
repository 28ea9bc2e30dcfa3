// Tells what happens to completion queues and interrupts, a line each, as it happens.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "models/observe/probes.h"
#include "sim/observers/arm_race_steps.h"

namespace hca::observers {

/// Listens to the CQ and interrupt probes ([run] print = events).
///
/// Software reports what it does ahead of simulated time, at the time at which it takes effect; lines are held back
/// until simulated time has reached theirs, so that they appear in the order of their times. A line reads
///   `   12.345678 us  step 2  host 1  adapter   CQ 0x81: completion 0 is in memory; not armed: no event`
/// with the step of the arm race (arm_race_steps.h), if the line is one.
class EventLog {
 public:
  struct Settings {
    ArmOrder order = ArmOrder::kNone;
    /// Present simulated time.
    std::function<Time()> now;
    /// Which queues to show; none set: all. With an `order`, these are the ones whose steps are counted.
    std::function<bool(const observe::CqEvent&)> showsQueue;
    /// Which interrupts to show; none set: all.
    std::function<bool(const observe::InterruptEvent&)> showsInterrupt;
  };
  /// `stream` and `probes` must outlive the run.
  EventLog(observe::Probes& probes, std::ostream& stream, Settings settings);
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  /// Writes what is still held back; call when the run is over.
  void finish();

 private:
  using Event = std::variant<observe::CqEvent, observe::InterruptEvent>;
  struct Held {
    Time time;
    std::uint64_t sequence;
    Event event;
  };
  // What is known of a queue, in the order of times.
  struct Queue {
    explicit Queue(ArmOrder order) : steps(order) {}
    std::uint64_t visible = 0;
    std::uint64_t polled = 0;
    std::uint64_t announced = 0;  // entries below this were written when the last event was raised
    bool armed = false;
    ArmRaceSteps steps;
  };
  using Key = std::tuple<HostIndex, AdapterIndex, CqNumber>;

  void hold(Time time, const Event& event);
  void release(Time until);
  void conclude();
  void tell(const observe::CqEvent& event);
  void tell(const observe::InterruptEvent& event);
  struct Place {
    HostIndex host;
    AdapterIndex adapter;
  };
  void line(Time time, int step, Place place, const char* who, const std::string& what);
  [[nodiscard]] static const char* actor(observe::CqAction action);
  [[nodiscard]] static std::string text(const observe::CqEvent& event, const Queue& queue);
  [[nodiscard]] static const char* armStateText(const observe::CqEvent& event, const Queue& queue);
  [[nodiscard]] static std::string hardwareText(const observe::CqEvent& event, const Queue& queue);
  static void follow(Queue& queue, const observe::CqEvent& event);

  std::ostream& stream_;
  Settings settings_;
  std::vector<Held> held_;  // a heap, the earliest at the front
  std::uint64_t sequence_ = 0;
  Time told_;
  std::map<Key, Queue> queues_;
};

}  // namespace hca::observers
