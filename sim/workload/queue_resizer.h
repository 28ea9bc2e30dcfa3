// Resizes a thread's completion queues once, in the middle of its work.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/driver/verbs_client.h"

namespace hca::sim {

/// Completions keep coming while the thread waits for the adapter; it takes none of them meanwhile.
class QueueResizer {
 public:
  using Done = std::function<void(driver::VerbsError)>;

  /// To `depth` entries (0: never), once `after` completions were taken. `client` and `queues` outlive the resizer.
  QueueResizer(driver::VerbsClient& client, const std::vector<driver::CqHandle>& queues, std::uint32_t depth,
               std::uint64_t after)
      : client_(client), queues_(queues), depth_(depth), after_(after) {}

  void count(std::size_t completions) { taken_ += completions; }
  [[nodiscard]] bool due() const { return depth_ != 0 && next_ == 0 && taken_ >= after_; }
  /// Precondition: due(). Resizes one queue after the other; `done` runs with the first error, or at the end.
  void run(const Done& done);

 private:
  driver::VerbsClient& client_;
  const std::vector<driver::CqHandle>& queues_;
  std::uint32_t depth_;
  std::uint64_t after_;
  std::uint64_t taken_ = 0;
  std::size_t next_ = 0;  // queue to resize
};

}  // namespace hca::sim
