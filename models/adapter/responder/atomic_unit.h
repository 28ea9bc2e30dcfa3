// Executes atomics on host memory, one at a time for each address.
#pragma once

#include <cstdint>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/kernel/ring_queue.h"

namespace hca::adapter {

/// An atomic on eight bytes of host memory.
struct AtomicOperation {
  bool compareSwap = false;  ///< else fetch-and-add
  BusAddress address;
  std::uint64_t swapOrAdd = 0;
  std::uint64_t compare = 0;
  QpNumber qp;
  std::uint32_t psn = 0;
};

/// Told the outcome of atomics.
class AtomicListener {
 public:
  /// `before` is the value that was there; not `ok`: the memory can't be read.
  virtual void onAtomicDone(const AtomicOperation& operation, bool ok, std::uint64_t before) = 0;

 protected:
  ~AtomicListener() = default;
};

/// Reads, modifies and writes host memory in the order of arrival; operations on the same address wait for each other
/// (an address lock), others overlap. Values are in the host's little-endian order, as a little-endian driver asks for.
class AtomicUnit final : private pcie::DmaClient {
 public:
  explicit AtomicUnit(const AdapterContext& context) : context_(context) {}
  void connect(AtomicListener& listener) { listener_ = &listener; }

  void execute(const AtomicOperation& operation);
  /// Operations that had to wait for an address.
  [[nodiscard]] std::uint64_t conflicts() const { return conflicts_; }

 private:
  void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) override;
  void onDmaWritten(std::uint64_t, host::DmaStatus) override {}
  void start(const AtomicOperation& operation);
  void startWaiting(BusAddress address);
  [[nodiscard]] bool isLocked(BusAddress address) const;

  AdapterContext context_;
  AtomicListener* listener_ = nullptr;
  struct Slot {
    bool busy = false;
    AtomicOperation operation;
  };
  std::vector<Slot> slots_;  // under way; a handful
  kernel::RingQueue<AtomicOperation> waiting_;
  std::uint64_t conflicts_ = 0;
};

}  // namespace hca::adapter
