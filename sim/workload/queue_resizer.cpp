#include "sim/workload/queue_resizer.h"

namespace hca::sim {

void QueueResizer::run(const Done& done) {
  const driver::CqHandle queue = queues_[next_++];
  client_.resizeCq(queue, static_cast<std::int32_t>(depth_), [this, done](const driver::CqResized& resized) {
    if (resized.error != driver::VerbsError::kNone || next_ == queues_.size()) return done(resized.error);
    run(done);
  });
}

}  // namespace hca::sim
