#include "sim/system/host_node.h"

#include <algorithm>
#include <string>

#include "sim/system/module_group.h"

namespace hca::sim {

namespace {

// A [dma.NAME] buffer elsewhere needs one too.
std::unique_ptr<host::MemoryTiming> memoryTimingOf(const config::Config& config, HostIndex host) {
  const config::HostSections& sections = config.hosts[host.value()];
  const bool hasRemoteBuffer = std::any_of(config.dma.begin(), config.dma.end(), [&](const config::NamedDma& named) {
    return named.dma.host == host.value() && named.dma.node == host::MemoryNode::kRemote;
  });
  if (!hasRemoteBuffer && !host::MemoryTiming::delays(sections.iommu, sections.memory)) return nullptr;
  return std::make_unique<host::MemoryTiming>(sections.iommu, sections.memory);
}

}  // namespace

HostNode::HostNode(const sc_core::sc_module_name& name, const config::Config& config, HostIndex index,
                   const Surroundings& surroundings)
    : sc_core::sc_module(name),
      index_(index),
      interrupts_(surroundings.calendar.calendar(), surroundings.probes, index_,
                  config.hosts[index_.value()].cpu.interruptDelivery),
      cpu_(surroundings.calendar.calendar(), config.hosts[index_.value()].cpu),
      memoryTiming_(memoryTimingOf(config, index_)) {
  const std::uint32_t count = config.hosts[index_.value()].host.adapters;
  if (count == 1) {
    addAdapter(config, surroundings);
    return;
  }
  groups_.push_back(std::make_unique<ModuleGroup>("adapter", [&] {
    for (std::uint32_t number = 0; number < count; ++number) {
      groups_.push_back(
          std::make_unique<ModuleGroup>(std::to_string(number).c_str(), [&] { addAdapter(config, surroundings); }));
    }
  }));
}

void HostNode::addAdapter(const config::Config& config, const Surroundings& surroundings) {
  adapters_.push_back(std::make_unique<AdapterNode>(
      config, index_, AdapterIndex(adapters()),
      AdapterNode::Surroundings{surroundings.calendar, surroundings.probes, surroundings.pool, space_, interrupts_,
                                cpu_, memoryTiming_.get(), surroundings.cabling}));
}

}  // namespace hca::sim
