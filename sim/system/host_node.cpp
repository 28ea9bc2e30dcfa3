#include "sim/system/host_node.h"

#include <algorithm>

#include "models/wire/mmio_map.h"

namespace hca::sim {

namespace {

pcie::FunctionDescription functionOf(const config::HostSections& sections) {
  pcie::FunctionDescription function;
  function.deviceId = static_cast<std::uint16_t>(sections.adapter.device.deviceId);
  function.barSize = wire::kBar0Size;
  function.msixVectors = static_cast<std::uint32_t>(sections.adapter.event.vectors);
  function.msixTableOffset = wire::kMsixTableOffset;
  function.msixPendingOffset = wire::kMsixPendingOffset;
  return function;
}

// A [dma.NAME] buffer elsewhere needs one too.
std::unique_ptr<host::MemoryTiming> memoryTimingOf(const config::Config& config, HostIndex host) {
  const config::HostSections& sections = config.hosts[host.value()];
  const bool hasRemoteBuffer = std::any_of(config.dma.begin(), config.dma.end(), [&](const config::NamedDma& named) {
    return named.dma.host == host.value() && named.dma.node == host::MemoryNode::kRemote;
  });
  if (!hasRemoteBuffer && !host::MemoryTiming::delays(sections.iommu, sections.memory)) return nullptr;
  return std::make_unique<host::MemoryTiming>(sections.iommu, sections.memory);
}

adapter::AdapterContext contextOf(const HostNode::Surroundings& surroundings, const config::HostSections& sections,
                                  pcie::DmaPort& dma, HostIndex host) {
  return {surroundings.calendar.calendar(),
          surroundings.probes,
          surroundings.pool,
          dma,
          kernel::ClockDomain(sections.adapter.device.clock),
          host,
          AdapterIndex(0)};
}

adapter::HcaConfig adapterConfigOf(const config::Config& config, const config::HostSections& sections) {
  adapter::HcaConfig adapter = sections.adapter;
  if (config.run.strictNotify) adapter.completion.armRule = adapter::ArmRule::kIbSpec;
  return adapter;
}

adapter::Hca::Options optionsOf(const config::Config& config, const network::PortIdentity& identity,
                                std::uint64_t nodeGuid) {
  adapter::Hca::Options options;
  adapter::PortIdentity port;
  port.guid = identity.guid;
  port.lid = identity.lid;
  port.mtu = static_cast<std::uint32_t>(config.link.mtu.count());
  port.gids = {identity.gid};
  if (config.link.layer == network::LinkLayer::kRoceV2) port.gids.push_back(identity.ipv4Gid);
  options.identity.nodeGuid = options.identity.systemImageGuid = nodeGuid;
  options.identity.linkLayer = config.link.layer;
  options.identity.ports = {port};
  options.address.linkLayer = config.link.layer;
  options.address.lid = identity.lid;
  options.address.gid = config.link.layer == network::LinkLayer::kRoceV2 ? identity.ipv4Gid : identity.gid;
  options.address.linkLocalGid = identity.gid;
  options.address.mac = identity.mac;
  options.seed = config.run.seed;
  options.movePayload = config.run.payload == config::PayloadMode::kMoved;
  return options;
}

}  // namespace

HostNode::HostNode(const sc_core::sc_module_name& name, const config::Config& config,
                   const network::PortIdentity& identity, const Surroundings& surroundings)
    : sc_core::sc_module(name),
      index_(identity.host),
      calendar_(surroundings.calendar.calendar()),
      interrupts_(calendar_, surroundings.probes, index_, config.hosts[index_.value()].cpu.interruptDelivery),
      cpu_(calendar_, config.hosts[index_.value()].cpu),
      memoryTiming_(memoryTimingOf(config, index_)),
      rootComplex_("root_complex", surroundings.calendar, config.hosts[index_.value()].pcie, space_, interrupts_),
      link_("pcie", surroundings.calendar, config.hosts[index_.value()].pcie),
      endpoint_("endpoint", surroundings.calendar, config.hosts[index_.value()].pcie,
                functionOf(config.hosts[index_.value()])),
      adapter_(contextOf(surroundings, config.hosts[index_.value()], endpoint_, index_),
               adapterConfigOf(config, config.hosts[index_.value()]), optionsOf(config, identity, identity.guid),
               surroundings.network.sender(surroundings.end)),
      driver_(environment(), config.hosts[index_.value()].driver) {
  rootComplex_.setMemoryTiming(memoryTiming_.get());
  rootComplex_.link_initiator_socket.bind(link_.host_target_socket);
  link_.host_initiator_socket.bind(rootComplex_.link_target_socket);
  endpoint_.link_initiator_socket.bind(link_.endpoint_target_socket);
  link_.endpoint_initiator_socket.bind(endpoint_.link_target_socket);
  endpoint_.setBarTarget(adapter_);
  surroundings.network.attach(surroundings.end, {identity, AdapterIndex(0), &adapter_.packetReceiver()});
}

driver::DriverEnvironment HostNode::environment() {
  return {calendar_, rootComplex_, space_, interrupts_, cpu_, index_, AdapterIndex(0)};
}

}  // namespace hca::sim
