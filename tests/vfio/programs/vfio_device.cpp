#include "tests/vfio/programs/vfio_device.h"

#include <endian.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace vfio_test {
namespace {

int errorOf(int result) { return result < 0 ? errno : 0; }

}  // namespace

Container::Container() : descriptor_(::open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC)) {}
Container::~Container() { ::close(descriptor_); }

int Container::setIommu(unsigned long type) const { return errorOf(::ioctl(descriptor_, VFIO_SET_IOMMU, type)); }

int Container::map(std::uint64_t bus, void* address, std::uint64_t length, std::uint32_t flags) const {
  vfio_iommu_type1_dma_map request{};
  request.argsz = sizeof request;
  request.flags = flags;
  request.vaddr = reinterpret_cast<std::uint64_t>(address);
  request.iova = bus;
  request.size = length;
  return errorOf(::ioctl(descriptor_, VFIO_IOMMU_MAP_DMA, &request));
}

int Container::unmap(std::uint64_t bus, std::uint64_t& length, std::uint32_t flags) const {
  vfio_iommu_type1_dma_unmap request{};
  request.argsz = sizeof request;
  request.flags = flags;
  request.iova = bus;
  request.size = length;
  const int error = errorOf(::ioctl(descriptor_, VFIO_IOMMU_UNMAP_DMA, &request));
  length = request.size;
  return error;
}

Device::Device(unsigned number) : number_(number) {
  group_ = ::open(("/dev/vfio/" + std::to_string(number)).c_str(), O_RDWR);
  problem_ = errorOf(group_);
}

Device::~Device() {
  close();
  if (group_ >= 0) ::close(group_);
}

void Device::attach(const Container& container) {
  const int descriptor = container.descriptor();
  if (problem_ == 0) problem_ = errorOf(::ioctl(group_, VFIO_GROUP_SET_CONTAINER, &descriptor));
}

void Device::open() {
  char name[16];
  std::snprintf(name, sizeof name, "0000:aa:%02x.0", number_ & 0x1F);
  if (problem_ != 0) return;
  device_ = ::ioctl(group_, VFIO_GROUP_GET_DEVICE_FD, name);
  problem_ = errorOf(device_);
}

void Device::openIn(const Container& container) {
  attach(container);
  if (problem_ == 0) problem_ = container.setIommu();
  open();
}

void Device::close() {
  if (device_ >= 0) ::close(device_);
  device_ = -1;
}

long Device::read(std::uint64_t offset, void* bytes, std::size_t length) const {
  const ssize_t done = ::pread(device_, bytes, length, static_cast<off_t>(offset));
  return done < 0 ? -errno : done;
}

long Device::write(std::uint64_t offset, const void* bytes, std::size_t length) const {
  const ssize_t done = ::pwrite(device_, bytes, length, static_cast<off_t>(offset));
  return done < 0 ? -errno : done;
}

std::uint64_t Device::region(unsigned index) const {
  vfio_region_info info{};
  info.argsz = sizeof info;
  info.index = index;
  return ::ioctl(device_, VFIO_DEVICE_GET_REGION_INFO, &info) == 0 ? info.offset : 0;
}

std::uint32_t Device::readRegister(std::uint64_t offset) const {
  std::uint32_t value = 0;
  read(region(0) + offset, &value, sizeof value);
  return be32toh(value);
}

void Device::writeRegister(std::uint64_t offset, std::uint32_t value) const {
  const std::uint32_t swapped = htobe32(value);
  write(region(0) + offset, &swapped, sizeof swapped);
}

std::uint16_t Device::readConfig16(std::uint32_t offset) const {
  std::uint16_t value = 0;
  read(region(VFIO_PCI_CONFIG_REGION_INDEX) + offset, &value, sizeof value);
  return value;
}

void Device::writeConfig16(std::uint32_t offset, std::uint16_t value) const {
  write(region(VFIO_PCI_CONFIG_REGION_INDEX) + offset, &value, sizeof value);
}

int Device::reset() const { return errorOf(::ioctl(device_, VFIO_DEVICE_RESET)); }

int Device::setVectors(unsigned first, const std::vector<int>& descriptors) const {
  std::vector<char> room(sizeof(vfio_irq_set) + descriptors.size() * sizeof(int));
  vfio_irq_set set{};
  set.argsz = static_cast<std::uint32_t>(room.size());
  set.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
  set.index = VFIO_PCI_MSIX_IRQ_INDEX;
  set.start = first;
  set.count = static_cast<std::uint32_t>(descriptors.size());
  std::memcpy(room.data(), &set, sizeof set);
  std::memcpy(room.data() + sizeof set, descriptors.data(), descriptors.size() * sizeof(int));
  return errorOf(::ioctl(device_, VFIO_DEVICE_SET_IRQS, room.data()));
}

int Device::disableVectors() const {
  vfio_irq_set set{};
  set.argsz = sizeof set;
  set.flags = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER;
  set.index = VFIO_PCI_MSIX_IRQ_INDEX;
  return errorOf(::ioctl(device_, VFIO_DEVICE_SET_IRQS, &set));
}

}  // namespace vfio_test
