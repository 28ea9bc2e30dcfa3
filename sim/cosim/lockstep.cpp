#include "sim/cosim/lockstep.h"

#include <algorithm>

namespace hca::cosim {

Lockstep::Thread Lockstep::add(Time now) {
  threads_.push_back({State::kRunning, now});
  return static_cast<Thread>(threads_.size() - 1);
}

Time Lockstep::horizon() const { return earlier(horizon(State::kRunning), horizon(State::kUntil)); }

Time Lockstep::horizon(State only) const {
  Time least = kForever;
  for (const Entry& thread : threads_) {
    if (thread.state == only) least = earlier(least, thread.clock);
  }
  return least;
}

Time Lockstep::horizonWithout(Thread thread) const {
  Time least = kForever;
  for (Thread other = 0; other < threads_.size(); ++other) {
    const bool mayAct = threads_[other].state == State::kRunning || threads_[other].state == State::kUntil;
    if (mayAct && other != thread) least = earlier(least, threads_[other].clock);
  }
  return least;
}

bool Lockstep::any(State state) const {
  return std::any_of(threads_.begin(), threads_.end(), [state](const Entry& each) { return each.state == state; });
}

}  // namespace hca::cosim
