#include "sim/system/cabling.h"

namespace hca::sim {

Cabling::Cabling(kernel::Calendar& calendar, observe::Probes& probes, const config::Config& config,
                 const network::FabricIdentity& fabric) {
  if (config.host.count > 2 || config.fabricSwitch.always) {
    connectSwitch(calendar, probes, config, fabric);
  } else {
    links_.push_back(std::make_unique<network::Link>(calendar, probes, config.link));
  }
  for (std::uint32_t host = 0; host < config.host.count; ++host) {
    const Plug at = plug(host);
    const config::HostSections& sections = config.hosts[host];
    at.link.setFaults(at.end, network::FaultInjector(sections.faults, config.run.seed, host));
    if (!hasSwitch()) continue;
    const std::uint64_t stream = std::uint64_t{config.host.count} + host;
    at.link.setFaults(1 - at.end, network::FaultInjector(sections.switchFaults, config.run.seed, stream));
  }
}

void Cabling::connectSwitch(kernel::Calendar& calendar, observe::Probes& probes, const config::Config& config,
                            const network::FabricIdentity& fabric) {
  const std::uint32_t hosts = config.host.count;
  switch_ = std::make_unique<network::Switch>(calendar, probes, config.fabricSwitch, hosts, HostIndex(hosts));
  for (std::uint32_t host = 0; host < hosts; ++host) {
    network::Link& link = *links_.emplace_back(std::make_unique<network::Link>(calendar, probes, config.link));
    network::LinkEnd end;
    end.identity.host = switch_->self();
    end.receiver = &switch_->receiver(host);
    end.forwards = true;
    link.attach(1, end);
    switch_->connect(host, fabric.port(HostIndex(host), 1), link.sender(1));
  }
}

Cabling::Plug Cabling::plug(std::uint32_t host) {
  if (hasSwitch()) return {*links_[host], 0};
  return {*links_.front(), host};
}

const network::LinkCounters& Cabling::sent(std::size_t host) const {
  return hasSwitch() ? links_[host]->counters(0) : links_.front()->counters(host);
}

const network::LinkCounters* Cabling::sentBySwitch(std::size_t host) const {
  return hasSwitch() ? &links_[host]->counters(1) : nullptr;
}

network::SwitchCounters Cabling::switchPort(std::size_t host) const {
  return hasSwitch() ? switch_->counters(static_cast<std::uint32_t>(host)) : network::SwitchCounters();
}

}  // namespace hca::sim
