// A device as a program with a driver of its own sees it, through the VFIO interface alone.
#pragma once

#include <linux/vfio.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace vfio_test {

/// A container with its groups; mapped memory.
class Container {
 public:
  Container();
  ~Container();
  Container(const Container&) = delete;
  Container& operator=(const Container&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// 0 or an errno.
  int setIommu(unsigned long type = VFIO_TYPE1v2_IOMMU) const;
  int map(std::uint64_t bus, void* address, std::uint64_t length,
          std::uint32_t flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE) const;
  /// `length` is what was unmapped afterwards.
  int unmap(std::uint64_t bus, std::uint64_t& length, std::uint32_t flags = 0) const;

 private:
  int descriptor_;
};

/// A group with one device in it.
class Device {
 public:
  /// Opens group `number`; `problem()` says whether that worked, as behind each of the next steps.
  explicit Device(unsigned number);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] int problem() const { return problem_; }
  [[nodiscard]] int group() const { return group_; }
  [[nodiscard]] int descriptor() const { return device_; }
  void attach(const Container& container);
  void open();
  /// All of that, in a container of its own kind of IOMMU.
  void openIn(const Container& container);
  void close();

  /// Bytes moved, or the negative of an errno.
  long read(std::uint64_t offset, void* bytes, std::size_t length) const;
  long write(std::uint64_t offset, const void* bytes, std::size_t length) const;
  [[nodiscard]] std::uint64_t region(unsigned index) const;

  [[nodiscard]] std::uint32_t readRegister(std::uint64_t offset) const;  // of BAR0, big-endian
  void writeRegister(std::uint64_t offset, std::uint32_t value) const;
  [[nodiscard]] std::uint16_t readConfig16(std::uint32_t offset) const;
  void writeConfig16(std::uint32_t offset, std::uint16_t value) const;

  int reset() const;
  int setVectors(unsigned first, const std::vector<int>& descriptors) const;
  int disableVectors() const;

 private:
  unsigned number_;
  int group_ = -1;
  int device_ = -1;
  int problem_ = 0;
};

}  // namespace vfio_test
