// The way of an adapter's blocks to memory: device memory inside, host memory through PCI Express.
#pragma once

#include "models/adapter/adapter_context.h"
#include "models/adapter/memory/device_memory.h"
#include "models/adapter/memory/memory_config.h"
#include "models/kernel/inbox.h"
#include "models/pcie/dma_port.h"

namespace hca::adapter {

/// Serves what lies in device memory itself, without the link; everything else goes on to the host. One access at a
/// time has the memory's port; a write counts from its call on, as nothing that the adapter tells can overtake it.
class DeviceMemoryPort final : public pcie::DmaPort {
 public:
  /// `context.dma`: the way to the host. All references outlive the port.
  DeviceMemoryPort(const AdapterContext& context, const MemoryConfig& config, DeviceMemory& memory);

  void read(const pcie::DmaRead& request) override;
  void write(const pcie::DmaWrite& request) override;
  void message(BusAddress address, std::uint32_t data) override { context_.dma.message(address, data); }
  [[nodiscard]] Time drainedAt() const override { return context_.dma.drainedAt(); }
  [[nodiscard]] Time drainTime(Bytes size) const override { return context_.dma.drainTime(size); }

  /// No result of what is under way will come.
  void reset() { ++generation_; }

  /// Bytes that the adapter moved from and to device memory.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  struct Access {
    pcie::DmaClient* client = nullptr;
    std::uint64_t token = 0;
    std::uint64_t place = 0;
    std::uint32_t length = 0;
    std::uint32_t generation = 0;
    bool isRead = false;
    bool timingOnly = false;
    host::DmaStatus status = host::DmaStatus::kOk;
  };

  [[nodiscard]] Time take(std::uint32_t length);
  void finish(Access& access);

  AdapterContext context_;
  const MemoryConfig& config_;
  DeviceMemory& memory_;
  kernel::Inbox<DeviceMemoryPort, Access> underWay_;
  Time freeAt_{};
  std::uint32_t generation_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace hca::adapter
