// What the VFIO interface promises to programs, a case each: `vfio_user NAME`. Exit 0 or 1.
#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/vfio/programs/command_queue.h"
#include "tests/vfio/programs/vfio_cases.h"
#include "tests/vfio/programs/vfio_device.h"

namespace {

using namespace vfio_test;

void* freshPages(std::size_t count) {
  return ::mmap(nullptr, count * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

// ---- The interface itself

void containers() {
  const Container container;
  EXPECT(::ioctl(container.descriptor(), VFIO_GET_API_VERSION) == VFIO_API_VERSION);
  EXPECT(::ioctl(container.descriptor(), VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) == 1);
  EXPECT(::ioctl(container.descriptor(), VFIO_CHECK_EXTENSION, VFIO_SPAPR_TCE_IOMMU) == 0);
  EXPECT(container.setIommu() == EINVAL);  // no group
  Device device(0);
  EXPECT(device.problem() == 0);
  EXPECT(Device(0).problem() == EBUSY);
  EXPECT(Device(9).problem() == ENODEV || Device(9).problem() == ENOENT);
  vfio_group_status status{};
  EXPECT(::ioctl(device.group(), VFIO_GROUP_GET_STATUS, &status) < 0 && errno == EINVAL);
  status.argsz = sizeof status;
  EXPECT(::ioctl(device.group(), VFIO_GROUP_GET_STATUS, &status) == 0 && status.flags == VFIO_GROUP_FLAGS_VIABLE);
  EXPECT(::ioctl(device.group(), VFIO_GROUP_GET_DEVICE_FD, "0000:aa:00.0") < 0 && errno == EINVAL);
  device.attach(container);
  EXPECT(::ioctl(device.group(), VFIO_GROUP_GET_STATUS, &status) == 0 &&
         (status.flags & VFIO_GROUP_FLAGS_CONTAINER_SET) != 0);
  EXPECT(container.setIommu(VFIO_SPAPR_TCE_IOMMU) == ENODEV);
  EXPECT(container.setIommu() == 0);
  EXPECT(container.setIommu() == EINVAL);
  EXPECT(::ioctl(device.group(), VFIO_GROUP_GET_DEVICE_FD, "0000:aa:01.0") < 0 && errno == ENODEV);
  device.open();
  EXPECT(device.problem() == 0);
  EXPECT(::ioctl(device.group(), VFIO_GROUP_UNSET_CONTAINER) < 0 && errno == EBUSY);
  device.close();
  EXPECT(::ioctl(device.group(), VFIO_GROUP_UNSET_CONTAINER) == 0);
  EXPECT(container.map(0x100000, freshPages(1), kPage) == EINVAL);  // its IOMMU is gone with its last group
}

void iommuInfo() {
  const Container container;
  Device device(0);
  device.openIn(container);
  vfio_iommu_type1_info info{};
  info.argsz = 4;
  EXPECT(::ioctl(container.descriptor(), VFIO_IOMMU_GET_INFO, &info) < 0 && errno == EINVAL);
  info.argsz = sizeof info;
  EXPECT(::ioctl(container.descriptor(), VFIO_IOMMU_GET_INFO, &info) == 0);
  EXPECT(info.argsz > sizeof info && (info.flags & VFIO_IOMMU_INFO_CAPS) != 0 && info.cap_offset == 0);
  EXPECT((info.iova_pgsizes & kPage) != 0);
  std::vector<char> room(info.argsz);
  std::memcpy(room.data(), &info, sizeof info);
  EXPECT(::ioctl(container.descriptor(), VFIO_IOMMU_GET_INFO, room.data()) == 0);
  std::memcpy(&info, room.data(), sizeof info);
  EXPECT(info.cap_offset != 0);
  bool hasRange = false;
  for (std::uint32_t at = info.cap_offset; at != 0;) {
    vfio_info_cap_header header;
    std::memcpy(&header, room.data() + at, sizeof header);
    hasRange = hasRange || header.id == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE;
    at = header.next;
  }
  EXPECT(hasRange);
}

void mappings() {
  const Container container;
  Device device(0);
  device.openIn(container);
  auto* pages = static_cast<char*>(freshPages(16));
  EXPECT(container.map(0x100000, pages, 4 * kPage) == 0);
  EXPECT(container.map(0x103000, pages, kPage) == EEXIST);
  EXPECT(container.map(0x104000, pages, kPage) == 0);  // right behind; the same memory again
  EXPECT(container.map(0x200000, pages, kPage, 0) == EINVAL);
  EXPECT(container.map(0x200001, pages, kPage) == EINVAL);
  EXPECT(container.map(0x200000, pages + 1, kPage) == EINVAL);
  EXPECT(container.map(0x200000, pages, 100) == EINVAL);
  EXPECT(container.map(0x200000, pages, 0) == EINVAL);
  EXPECT(container.map(0xFEE00000, pages, kPage) == EINVAL);
  EXPECT(container.map(std::uint64_t{1} << 48, pages, kPage) == EINVAL);
  EXPECT(container.map(~std::uint64_t{0} - kPage + 1, pages, 2 * kPage) == EINVAL);
  ::munmap(pages + 15 * kPage, kPage);
  EXPECT(container.map(0x300000, pages, 16 * kPage) == EFAULT);
  std::uint64_t length = 2 * kPage;
  EXPECT(container.unmap(0x100000, length) == EINVAL && length == 0);  // would leave a part
  length = kPage;
  EXPECT(container.unmap(0x500000, length) == 0 && length == 0);
  length = 8 * kPage;
  EXPECT(container.unmap(0x100000, length) == 0 && length == 5 * kPage);
  EXPECT(container.map(0x100000, pages, kPage) == 0);
  length = 0;
  EXPECT(container.unmap(0, length, VFIO_DMA_UNMAP_FLAG_ALL) == 0 && length == kPage);
}

void regions() {
  const Container container;
  Device device(0);
  device.openIn(container);
  vfio_device_info info{};
  info.argsz = sizeof info;
  EXPECT(::ioctl(device.descriptor(), VFIO_DEVICE_GET_INFO, &info) == 0);
  EXPECT(info.num_regions == VFIO_PCI_NUM_REGIONS && info.num_irqs == VFIO_PCI_NUM_IRQS);
  EXPECT(info.flags == (VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET));
  vfio_region_info region{};
  region.argsz = sizeof region;
  EXPECT(::ioctl(device.descriptor(), VFIO_DEVICE_GET_REGION_INFO, &region) == 0 && region.size == 32U << 20);
  region.index = VFIO_PCI_NUM_REGIONS;
  EXPECT(::ioctl(device.descriptor(), VFIO_DEVICE_GET_REGION_INFO, &region) < 0 && errno == EINVAL);
  std::uint32_t word = 0;
  EXPECT(device.read(device.region(0) + (32U << 20), &word, 4) == -EINVAL);
  EXPECT(device.read(device.region(1), &word, 4) == -EINVAL);
  EXPECT(device.read(device.region(VFIO_PCI_VGA_REGION_INDEX), &word, 4) == -EINVAL);
  // These two share their number with what containers are asked.
  vfio_pci_hot_reset_info hot{};
  hot.argsz = sizeof hot;
  EXPECT(::ioctl(device.descriptor(), VFIO_DEVICE_GET_PCI_HOT_RESET_INFO, &hot) < 0 && errno == ENODEV);
  EXPECT(::ioctl(device.descriptor(), VFIO_DEVICE_GET_INFO, nullptr) < 0 && errno == EFAULT);
  vfio_irq_info interrupt{};
  interrupt.argsz = sizeof interrupt;
  interrupt.index = VFIO_PCI_MSIX_IRQ_INDEX;
  EXPECT(::ioctl(device.descriptor(), VFIO_DEVICE_GET_IRQ_INFO, &interrupt) == 0 && interrupt.count >= 2);
  EXPECT(interrupt.flags == (VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE));
  interrupt.index = VFIO_PCI_INTX_IRQ_INDEX;
  EXPECT(::ioctl(device.descriptor(), VFIO_DEVICE_GET_IRQ_INFO, &interrupt) == 0 && interrupt.count == 0);
  interrupt.index = VFIO_PCI_NUM_IRQS;
  EXPECT(::ioctl(device.descriptor(), VFIO_DEVICE_GET_IRQ_INFO, &interrupt) < 0 && errno == EINVAL);
}

void configuration() {
  const Container container;
  Device device(0);
  device.openIn(container);
  EXPECT(device.readConfig16(0) == 0x15B3);
  const std::uint64_t config = device.region(VFIO_PCI_CONFIG_REGION_INDEX);
  std::vector<std::uint8_t> whole(4096);
  EXPECT(device.read(config, whole.data(), whole.size()) == 4096);
  EXPECT(device.read(config + 4096, whole.data(), 1) == -EINVAL);
  EXPECT(device.read(config + 4095, whole.data(), 1) == 1);
  // Base addresses are sized as ever.
  const std::uint32_t ones = ~0U;
  std::uint32_t bar = 0;
  device.write(config + 0x10, &ones, 4);
  device.read(config + 0x10, &bar, 4);
  EXPECT(bar == 0xFE00000C);
  // Registers answer as long as they are enabled.
  constexpr std::uint16_t kMemory = 2;
  device.writeConfig16(4, kMemory);
  EXPECT(device.readRegister(0) != ~0U);
  device.writeConfig16(4, 0);
  std::uint32_t word = 0;
  EXPECT(device.read(device.region(0), &word, 4) == -EIO);
  EXPECT(device.write(device.region(0), &word, 4) == -EIO);
}

// ---- What the adapter does

void commands() {
  const Container container;
  Device device(0);
  device.openIn(container);
  CommandQueue queue(container, device);
  EXPECT(queue.run({kNop}) == 0);
  EXPECT(queue.bringUp() == 0);
  EXPECT(queue.run({kQueryIssi}) == 0);
  EXPECT(queue.run({0xFFF0000}) != 0);
  // Memory that the program took back can't be reached.
  std::uint64_t length = CommandQueue::kSize;
  EXPECT(container.unmap(CommandQueue::kBus, length) == 0);
  queue.post({kNop});
  EXPECT(queue.wait() == -1);
}

// A program that has the device and is killed while the adapter works for it; `report`: where it says so.
[[noreturn]] void workForEver(int report) {
  const Container container;
  Device device(0);
  device.openIn(container);
  CommandQueue queue(container, device);
  (void)queue.bringUp();
  // A child of it lives on.
  if (::fork() == 0) {
    ::alarm(3);
    ::pause();
  }
  (void)!::write(report, "r", 1);
  for (;;) {
    if (queue.run({kQueryIssi}) != 0) ::_exit(1);
  }
}

void killed(const char* self) {
  int ends[2];
  EXPECT(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(self, self, "work", std::to_string(ends[1]).c_str(), nullptr);
    ::_exit(127);
  }
  char word = 0;
  EXPECT(::read(ends[0], &word, 1) == 1);
  {
    const Container container;
    Device device(0);
    device.openIn(container);
    EXPECT(device.problem() == EBUSY);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  int problem = EBUSY;
  for (int i = 0; i < 100 && problem == EBUSY; ++i) {
    ::usleep(10'000);
    const Container container;
    Device device(0);
    device.openIn(container);
    problem = device.problem();
    if (problem != 0) continue;
    CommandQueue queue(container, device);
    EXPECT(queue.bringUp() == 0);
  }
  EXPECT(problem == 0);
}

// Functions in two containers: the same bus address means something else for each.
void domains() {
  const Container left, right;
  Device first(0), second(1);
  first.openIn(left);
  second.openIn(right);
  EXPECT(first.problem() == 0 && second.problem() == 0);
  CommandQueue one(left, first), other(right, second);
  EXPECT(one.bringUp() == 0);
  EXPECT(other.bringUp() == 0);
  EXPECT(one.run({kNop}) == 0 && other.run({kNop}) == 0);
}

void shared() {
  const Container container;
  Device first(0), second(1);
  first.openIn(container);
  second.attach(container);
  second.open();
  EXPECT(first.problem() == 0 && second.problem() == 0);
  CommandQueue queue(container, first);
  EXPECT(queue.bringUp() == 0);
  first.close();
  second.writeConfig16(4, 6);
  EXPECT(second.readRegister(0) != ~0U);
}

void mapped() {
  const Container container;
  Device device(0);
  device.openIn(container);
  const std::uint64_t offset = device.region(0);
  void* address =
      ::mmap(nullptr, 32U << 20, PROT_READ | PROT_WRITE, MAP_SHARED, device.descriptor(), static_cast<off_t>(offset));
  EXPECT(address != MAP_FAILED);
  if (address == MAP_FAILED) return;
  device.writeConfig16(4, 6);
  const auto* registers = static_cast<volatile std::uint32_t*>(address);
  EXPECT(be32toh(registers[0]) == device.readRegister(0));
  for (int i = 0; i < 100000 && be32toh(registers[0x1FC / 4]) >> 31 != 0; ++i) {
  }
  // The compiler may fold such a read into a comparison.
  const auto* bytes = static_cast<volatile std::uint8_t*>(address);
  const std::uint8_t second = bytes[1];
  unsigned char isEqual = 0, isLess = 0, isNegative = 0;
  asm volatile("cmpb %2, (%1)\n\tsete %0" : "=r"(isEqual) : "r"(bytes + 1), "r"(second) : "cc");
  asm volatile("cmpb (%1), %2\n\tsetb %0" : "=r"(isLess) : "r"(bytes + 1), "r"(static_cast<std::uint8_t>(0)) : "cc");
  asm volatile("testb $0x80, (%1)\n\tsetne %0" : "=r"(isNegative) : "r"(bytes + 0x1FC) : "cc");
  EXPECT(isEqual == 1);
  EXPECT(isLess == (second != 0 ? 1 : 0));
  EXPECT(isNegative == 0);
  EXPECT(::munmap(address, 32U << 20) == 0);
  EXPECT(::mmap(nullptr, 64U << 20, PROT_READ, MAP_SHARED, device.descriptor(), 0) == MAP_FAILED);
}

// A thread for each of two adapters, and a third that asks for nothing but registers.
void threads() {
  const Container left, right;
  Device first(0), second(1);
  first.openIn(left);
  second.openIn(right);
  const auto work = [](const Container& container, const Device& device) {
    CommandQueue queue(container, device);
    EXPECT(queue.bringUp() == 0);
    for (int i = 0; i < 200; ++i) EXPECT(queue.run({kNop}) == 0);
  };
  std::thread one(work, std::cref(left), std::cref(first));
  std::thread other(work, std::cref(right), std::cref(second));
  for (int i = 0; i < 500; ++i) EXPECT(first.readConfig16(0) == 0x15B3);
  one.join();
  other.join();
}

// For people: what an access takes.
void timing() {
  const Container container;
  Device device(0);
  device.openIn(container);
  device.writeConfig16(4, 6);
  constexpr int kTimes = 2000;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kTimes; ++i) (void)device.readRegister(0);
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begin;
  std::printf("a register read takes %.1f us\n", spent.count() / kTimes);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "work") workForEver(std::atoi(argv[2]));
  const std::map<std::string, void (*)()> cases{{"containers", containers},
                                                {"iommu_info", iommuInfo},
                                                {"mappings", mappings},
                                                {"regions", regions},
                                                {"configuration", configuration},
                                                {"commands", commands},
                                                {"interrupts", interrupts},
                                                {"resets", resets},
                                                {"reset_keeps_interrupts", resetKeepsInterrupts},
                                                {"domains", domains},
                                                {"shared", shared},
                                                {"mapped", mapped},
                                                {"threads", threads},
                                                {"timing", timing}};
  if (name == "killed") {
    killed(argv[0]);
  } else if (cases.count(name) != 0) {
    cases.at(name)();
  } else {
    return 2;
  }
  if (failures == 0) std::printf("%s: fine\n", name.c_str());
  return failures == 0 ? 0 : 1;
}
