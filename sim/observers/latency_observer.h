// Where the requests of a queue pair spend their time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/observe/probes.h"
#include "sim/observers/object_index.h"
#include "sim/report/result.h"

namespace hca::observers {

/// Listens to the stage probe. For each send queue it keeps, per stage, how long requests took from the stage before
/// (whichever was the latest before it in time) and from the post call.
///
/// A request counts when it left the queue: software polled its completion or that of a later request. A stage that is
/// reported again (a retry) counts when it came first. Receive requests are left out.
class LatencyObserver {
 public:
  /// `probes` must outlive the run.
  explicit LatencyObserver(observe::Probes& probes);
  LatencyObserver(const LatencyObserver&) = delete;
  LatencyObserver& operator=(const LatencyObserver&) = delete;

  /// Forgets the queue pair's requests that were posted before `from` (the warm-up).
  void measureFrom(HostIndex host, AdapterIndex adapter, QpNumber qp, Time from);

  struct QueuePair {
    HostIndex host;
    AdapterIndex adapter;
    QpNumber qp;
  };
  /// Stages of these queue pairs together, in the order of a request's life; only those that a request passed.
  [[nodiscard]] std::vector<report::StageResult> stages(const std::vector<QueuePair>& queuePairs);

 private:
  static constexpr std::size_t kStages = static_cast<std::size_t>(observe::Stage::kPolled) + 1;

  struct Request {
    std::uint64_t index = 0;
    std::uint32_t passed = 0;  // bit n: stage n; 0: the slot is free
    std::array<Time, kStages> at{};
  };
  struct Sums {
    std::uint64_t samples = 0;
    Time total, sincePosted;
    Time minimum = kForever;
    Time maximum;
  };
  struct Queue {
    std::vector<Request> slots;  // by index modulo size, a power of two
    std::array<Sums, kStages> sums{};
    std::uint64_t retired = 0;  // requests below this index left the queue
    Time from;
  };

  void onStage(const observe::StageEvent& event);
  static void open(Queue& queue, const observe::StageEvent& event);
  static void grow(Queue& queue);
  static void close(Queue& queue, Request& request);
  static void closeRetired(Queue& queue);

  ObjectIndex index_;
  std::vector<Queue> queues_;
};

/// The stage with the longest mean step; empty without stages.
[[nodiscard]] std::string slowestStage(const std::vector<report::StageResult>& stages);

}  // namespace hca::observers
