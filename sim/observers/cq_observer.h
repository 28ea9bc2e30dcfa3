// What software and hardware did to each completion queue, and whether a wake-up was lost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/observe/probes.h"
#include "sim/observers/object_index.h"
#include "sim/report/result.h"

namespace hca::observers {

/// Listens to the CQ probe.
class CqObserver {
 public:
  /// `probes` must outlive the run.
  explicit CqObserver(observe::Probes& probes);
  CqObserver(const CqObserver&) = delete;
  CqObserver& operator=(const CqObserver&) = delete;

  /// Tells depth and entry size of a queue, for the report. A queue that nobody described shows zeros.
  void describe(HostIndex host, AdapterIndex adapter, CqNumber cq, std::uint32_t cqe, std::uint32_t cqeSize);

  /// Call when the run is over: by its limit, because all is done, or because nothing is pending any more. A queue
  /// whose channel a thread sleeps on, with entries in it that the thread asked for and hasn't polled, and without an
  /// event on its way, has lost a wake-up: a failure `lost_wakeup`, and a HazardEvent on the hazard probe,
  /// of the time since which it sleeps over them.
  [[nodiscard]] std::vector<report::FailureResult> finish();

  [[nodiscard]] std::vector<report::CqResult> results() const;

  /// Entries of a queue that software has taken so far; 0 for an unknown queue.
  [[nodiscard]] std::uint64_t polled(HostIndex host, AdapterIndex adapter, CqNumber cq) const;
  /// Whether a thread sleeps on the queue's channel.
  [[nodiscard]] bool isAsleep(HostIndex host, AdapterIndex adapter, CqNumber cq) const;

 private:
  // Something that was done, and when; `count` 0: never.
  struct Act {
    std::uint64_t count = 0;
    Time time;
    std::uint64_t index = 0;
    bool solicitedOnly = false;
  };
  struct Entry {
    Time visible;
    bool solicited = false;
  };
  struct Queue {
    report::CqResult result;
    std::uint64_t visible = 0;  // entries so far
    std::uint64_t polled = 0;
    std::uint64_t overwritten = 0;                           // entries below this are lost, polled or not
    std::vector<Entry> entries;                              // not yet polled, by number modulo size, a power of two
    Act cqe, armArrived, armIgnored, fired, overrun;         // hardware
    Act armIssued, poll, emptyPoll, delivered, sleep, wake;  // software
    bool asleep = false;
    bool deliveredSinceSleep = false;
  };
  struct Waiting {
    std::uint64_t entries = 0;
    std::uint64_t first = 0;
    Time since;
  };

  void onCq(const observe::CqEvent& event);
  void onHardware(Queue& queue, const observe::CqEvent& event);
  void onSoftware(Queue& queue, const observe::CqEvent& event);
  static void addEntry(Queue& queue, const observe::CqEvent& event);
  static void moveEntries(Queue& queue, const observe::CqEvent& event);
  static void reserve(Queue& queue, std::uint64_t wanted, std::uint64_t first, std::uint64_t end);
  [[nodiscard]] static std::uint64_t oldest(const Queue& queue);
  [[nodiscard]] const Queue* find(HostIndex host, AdapterIndex adapter, CqNumber cq) const;
  [[nodiscard]] Queue& queueOf(HostIndex host, AdapterIndex adapter, CqNumber cq);
  [[nodiscard]] static Waiting waitingEntries(const Queue& queue);
  [[nodiscard]] static bool isWakeUpComing(const Queue& queue);
  [[nodiscard]] static report::FailureResult failureOf(const Queue& queue, const Waiting& waiting);
  [[nodiscard]] static std::string softwareText(const Queue& queue);
  [[nodiscard]] static std::string hardwareText(const Queue& queue);
  [[nodiscard]] static std::string reasonText(const Queue& queue, const Waiting& waiting);

  observe::Probes& probes_;
  ObjectIndex index_;
  std::vector<Queue> queues_;
};

}  // namespace hca::observers
