#include "models/adapter/memory/device_memory_port.h"

namespace hca::adapter {

DeviceMemoryPort::DeviceMemoryPort(const AdapterContext& context, const MemoryConfig& config, DeviceMemory& memory)
    : context_(context),
      config_(config),
      memory_(memory),
      underWay_(context.calendar, kernel::Priority::kAdapter, *this, &DeviceMemoryPort::finish) {}

// When the last byte of an access is there.
Time DeviceMemoryPort::take(std::uint32_t length) {
  const std::int64_t width = config_.deviceMemoryWidth.count();
  freeAt_ = later(freeAt_, context_.now()) + context_.clock.span(Cycles((length + width - 1) / width));
  bytes_ += length;
  return freeAt_ + context_.clock.span(config_.deviceMemoryLatency);
}

void DeviceMemoryPort::read(const pcie::DmaRead& request) {
  if (!DeviceMemory::isInside(request.address)) return context_.dma.read(request);
  Access access;
  access.client = request.client;
  access.token = request.token;
  access.place = DeviceMemory::placeOf(request.address);
  access.length = request.length;
  access.generation = generation_;
  access.isRead = true;
  access.timingOnly = request.timingOnly;
  underWay_.send(take(request.length) + request.deliverAfter, access);
}

void DeviceMemoryPort::write(const pcie::DmaWrite& request) {
  if (!DeviceMemory::isInside(request.address)) return context_.dma.write(request);
  Access access;
  access.client = request.client;
  access.token = request.token;
  access.place = DeviceMemory::placeOf(request.address);
  access.generation = generation_;
  const bool isThere = memory_.view(access.place, request.length).size() == request.length;
  access.status = isThere ? host::DmaStatus::kOk : host::DmaStatus::kUnmapped;
  if (isThere && !request.data.empty()) memory_.write(access.place, request.data);
  const Time done = take(request.length);
  const bool isWanted = isThere ? request.notify : request.client != nullptr;
  if (isWanted) underWay_.send(done, access);
}

void DeviceMemoryPort::finish(Access& access) {
  if (access.generation != generation_) return;
  if (!access.isRead) return access.client->onDmaWritten(access.token, access.status);
  const ByteView bytes = memory_.view(access.place, access.length);
  const bool isThere = bytes.size() == access.length;
  access.client->onDmaRead(access.token, isThere ? host::DmaStatus::kOk : host::DmaStatus::kUnmapped,
                           access.timingOnly ? ByteView() : bytes);
}

}  // namespace hca::adapter
