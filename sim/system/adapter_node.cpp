#include "sim/system/adapter_node.h"

#include "models/network/partition_keys.h"
#include "models/wire/mmio_map.h"
#include "models/wire/port_speed.h"

namespace hca::sim {

namespace {

const config::AdapterSections& sectionsOf(const config::Config& config, HostIndex host, AdapterIndex index) {
  return config.hosts[host.value()].adapterSections(index.value());
}

pcie::FunctionDescription functionOf(const config::AdapterSections& sections) {
  pcie::FunctionDescription function;
  function.deviceId = static_cast<std::uint16_t>(sections.adapter.device.deviceId);
  function.barSize = wire::kBar0Size;
  function.msixVectors = static_cast<std::uint32_t>(sections.adapter.event.vectors);
  function.msixTableOffset = wire::kMsixTableOffset;
  function.msixPendingOffset = wire::kMsixPendingOffset;
  function.hasVendorRegisters = true;
  return function;
}

adapter::AdapterContext contextOf(const AdapterNode::Surroundings& surroundings,
                                  const config::AdapterSections& sections, pcie::DmaPort& dma, HostIndex host,
                                  AdapterIndex index) {
  return {surroundings.calendar.calendar(),
          surroundings.probes,
          surroundings.pool,
          dma,
          kernel::ClockDomain(sections.adapter.device.clock),
          host,
          index};
}

adapter::HcaConfig adapterConfigOf(const config::Config& config, const config::AdapterSections& sections) {
  adapter::HcaConfig adapter = sections.adapter;
  if (config.run.strictNotify) adapter.completion.armRule = adapter::ArmRule::kIbSpec;
  return adapter;
}

// The configuration was checked.
std::vector<std::uint16_t> partitionKeysOf(const adapter::PortConfig& port) {
  return network::parsePartitionKeys(port.partitionKeys).value_or(std::vector{network::kDefaultPartition});
}

adapter::PortIdentity portOf(const config::Config& config, const Cabling::Plug& plug, const adapter::PortConfig& own) {
  adapter::PortIdentity port;
  port.guid = plug.identity.guid;
  port.lid = plug.identity.lid;
  port.lmc = plug.identity.lmc;
  port.active = plug.link.isUp();
  port.mtu = static_cast<std::uint32_t>(config.link.mtu.count());
  port.speedCode = wire::portSpeed(plug.link.rate()).code;
  port.gids = {plug.identity.gid};
  if (config.link.layer == network::LinkLayer::kRoceV2) port.gids.push_back(plug.identity.ipv4Gid);
  port.pkeys = partitionKeysOf(own);
  return port;
}

adapter::PortAddress addressOf(const config::Config& config, const network::PortIdentity& identity,
                               const adapter::PortConfig& own) {
  adapter::PortAddress address;
  address.linkLayer = config.link.layer;
  address.lid = identity.lid;
  address.lmc = identity.lmc;
  address.gid = config.link.layer == network::LinkLayer::kRoceV2 ? identity.ipv4Gid : identity.gid;
  address.linkLocalGid = identity.gid;
  address.mac = identity.mac;
  address.partitionKeys = partitionKeysOf(own);
  return address;
}

// The adapter as a whole is named after its first port.
adapter::Hca::Options optionsOf(const config::Config& config, const config::AdapterSections& sections,
                                const std::vector<Cabling::Plug>& plugs) {
  adapter::Hca::Options options;
  for (const Cabling::Plug& plug : plugs) {
    const auto number = static_cast<std::uint32_t>(options.addresses.size() + 1);
    const adapter::PortConfig& own = sections.portSections(number).port;
    options.identity.ports.push_back(portOf(config, plug, own));
    options.addresses.push_back(addressOf(config, plug.identity, own));
  }
  options.identity.nodeGuid = options.identity.systemImageGuid = plugs.front().identity.guid;
  options.identity.linkLayer = config.link.layer;
  options.identity.deviceId = static_cast<std::uint16_t>(sections.adapter.device.deviceId);
  options.seed = config.run.seed;
  options.movePayload = config.run.payload == config::PayloadMode::kMoved;
  return options;
}

std::vector<Cabling::Plug> plugsOf(Cabling& cabling, HostIndex host, std::uint32_t firstPort, std::uint32_t ports) {
  std::vector<Cabling::Plug> plugs;
  for (std::uint32_t port = 0; port < ports; ++port) plugs.push_back(cabling.plug(host.value(), firstPort + port));
  return plugs;
}

std::vector<network::PacketSender*> wiresOf(const std::vector<Cabling::Plug>& plugs) {
  std::vector<network::PacketSender*> wires;
  for (const Cabling::Plug& plug : plugs) wires.push_back(&plug.link.sender(plug.end));
  return wires;
}

}  // namespace

AdapterNode::AdapterNode(const config::Config& config, HostIndex host, AdapterIndex index,
                         const Surroundings& surroundings)
    : host_(host),
      index_(index),
      firstPort_(config.hosts[host.value()].firstPort(index.value())),
      calendar_(surroundings.calendar.calendar()),
      space_(surroundings.space),
      interrupts_(surroundings.interrupts),
      cpu_(surroundings.cpu),
      rootComplex_("root_complex", surroundings.calendar, sectionsOf(config, host, index).pcie, space_, interrupts_),
      link_("pcie", surroundings.calendar, sectionsOf(config, host, index).pcie),
      endpoint_("endpoint", surroundings.calendar, sectionsOf(config, host, index).pcie,
                functionOf(sectionsOf(config, host, index))),
      hca_(contextOf(surroundings, sectionsOf(config, host, index), endpoint_, host, index),
           adapterConfigOf(config, sectionsOf(config, host, index)),
           optionsOf(
               config, sectionsOf(config, host, index),
               plugsOf(surroundings.cabling, host, firstPort_, sectionsOf(config, host, index).adapter.device.ports)),
           wiresOf(
               plugsOf(surroundings.cabling, host, firstPort_, sectionsOf(config, host, index).adapter.device.ports))),
      driver_(environment(), sectionsOf(config, host, index).driver),
      outsideHand_(sectionsOf(config, host, index), calendar_, surroundings.cabling, hca_, host.value(), firstPort_) {
  const bool isOneOfSeveral = config.hosts[host.value()].host.adapters > 1;
  rootComplex_.setMemoryTiming(surroundings.memoryTiming, isOneOfSeveral);
  rootComplex_.link_initiator_socket.bind(link_.host_target_socket);
  link_.host_initiator_socket.bind(rootComplex_.link_target_socket);
  endpoint_.link_initiator_socket.bind(link_.endpoint_target_socket);
  link_.endpoint_initiator_socket.bind(endpoint_.link_target_socket);
  endpoint_.setBarTarget(hca_);
  endpoint_.setVendorRegisters(hca_.vendorRegisters());
  for (std::uint8_t port = 1; port <= hca_.ports(); ++port) {
    const Cabling::Plug plug = surroundings.cabling.plug(host.value(), hostPort(port));
    plug.link.attach(plug.end, {plug.identity, index, &hca_.packetReceiver(port), false, &hca_.linkListener(port)});
  }
}

driver::DriverEnvironment AdapterNode::environment() {
  return {calendar_, rootComplex_, space_, interrupts_, cpu_, host_, index_};
}

}  // namespace hca::sim
