// Notification hazards, added up.
#pragma once

#include <vector>

#include "models/observe/events.h"
#include "sim/report/result.h"

namespace hca::observers {

/// Whether two records are about the same completion queue.
template <class A, class B>
[[nodiscard]] bool sameQueue(const A& a, const B& b) {
  return a.host == b.host && a.adapter == b.adapter && a.cq == b.cq;
}

/// Per kind and queue.
class HazardCounts {
 public:
  void add(const observe::HazardEvent& event);
  /// In the order in which they first happened.
  [[nodiscard]] const std::vector<report::HazardResult>& results() const { return results_; }

 private:
  std::vector<report::HazardResult> results_;
};

}  // namespace hca::observers
