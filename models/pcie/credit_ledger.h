// Flow-control credits of one class of TLP in one direction.
#pragma once

#include <cstdint>

#include "models/base/units.h"
#include "models/kernel/ring_queue.h"

namespace hca::pcie {

/// Header and data credits; either may be infinite. Returned credits are booked with the time at which the sender may
/// use them and are counted when somebody asks: no event is needed for them. SystemC-free.
///
/// A burst that needs more than the receiver ever has takes all it has: it goes when nothing else is under way.
class CreditLedger {
 public:
  struct Credits {
    std::int64_t headers = 0;
    std::int64_t data = 0;
  };

  /// 0: infinite.
  explicit CreditLedger(Credits limits) : limits_(limits), available_(limits) {}

  [[nodiscard]] bool infinite() const { return limits_.headers == 0 && limits_.data == 0; }
  /// Takes what a burst needs out of what is there at `when`; false if that isn't enough.
  bool take(Credits need, Time when);
  /// The receiver gives back what a burst took, usable from `when` on. Returns come in order: a time before the one of
  /// an earlier return counts as that one.
  void giveBack(Credits credits, Time when);
  /// When `need` will be there as far as returns are booked; kForever if more returns are needed.
  [[nodiscard]] Time availableAt(Credits need) const;
  /// What is there, without later returns. Infinite credits count as 0.
  [[nodiscard]] Credits available() const { return available_; }

 private:
  struct Return {
    Credits credits;
    Time when;
  };
  [[nodiscard]] Credits limited(Credits need) const;

  Credits limits_;
  Credits available_;
  kernel::RingQueue<Return> returns_;
  Time lastReturn_{};
};

}  // namespace hca::pcie
