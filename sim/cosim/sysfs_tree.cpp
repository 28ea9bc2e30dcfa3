#include "sim/cosim/sysfs_tree.h"

#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace hca::cosim {
namespace {

namespace fs = std::filesystem;

std::string formatted(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string formatted(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

std::string guidText(std::uint64_t guid) {
  return formatted("%04x:%04x:%04x:%04x", static_cast<unsigned>(guid >> 48 & 0xFFFF),
                   static_cast<unsigned>(guid >> 32 & 0xFFFF), static_cast<unsigned>(guid >> 16 & 0xFFFF),
                   static_cast<unsigned>(guid & 0xFFFF));
}

std::string gidText(const network::Gid& gid) {
  std::string text;
  for (std::size_t i = 0; i < gid.size(); i += 2) {
    text += formatted(i == 0 ? "%02x%02x" : ":%02x%02x", gid[i], gid[i + 1]);
  }
  return text;
}

class Folder {
 public:
  explicit Folder(fs::path path) : path_(std::move(path)) { fs::create_directories(path_); }
  [[nodiscard]] Folder sub(const std::string& name) const { return Folder(path_ / name); }
  void file(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text << '\n'; }

 private:
  fs::path path_;
};

void writePci(const Folder& pci, const DeviceDescription& device) {
  constexpr unsigned kVendor = 0x15B3;
  pci.file("vendor", formatted("0x%04x", kVendor));
  pci.file("device", formatted("0x%04x", device.vendorPart));
  pci.file("subsystem_vendor", formatted("0x%04x", kVendor));
  pci.file("subsystem_device", "0x0008");
  pci.file("modalias", formatted("pci:v%08Xd%08Xsv%08Xsd%08Xbc02sc07i00", kVendor, device.vendorPart, kVendor, 8U));
  pci.file("numa_node", "-1");
  pci.file("local_cpus", "1");
  pci.file("local_cpulist", "0");
}

void writeGids(const Folder& port, const DeviceDescription& device, const PortDescription& described) {
  const Folder gids = port.sub("gids");
  const Folder types = port.sub("gid_attrs").sub("types");
  const Folder netDevices = port.sub("gid_attrs").sub("ndevs");
  for (std::size_t i = 0; i < device.gidRoom(); ++i) {
    const bool isUsed = i < described.gids.size();
    const std::string name = std::to_string(i);
    gids.file(name, isUsed ? gidText(described.gids[i].gid) : gidText({}));
    if (!isUsed) continue;
    types.file(name, described.gids[i].isRoceV2 ? "RoCE v2" : "IB/RoCE v1");
    if (device.isRoce) netDevices.file(name, described.netDevice);
  }
}

void writePort(const Folder& port, const DeviceDescription& device, const PortDescription& described) {
  port.file("state", described.active ? "4: ACTIVE" : "1: DOWN");
  port.file("phys_state", described.active ? "5: LinkUp" : "2: Polling");
  port.file("link_layer", device.isRoce ? "Ethernet" : "InfiniBand");
  port.file("rate", formatted("%u Gb/sec (4X %s)", described.speed.gigabits, described.speed.name));
  port.file("lid", formatted("0x%x", device.isRoce ? 0U : described.identity.lid.value()));
  port.file("lid_mask_count", std::to_string(device.isRoce ? 0 : described.identity.lmc));
  port.file("sm_lid", device.isRoce ? "0x0" : "0x1");
  port.file("sm_sl", "0");
  port.file("cap_mask", device.isRoce ? "0x04010000" : "0x2651e848");
  const Folder partitions = port.sub("pkeys");
  for (std::size_t i = 0; i < device.partitionRoom(); ++i) {
    const bool isUsed = i < described.partitionKeys.size();
    partitions.file(std::to_string(i), formatted("0x%04x", isUsed ? unsigned{described.partitionKeys[i]} : 0U));
  }
  writeGids(port, device, described);
}

}  // namespace

void writePortFiles(const std::string& folder, const DeviceDescription& device, std::uint32_t number) {
  const Folder ports(fs::path(folder) / "sys" / "class" / "infiniband" / device.name / "ports");
  writePort(ports.sub(std::to_string(number)), device, device.port(number));
}

void writeSysfsTree(const std::string& folder, const DeviceDescription& device) {
  const Folder sys = Folder(fs::path(folder)).sub("sys").sub("class");
  const Folder verbs = sys.sub("infiniband_verbs");
  verbs.file("abi_version", "6");
  const std::string nodeName = "uverbs" + std::to_string(device.adapter);
  const Folder node = verbs.sub(nodeName);
  node.file("ibdev", device.name);
  node.file("abi_version", "1");
  node.file("dev", "1:3");  // of /dev/null, which stands in for the device
  writePci(node.sub("device"), device);
  const Folder adapter = sys.sub("infiniband").sub(device.name);
  adapter.file("node_type", "1: CA");
  adapter.file("node_guid", guidText(device.nodeGuid));
  adapter.file("sys_image_guid", guidText(device.nodeGuid));
  adapter.file("fw_ver",
               formatted("%u.%u.%u", static_cast<unsigned>(device.firmwareMajor),
                         static_cast<unsigned>(device.firmwareMinor), static_cast<unsigned>(device.firmwareSub)));
  adapter.file("hca_type", formatted("MT%u", device.vendorPart));
  adapter.file("hw_rev", "0");
  adapter.file("board_id", "HCASIM0000000001");
  adapter.file("node_desc", "hcasim");
  const Folder pci = adapter.sub("device");
  writePci(pci, device);
  pci.sub("infiniband_verbs").sub(nodeName).file("dev", "1:3");
  for (std::size_t port = 1; port <= device.ports.size(); ++port) {
    writePort(adapter.sub("ports").sub(std::to_string(port)), device, device.port(port));
  }
  Folder(fs::path(folder)).sub("dev").sub("infiniband").file(nodeName, "");
}

}  // namespace hca::cosim
