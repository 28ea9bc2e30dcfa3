// A device that reads and writes host memory on its own account.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/host/bus_address_space.h"
#include "models/host/memory_timing.h"
#include "models/kernel/calendar.h"
#include "models/kernel/timer.h"
#include "models/pcie/dma_port.h"
#include "sim/driver/dma_memory.h"
#include "sim/report/latency_histogram.h"
#include "sim/report/result.h"
#include "sim/workload/dma_config.h"

namespace hca::sim {

/// Runs one [dma.NAME] section: keeps the configured number of accesses to a buffer of its own under way. The latency
/// of a read is from its issue to its data in the device; of a write, until every later read sees it (which a device
/// can't know); of a write and the read behind it, from the write's issue to the data. The bytes are not moved.
class DmaStream final : private pcie::DmaClient {
 public:
  struct Surroundings {
    kernel::Calendar& calendar;
    pcie::DmaPort& port;
    host::BusAddressSpace& space;
    host::MemoryTiming* timing = nullptr;  ///< nullptr: nothing is delayed, a buffer has no state
  };
  /// `seed`: of random places.
  DmaStream(std::string name, const DmaConfig& config, const Surroundings& surroundings, std::uint64_t seed);

  /// Prepares the buffer and begins at the present time. `finished` runs once.
  void start(std::function<void()> finished);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const DmaConfig& config() const { return config_; }
  [[nodiscard]] bool finished() const { return done_ == total(); }
  /// Share of the accesses that are done, 0..1.
  [[nodiscard]] double done() const { return static_cast<double>(done_) / static_cast<double>(total()); }
  [[nodiscard]] report::DmaResult result() const;

 private:
  void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) override;
  void onDmaWritten(std::uint64_t token, host::DmaStatus status) override;

  [[nodiscard]] std::uint64_t total() const { return std::uint64_t{config_.warmup} + config_.iters; }
  void issueMore();
  void issue(std::uint32_t slot);
  [[nodiscard]] BusAddress nextAddress();
  void write(BusAddress address, std::uint32_t slot, bool notify);
  void read(BusAddress address, std::uint32_t slot);
  void onDone(std::uint64_t slot, host::DmaStatus status);

  struct Access {
    Time start{};
    std::uint64_t number = 0;
  };

  std::string name_;
  DmaConfig config_;
  Surroundings surroundings_;
  std::uint64_t seed_;
  std::uint64_t places_;
  std::uint64_t stride_;
  driver::DmaMemory memory_;
  BusAddress buffer_;
  kernel::Timer<DmaStream> issueTimer_;
  std::vector<Access> accesses_;  // by slot
  std::vector<std::uint32_t> freeSlots_;
  std::uint64_t issued_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t errors_ = 0;
  Time nextIssue_{};
  Time begin_{}, end_{};  // of the measurement
  report::LatencyHistogram latency_;
  std::function<void()> onFinished_;
};

}  // namespace hca::sim
