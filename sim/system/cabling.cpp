#include "sim/system/cabling.h"

#include <algorithm>

namespace hca::sim {

namespace {

std::uint32_t mostPorts(const config::Config& config) {
  std::uint32_t most = 1;
  for (const config::HostSections& host : config.hosts) most = std::max(most, host.portCount());
  return most;
}

/// Calls `visit(port of the host, its sections)` for every port of all adapters.
template <class Visit>
void forEachPort(const config::HostSections& host, Visit&& visit) {
  std::uint32_t number = 0;
  for (std::uint32_t a = 0; a < host.host.adapters; ++a) {
    const config::AdapterSections& adapter = host.adapterSections(a);
    for (std::uint32_t port = 1; port <= adapter.adapter.device.ports; ++port) {
      visit(++number, adapter.portSections(port));
    }
  }
}

/// The fastest rate of port `number` of the host; of one that it has not, the link's.
BitsPerSecond rateOf(const config::Config& config, std::uint32_t host, std::uint32_t number) {
  BitsPerSecond rate = config.link.rate;
  forEachPort(config.hosts[host], [&](std::uint32_t each, const config::PortSections& sections) {
    if (each == number && sections.port.rate.count() > 0) rate = std::min(rate, sections.port.rate);
  });
  return rate;
}

}  // namespace

BitsPerSecond cableRate(const config::Config& config, std::uint32_t host, std::uint32_t port) {
  const BitsPerSecond own = rateOf(config, host, port);
  if (config.hasSwitch()) return own;
  return std::min(own, rateOf(config, 1 - host, port));
}

Cabling::Cabling(kernel::Calendar& calendar, observe::Probes& probes, const config::Config& config)
    : fabric_(config.host.count, mostPorts(config), static_cast<std::uint8_t>(config.link.lmc)) {
  std::uint32_t ports = 0;
  for (const config::HostSections& host : config.hosts) {
    firstPorts_.push_back(ports);
    ports += host.portCount();
  }
  firstPorts_.push_back(ports);
  if (config.hasSwitch()) {
    connectSwitch(calendar, probes, config);
  } else {
    connectBackToBack(calendar, probes, config);
  }
  setFaults(config);
}

void Cabling::setFaults(const config::Config& config) {
  const std::uint32_t ports = firstPorts_.back();
  for (std::uint32_t host = 0; host < config.host.count; ++host) {
    forEachPort(config.hosts[host], [&](std::uint32_t port, const config::PortSections& sections) {
      const Plug at = plug(host, port);
      const std::uint64_t stream = indexOf(host, port);
      at.link.setFaults(at.end, network::FaultInjector(sections.faults, config.run.seed, stream));
      if (!hasSwitch()) return;
      at.link.setFaults(1 - at.end, network::FaultInjector(sections.switchFaults, config.run.seed, ports + stream));
    });
  }
}

void Cabling::connectBackToBack(kernel::Calendar& calendar, observe::Probes& probes, const config::Config& config) {
  const std::uint32_t ports[] = {config.hosts[0].portCount(), config.hosts[1].portCount()};
  for (std::uint32_t port = 1; port <= std::max(ports[0], ports[1]); ++port) {
    network::NetworkConfig settings = config.link;
    settings.rate = cableRate(config, 0, port);
    network::Link& link = *links_.emplace_back(std::make_unique<network::Link>(calendar, probes, settings));
    for (std::uint32_t host = 0; host < 2; ++host) {
      if (port <= ports[host]) continue;
      network::LinkEnd end;
      end.identity.host = HostIndex(host);
      end.receiver = &nowhere_;
      link.attach(host, end);
      link.setUp(false);
    }
  }
}

void Cabling::connectSwitch(kernel::Calendar& calendar, observe::Probes& probes, const config::Config& config) {
  const std::uint32_t hosts = config.host.count;
  switch_ =
      std::make_unique<network::Switch>(calendar, probes, config.fabricSwitch, firstPorts_.back(), HostIndex(hosts));
  for (std::uint32_t host = 0; host < hosts; ++host) {
    for (std::uint32_t port = 1; port <= config.hosts[host].portCount(); ++port) {
      network::NetworkConfig settings = config.link;
      settings.rate = cableRate(config, host, port);
      network::Link& link = *links_.emplace_back(std::make_unique<network::Link>(calendar, probes, settings));
      const std::uint32_t index = indexOf(host, port);
      network::LinkEnd end;
      end.identity.host = switch_->self();
      end.receiver = &switch_->receiver(index);
      end.forwards = true;
      link.attach(1, end);
      switch_->connect(index, fabric_.port(HostIndex(host), port), link.sender(1), settings.rate);
    }
  }
}

Cabling::Plug Cabling::plug(std::uint32_t host, std::uint32_t port) {
  const network::PortIdentity identity = fabric_.port(HostIndex(host), port);
  if (hasSwitch()) return {*links_[indexOf(host, port)], 0, identity};
  return {*links_[port - 1], host, identity};
}

void Cabling::changeLid(std::uint32_t host, std::uint32_t port, Lid lid) {
  const Plug at = plug(host, port);
  at.link.changeLid(at.end, lid);
  if (!hasSwitch()) return;
  network::PortIdentity now = at.identity;
  now.lid = lid;
  switch_->changeLids(indexOf(host, port), at.identity, now);
}

const network::LinkCounters& Cabling::sent(std::uint32_t host, std::uint32_t port) const {
  return hasSwitch() ? links_[indexOf(host, port)]->counters(0) : links_[port - 1]->counters(host);
}

const network::LinkCounters* Cabling::sentBySwitch(std::uint32_t host, std::uint32_t port) const {
  return hasSwitch() ? &links_[indexOf(host, port)]->counters(1) : nullptr;
}

network::SwitchCounters Cabling::switchPort(std::uint32_t host, std::uint32_t port) const {
  return hasSwitch() ? switch_->counters(indexOf(host, port)) : network::SwitchCounters();
}

}  // namespace hca::sim
