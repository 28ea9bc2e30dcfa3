// Doorbell records of one program.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/driver/dma_memory.h"

namespace hca::driver {

/// One doorbell record.
struct DoorbellRecord {
  std::uint8_t* bytes = nullptr;  ///< 8 bytes
  BusAddress bus;
};

/// Hands out records, each in a cache line of its own, so that polling one queue doesn't slow another down
/// (rdma-core providers/mlx5/dbrec.c).
class DoorbellRecords {
 public:
  explicit DoorbellRecords(DmaMemory& memory) : memory_(memory) {}
  ~DoorbellRecords() {
    for (const DmaBuffer& page : pages_) memory_.free(page);
  }
  DoorbellRecords(const DoorbellRecords&) = delete;
  DoorbellRecords& operator=(const DoorbellRecords&) = delete;

  /// A zeroed record.
  DoorbellRecord allocate() {
    if (free_.empty()) grow();
    const DoorbellRecord record = free_.back();
    free_.pop_back();
    std::memset(record.bytes, 0, kRecord);
    ++used_;
    return record;
  }
  void free(const DoorbellRecord& record) {
    free_.push_back(record);
    --used_;
  }
  /// Records handed out now.
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  static constexpr std::size_t kRecord = 8;
  static constexpr std::uint64_t kLine = 64;

  void grow() {
    const DmaBuffer page = memory_.allocate(host::BusAddressSpace::kPageSize);
    pages_.push_back(page);
    for (std::uint64_t end = page.length; end != 0; end -= kLine) {
      free_.push_back({page.bytes + end - kLine, advance(page.bus, end - kLine)});
    }
  }

  DmaMemory& memory_;
  std::vector<DmaBuffer> pages_;
  std::vector<DoorbellRecord> free_;
  std::size_t used_ = 0;
};

}  // namespace hca::driver
