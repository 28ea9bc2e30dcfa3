// From a BAR0 access to the block whose register it is.
#pragma once

#include <cstdint>
#include <optional>

#include "models/adapter/command/command_processor.h"
#include "models/adapter/completion/cq_engine.h"
#include "models/adapter/event/eq_engine.h"
#include "models/adapter/event/msix_table.h"
#include "models/adapter/memory/device_memory.h"
#include "models/adapter/send_queue/send_queue_engine.h"
#include "models/base/byte_view.h"

namespace hca::adapter {

/// Decodes BAR0 (models/wire/mmio_map.h). Writes to nothing are counted; reads of nothing return zero.
class BarDecoder {
 public:
  struct Blocks {
    CommandProcessor& command;
    MsixTable& vectors;
    CqEngine& completion;
    EqEngine& events;
    SendQueueEngine& sendQueue;
    DeviceMemory& deviceMemory;
  };
  explicit BarDecoder(const Blocks& blocks) : blocks_(blocks) {}

  /// Any width and alignment; bytes in memory order.
  void write(std::uint64_t offset, ByteView bytes);
  void read(std::uint64_t offset, MutableByteView into) const;
  /// That write is on its way: a hint.
  void expectWrite(std::uint64_t offset, ByteView bytes);

  /// Writes that hit no register, or a register with a width it doesn't take.
  [[nodiscard]] std::uint64_t ignoredWrites() const { return ignoredWrites_; }

 private:
  /// A 64-bit doorbell that a 32-bit processor writes as two halves, the first of them waiting for the second.
  struct HalfWritten {
    std::uint64_t offset;
    std::uint32_t high;
  };

  void writeUar(UarIndex uar, std::uint64_t offset, ByteView bytes);
  void writeDoorbell64(UarIndex uar, std::uint64_t offset, ByteView bytes);
  void onDoorbell64(UarIndex uar, std::uint64_t offset, ByteView bytes);

  Blocks blocks_;
  std::optional<HalfWritten> half_;
  std::uint64_t ignoredWrites_ = 0;
};

}  // namespace hca::adapter
