// Device memory. Linux drivers/infiniband/hw/mlx5/dm.c.
#include <algorithm>
#include <utility>

#include "models/wire/device_memory.h"
#include "sim/driver/kernel_driver.h"

namespace hca::driver {
namespace {

using adapter::CommandResult;
using adapter::CommandStatus;

constexpr std::uint64_t kDeviceMemoryUnit = 64;  // bytes; what sizes and alignments are counted in
constexpr unsigned kLogDeviceMemoryUnit = 6;

}  // namespace

void KernelDriver::allocateDeviceMemory(OwnerId owner, std::uint64_t length, unsigned logAlignment,
                                        Done<std::uint64_t> done) {
  const DeviceMemoryLimits& limits = capabilities().deviceMemory;
  const unsigned aligned = std::max(logAlignment, kLogDeviceMemoryUnit) - kLogDeviceMemoryUnit;
  const bool isPossible = length != 0 && length <= limits.maxAllocation && aligned <= limits.logMaxAlignment;
  if (!isPossible) return done({{CommandStatus::kBadParameter, adapter::Syndrome::kDeviceMemorySizeBad}});
  const auto rounded =
      static_cast<std::uint32_t>((length + kDeviceMemoryUnit - 1) / kDeviceMemoryUnit * kDeviceMemoryUnit);
  allocateOnPages(owner, rounded, aligned, 0, std::move(done));
}

// Where the adapter finds no room on the pages offered, others are tried.
void KernelDriver::allocateOnPages(OwnerId owner, std::uint32_t length, unsigned logAlignment, std::uint32_t from,
                                   Done<std::uint64_t> done) {
  const auto page = deviceMemory_.take(length, from);
  if (!page) return done({{CommandStatus::kExceedLimit, adapter::Syndrome::kDeviceMemoryFull}});
  const std::uint32_t pages = (length + DeviceMemoryPages::kPage - 1) / DeviceMemoryPages::kPage;
  const std::uint64_t place = capabilities().deviceMemory.start + std::uint64_t{*page} * DeviceMemoryPages::kPage;
  execute(allocateDeviceMemoryCommand(place, pages * DeviceMemoryPages::kPage, length, logAlignment),
          wire::AllocDeviceMemoryOutput::kSize,
          [this, owner, length, logAlignment, page = *page, done = std::move(done)](const CommandReply& reply) {
            if (!reply.result.ok()) {
              deviceMemory_.giveBack(page, length);
              if (reply.result.status != CommandStatus::kNoResources) return done({reply.result});
              return allocateOnPages(owner, length, logAlignment, page + 1, done);
            }
            const std::uint64_t start = wire::AllocDeviceMemoryOutput::Start::get(reply.output);
            deviceMemory_.add(page, {start, length});
            owners_.add(owner, ObjectKind::kDeviceMemory, page);
            if (owners_.client(owner) != nullptr) return done({reply.result, start});
            // Released while the command was under way.
            destroy(owner, ObjectKind::kDeviceMemory, page, [](const Answer<int>&) {});
            done({kNotYours});
          });
}

void KernelDriver::freeDeviceMemory(OwnerId owner, std::uint64_t start, Done<int> done) {
  const std::uint64_t page = (start - capabilities().deviceMemory.start) / DeviceMemoryPages::kPage;
  destroy(owner, ObjectKind::kDeviceMemory, static_cast<std::uint32_t>(page), std::move(done));
}

}  // namespace hca::driver
