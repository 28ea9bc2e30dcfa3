// How the kernel driver changes memory keys that exist.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "sim/driver/doorbell_records.h"
#include "sim/driver/driver_role.h"
#include "sim/driver/own_completion_queue.h"
#include "sim/driver/sequence.h"

namespace hca::driver {

/// No command changes a key: the stock driver has a queue pair of its own whose work requests do (Linux
/// drivers/infiniband/hw/mlx5/umr.c). It is made when the first key is to be changed, and again after an error.
class KeyUpdater final : private DriverClient {
 public:
  struct Update {
    MemoryKey key;
    std::uint64_t mask = 0;  ///< wire::key_mask: which of the attributes change
    adapter::MkeyAttributes attributes;
    Done<int> done;
  };

  /// Calls of `driver` are made from the first `update` on.
  KeyUpdater(DriverRole& driver, DmaMemory& memory) : driver_(driver), memory_(memory), records_(memory) {}

  /// One after the other. An update that the adapter refuses answers kBadParameter.
  void update(UarIndex uar, Update update);
  /// Who owns the queue pair: no owner before the first update.
  [[nodiscard]] OwnerId owner() const { return owner_; }
  /// Gives everything back; no update is under way.
  void release(const std::function<void()>& done);

 private:
  void onCompletionEvent(CqNumber cq, host::Core& core) override;
  void onAsyncEvent(std::uint8_t, std::uint8_t, std::uint32_t, std::uint8_t) override {}
  void prepare(const Sequence::Next& next);
  void runFirst();
  void post();
  std::uint32_t writeRequest(const Update& update);
  void arm();
  void finish(adapter::CommandResult result);
  [[nodiscard]] adapter::QpAttributes qpAttributes();

  DriverRole& driver_;
  DmaMemory& memory_;
  DoorbellRecords records_;
  OwnerId owner_;
  UarIndex uar_;
  bool isReady_ = false;
  std::deque<Update> waiting_;  // the first is under way
  PdNumber pd_;
  MemoryKey hostMemory_;  // all of it, by bus addresses
  CqNumber cq_;
  QpNumber qp_;
  OwnCompletionQueue completionQueue_;
  DmaBuffer qpRing_, list_;
  DoorbellRecord qpRecord_;
  std::uint32_t nextBlock_ = 0;      // free running
  std::uint32_t consumerIndex_ = 0;  // likewise
  std::uint32_t events_ = 0;
};

}  // namespace hca::driver
