#include "sim/vfio/function_tree.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "models/pcie/pci_function.h"
#include "sim/vfio/function_simulation.h"

namespace hca::vfio {
namespace {

namespace fs = std::filesystem;

std::string hexadecimal(std::uint64_t value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

void writeText(const fs::path& path, const std::string& text) { std::ofstream(path) << text << '\n'; }

// A line for each base address register and one for the expansion ROM: first byte, last byte, flags. The function lies
// nowhere in this machine's memory.
std::string resources(const pcie::PciFunction& function) {
  constexpr std::uint64_t kMemory = 0x200, kPrefetchable = 0x2000, kWide = 0x100000;  // Linux include/linux/ioport.h
  std::string text;
  constexpr unsigned kBars = 6;
  for (unsigned bar = 0; bar <= kBars; ++bar) {
    const std::uint64_t size = bar < kBars ? function.barSize(bar) : 0;
    const std::uint64_t flags = size == 0 ? 0 : kMemory | kPrefetchable | kWide;
    text += hexadecimal(0, 16) + ' ' + hexadecimal(size == 0 ? 0 : size - 1, 16) + ' ' + hexadecimal(flags, 16) + '\n';
  }
  return text;
}

void writeConfig(const fs::path& path, pcie::PciFunction& function) {
  std::ofstream out(path, std::ios::binary);
  constexpr std::uint32_t kSize = 4096;
  for (std::uint32_t at = 0; at < kSize; ++at) out.put(static_cast<char>(function.configRead(at, 1)));
}

void writeFunction(const fs::path& root, pcie::PciFunction& function, AdapterIndex adapter) {
  const std::string address = functionAddress(adapter);
  const std::string group = std::to_string(adapter.value());
  const fs::path own = root / "sys/bus/pci/devices" / address;
  fs::create_directories(own);
  const auto word = [&](std::uint32_t offset) { return hexadecimal(function.configRead(offset, 2), 4); };
  writeText(own / "vendor", word(0x00));
  writeText(own / "device", word(0x02));
  writeText(own / "subsystem_vendor", word(0x2C));
  writeText(own / "subsystem_device", word(0x2E));
  writeText(own / "revision", hexadecimal(function.configRead(0x08, 1), 2));
  writeText(own / "class", hexadecimal(function.configRead(0x08, 4) >> 8, 6));
  writeText(own / "irq", "0");
  writeText(own / "numa_node", "-1");
  writeText(own / "enable", "0");
  std::ofstream(own / "resource") << resources(function);
  writeConfig(own / "config", function);
  const fs::path groups = root / "sys/kernel/iommu_groups" / group / "devices";
  fs::create_directories(groups);
  fs::create_directory_symlink("../../../../kernel/iommu_groups/" + group, own / "iommu_group");
  fs::create_directory_symlink("../../../../bus/pci/devices/" + address, groups / address);
  writeText(root / "dev/vfio" / group, "");
}

}  // namespace

void writeFunctionTree(const std::string& folder, sim::HostNode& host) {
  const fs::path root(folder);
  fs::create_directories(root / "dev/vfio");
  writeText(root / "dev/vfio/vfio", "");
  for (std::uint32_t number = 0; number < host.adapters(); ++number) {
    writeFunction(root, host.adapter(number).environment().function, AdapterIndex(number));
  }
}

}  // namespace hca::vfio
