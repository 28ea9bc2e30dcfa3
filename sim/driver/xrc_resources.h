// What the kernel driver itself needs for XRC queue pairs.
#pragma once

#include <functional>
#include <vector>

#include "models/adapter/memory/number_table.h"
#include "sim/driver/doorbell_records.h"
#include "sim/driver/driver_role.h"
#include "sim/driver/own_completion_queue.h"
#include "sim/driver/sequence.h"

namespace hca::driver {

/// Every queue pair's context names two completion queues, a protection domain and, with XRC, a domain and a shared
/// queue, also where the queue pair has no use for them. The stock driver has some of its own to fill these fields
/// (Linux drivers/infiniband/hw/mlx5/main.c, mlx5_ib_dev_res_init) and makes them when the first queue pair asks.
class XrcResources final : private DriverClient {
 public:
  struct Numbers {
    PdNumber pd;                     ///< p0
    adapter::XrcdNumber targets;     ///< x0: of the shared queue that is not used
    adapter::XrcdNumber initiators;  ///< x1
    CqNumber cq;                     ///< c0
    SrqNumber srq;                   ///< s0
  };

  /// Calls of `driver` are made from the first `prepare` on.
  XrcResources(DriverRole& driver, DmaMemory& memory) : driver_(driver), memory_(memory), records_(memory) {}

  /// Runs `next` when `numbers()` holds, or with the first command that failed.
  void prepare(UarIndex uar, const Sequence::Next& next);
  [[nodiscard]] const Numbers& numbers() const { return numbers_; }
  /// Who owns it: no owner before the first `prepare`.
  [[nodiscard]] OwnerId owner() const { return owner_; }
  /// Gives everything back, when no queue pair uses it any more.
  void release(const std::function<void()>& done);

 private:
  void onCompletionEvent(CqNumber, host::Core&) override {}
  void onAsyncEvent(std::uint8_t, std::uint8_t, std::uint32_t, std::uint8_t) override {}
  [[nodiscard]] adapter::SrqAttributes srqAttributes();

  DriverRole& driver_;
  DmaMemory& memory_;
  DoorbellRecords records_;
  OwnerId owner_;
  bool isReady_ = false;
  bool isUnderWay_ = false;
  std::vector<Sequence::Next> waiting_;
  OwnCompletionQueue completionQueue_;
  DmaBuffer srqRing_;
  DoorbellRecord srqRecord_;
  Numbers numbers_;
};

}  // namespace hca::driver
