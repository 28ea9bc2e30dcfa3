#include "sim/config/config_checks.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "models/network/packet_numbers.h"
#include "models/network/partition_keys.h"
#include "sim/config/guid_text.h"
#include "sim/config/nearest_name.h"
#include "sim/config/value_text.h"
#include "sim/workload/client_hosts.h"
#include "sim/workload/flow_rules.h"

namespace hca::config {

namespace {

std::string sectionOf(const NamedFlow& named) { return std::string(kFlowSection) + '.' + named.name; }

constexpr const char* kNoMtu = " is no MTU: 256B, 512B, 1KiB, 2KiB or 4KiB";

bool isPowerOfTwo(std::int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

}  // namespace

void ConfigChecker::run() {
  checkLink();
  for (std::uint32_t host = 0; host < config_.hosts.size(); ++host) {
    checkAdapters(host);
    checkMemory(host);
  }
  for (const NamedFlow& named : config_.flows) checkFlow(named);
  for (const NamedDma& named : config_.dma) checkDma(named);
  checkDrills();
}

void ConfigChecker::checkLink() {
  const Bytes mtu = config_.link.mtu;
  if (!network::isMtu(mtu)) complain("link", "mtu", formatValue(mtu) + kNoMtu);
}

// An adapter or port without sections of its own has those of its host, which are looked at once.
void ConfigChecker::checkAdapters(std::uint32_t host) {
  const HostSections& sections = config_.hosts[host];
  SectionPlace place;
  place.host = host;
  checkPcie(place, sections.pcie);
  checkFaults(place, sections.faults);
  checkDeviceMemory(place, sections.adapter.memory);
  checkPort(place, sections.port);
  for (std::uint32_t a = 0; a < sections.adapters.size(); ++a) {
    place.adapter = a;
    place.port.reset();
    checkPcie(place, sections.adapters[a].pcie);
    checkDeviceMemory(place, sections.adapters[a].adapter.memory);
    for (std::uint32_t port = 1; port <= sections.adapters[a].ports.size(); ++port) {
      place.port = port;
      checkFaults(place, sections.adapters[a].portSections(port).faults);
      checkPort(place, sections.adapters[a].portSections(port).port);
    }
  }
}

void ConfigChecker::checkPcie(const SectionPlace& place, const pcie::PcieConfig& link) {
  const auto check = [&](const char* key, Bytes size) {
    if (isPowerOfTwo(size.count())) return;
    complain(givenSection(place, "pcie", key), key, formatValue(size) + " is no power of two");
  };
  check("mps", link.maxPayload);
  check("mrrs", link.maxReadRequest);
  check("rcb", link.readCompletionBoundary);
}

void ConfigChecker::checkDeviceMemory(const SectionPlace& place, const adapter::MemoryConfig& memory) {
  constexpr std::int64_t kPage = 4096;
  if (memory.deviceMemory.count() % kPage == 0) return;
  complain(givenSection(place, "adapter.memory", "device_memory"), "device_memory",
           formatValue(memory.deviceMemory) + " is no multiple of 4KiB");
}

void ConfigChecker::checkFaults(const SectionPlace& place, const network::FaultConfig& faults) {
  const auto check = [&](const char* key, const std::string& numbers) {
    if (network::PacketNumbers::parse(numbers)) return;
    complain(givenSection(place, "link.faults", key), key,
             '\'' + numbers + "' is no list of packet numbers from 1 on, such as 3, 10-12");
  };
  check("lose", faults.lose);
  check("corrupt", faults.corrupt);
  check("duplicate", faults.duplicate);
  check("hold", faults.hold);
  check("distort", faults.distort);
}

// Ports of RoCE have neither LIDs nor partitions of their own, and no subnet manager.
void ConfigChecker::checkPort(const SectionPlace& place, const adapter::PortConfig& port) {
  const auto complainOf = [&](const char* key, const std::string& what) {
    complain(givenSection(place, "adapter.port", key), key, what);
  };
  const auto checkKeys = [&](const char* key, const std::string& keys) {
    if (network::parsePartitionKeys(keys)) return;
    complainOf(key, '\'' + keys + "' is no list of up to " + std::to_string(network::kMostPartitionKeys) +
                        " partition keys, such as 0xffff, 0x8001, 0, 0x7002");
  };
  checkKeys("pkeys", port.partitionKeys);
  if (port.partitionKeysAt != Time(0) && port.newPartitionKeys.empty()) {
    complainOf("pkeys_at", "needs new_pkeys, such as 0xffff, 0x8001");
  } else if (port.partitionKeysAt != Time(0)) {
    checkKeys("new_pkeys", port.newPartitionKeys);
  }
  if (port.guidAt != Time(0) && !parseGuid(port.newGuid)) {
    complainOf("guid_at", "needs new_guid, such as 0x0200c0ffee000001, not '" + port.newGuid + '\'');
  }
  if (port.lidAt != Time(0) && (port.newLid == 0 || port.newLid % (1U << config_.link.lmc) != 0)) {
    complainOf("lid_at", "needs new_lid, a multiple of 2^lmc, not " + std::to_string(port.newLid));
  }
  if (config_.link.layer == network::LinkLayer::kInfiniBand) return;
  const std::pair<const char*, bool> infiniBandAlone[] = {
      {"pkeys", port.partitionKeys != adapter::PortConfig().partitionKeys},
      {"lid_at", port.lidAt != Time(0)},
      {"pkeys_at", port.partitionKeysAt != Time(0)},
      {"guid_at", port.guidAt != Time(0)},
      {"reregister_at", port.reregisterAt != Time(0)}};
  for (const auto& [key, isSet] : infiniBandAlone) {
    if (isSet) complainOf(key, "is for InfiniBand ports: [link] layer = infiniband");
  }
}

void ConfigChecker::checkMemory(std::uint32_t host) {
  const host::MemoryConfig& memory = config_.hosts[host].memory;
  SectionPlace place;
  place.host = host;
  const std::string section = givenSection(place, "memory", "ddio_ways");
  if (memory.ddioWays > memory.cacheWays) {
    complain(section, "ddio_ways",
             std::to_string(memory.ddioWays) + " is more than cache_ways (" + std::to_string(memory.cacheWays) + ')');
  }
}

std::string ConfigChecker::givenSection(SectionPlace place, const std::string& section, const std::string& key) const {
  for (std::optional<std::uint32_t>* part : {&place.port, &place.adapter, &place.host}) {
    std::string own = sectionPath(place, section);
    if (place.host && values_.find(own, key)) return own;
    part->reset();
  }
  return section;
}

void ConfigChecker::checkFlow(const NamedFlow& named) {
  checkWork(named);
  checkHosts(named);
  checkPorts(named);
  checkSizes(named);
  checkDepths(named);
  checkVector(named);
  checkOrder(named);
  if (named.flow.kind == sim::FlowKind::kLatency && named.flow.verb == sim::FlowVerb::kWrite &&
      config_.run.payload == PayloadMode::kTiming) {
    complain(named, "verb", "waits for a byte of the message, which [run] payload = timing doesn't move");
  }
  for (const sim::FlowProblem& problem : sim::flowProblems(named.flow)) complain(named, problem.key, problem.what);
}

void ConfigChecker::checkWork(const NamedFlow& named) {
  const std::string section = sectionOf(named);
  if (isBad(section, "iters") || isBad(section, "duration")) return;
  if (named.flow.iters == 0 && named.flow.duration == Time()) {
    complain(named, "iters", "is 0 and there is no duration: the flow would do nothing");
  }
}

void ConfigChecker::checkHosts(const NamedFlow& named) {
  const sim::FlowConfig& flow = named.flow;
  const auto check = [&](const char* key, std::uint32_t host) {
    if (host < config_.hosts.size() || isBad(sectionOf(named), key)) return;
    complain(named, key,
             std::to_string(host) + " is no host: hosts are numbered 0 to " + std::to_string(config_.hosts.size() - 1));
  };
  const char* clientKey = flow.clients.empty() ? "client" : "clients";
  const std::vector<std::uint32_t> clients = sim::clientHostsOf(flow);
  for (const std::uint32_t host : clients) check(clientKey, host);
  check("server", flow.server);
  if (!flow.clients.empty() && values_.find(sectionOf(named), "client")) {
    complain(named, "client", "stands beside clients, which says it all");
  }
  for (const std::uint32_t host : clients) checkCore(named, host, flow.client_core, "client_core");
  checkCore(named, flow.server, flow.server_core, "server_core");
}

void ConfigChecker::checkPorts(const NamedFlow& named) {
  const sim::FlowConfig& flow = named.flow;
  const std::vector<std::uint32_t> clients = sim::clientHostsOf(flow);
  const auto isHost = [&](std::uint32_t host) { return host < config_.hosts.size(); };
  if (!isHost(flow.server) || !std::all_of(clients.begin(), clients.end(), isHost)) return;
  const auto check = [&](std::uint32_t host, std::uint32_t adapter, const char* adapterKey, std::uint32_t port,
                         const char* portKey) {
    if (!checkAdapter(sectionOf(named), adapterKey, host, adapter)) return false;
    const std::uint32_t ports = config_.hosts[host].adapterSections(adapter).adapter.device.ports;
    if (port >= 1 && port <= ports) return true;
    complain(named, portKey,
             std::to_string(port) + " is no port of adapter " + std::to_string(adapter) + " of host " +
                 std::to_string(host) + ": ports are numbered 1 to " + std::to_string(ports));
    return false;
  };
  bool areThere = check(flow.server, flow.server_adapter, "server_adapter", flow.server_port, "server_port");
  for (const std::uint32_t host : clients) {
    if (check(host, flow.client_adapter, "client_adapter", flow.client_port, "client_port")) continue;
    areThere = false;
    break;  // what one lacks the others most likely lack too
  }
  if (!areThere || config_.hasSwitch()) return;
  const auto place = [&](std::uint32_t host, std::uint32_t adapter, std::uint32_t port) {
    return config_.hosts[host].firstPort(adapter) + port - 1;
  };
  // Two hosts back to back: each port leads to the same one of the other host, or back to itself.
  const std::uint32_t serverPlace = place(flow.server, flow.server_adapter, flow.server_port);
  const auto isCabled = [&](std::uint32_t host) {
    return place(host, flow.client_adapter, flow.client_port) == serverPlace;
  };
  if (std::all_of(clients.begin(), clients.end(), isCabled)) return;
  complain(named, "server_port",
           "is not the port that the client's is cabled to: without [switch] always = yes the k-th port of one host "
           "leads to the k-th of the other, all adapters counted");
}

bool ConfigChecker::checkAdapter(const std::string& section, const char* key, std::uint32_t host,
                                 std::uint32_t adapter) {
  if (host >= config_.hosts.size()) return false;
  const std::uint32_t adapters = config_.hosts[host].host.adapters;
  if (adapter < adapters) return true;
  complain(section, key,
           std::to_string(adapter) + " is no adapter of host " + std::to_string(host) +
               ": adapters are numbered 0 to " + std::to_string(adapters - 1));
  return false;
}

void ConfigChecker::checkCore(const NamedFlow& named, std::uint32_t host, std::uint32_t core, const char* key) {
  if (host >= config_.hosts.size() || isBad(sectionOf(named), key)) return;
  const std::int64_t cores = config_.hosts[host].cpu.cores;
  if (core < cores) return;
  complain(named, key,
           std::to_string(core) + " is no core of host " + std::to_string(host) + ": cores are numbered 0 to " +
               std::to_string(cores - 1));
}

void ConfigChecker::checkSizes(const NamedFlow& named) {
  const sim::FlowConfig& flow = named.flow;
  if (!network::isMtu(flow.mtu)) {
    complain(named, "mtu", formatValue(flow.mtu) + kNoMtu);
  } else if (flow.mtu > config_.link.mtu && !isBad("link", "mtu")) {
    complain(named, "mtu",
             formatValue(flow.mtu) + " is more than the link carries (" + formatValue(config_.link.mtu) + ')');
  }
  if (!isPowerOfTwo(flow.cqe_size.count())) {
    complain(named, "cqe_size", formatValue(flow.cqe_size) + " is no size of a completion entry: 64B or 128B");
  } else if (flow.cqe_size == Bytes(32) && !everyAdapterHasShortEntries()) {
    complain(named, "cqe_size",
             "entries of 32B are none of a real adapter: adapter.completion.cqe_32 = yes makes them");
  } else if (flow.cqe_compression != driver::CompressionKind::kNone && flow.cqe_size != Bytes(64)) {
    complain(named, "cqe_compression", "only entries of 64B can be compressed");
  } else if (flow.cqe_pad && flow.cqe_size != Bytes(128)) {
    complain(named, "cqe_pad", "entries of " + formatValue(flow.cqe_size) + " have nothing to pad: cqe_size = 128B");
  }
}

bool ConfigChecker::everyAdapterHasShortEntries() const {
  for (const HostSections& host : config_.hosts) {
    for (std::uint32_t number = 0; number < host.host.adapters; ++number) {
      if (!host.adapterSections(number).adapter.completion.shortEntries) return false;
    }
  }
  return true;
}

void ConfigChecker::checkDepths(const NamedFlow& named) {
  const sim::FlowConfig& flow = named.flow;
  const std::string limit = " is more than tx_depth (" + std::to_string(flow.tx_depth) + ')';
  if (flow.cq_mod > flow.tx_depth) {
    complain(named, "cq_mod", std::to_string(flow.cq_mod) + limit + ": the queue would fill without a completion");
  }
  if (flow.post_list > flow.tx_depth) complain(named, "post_list", std::to_string(flow.post_list) + limit);
}

// The driver makes as many completion vectors as it is told to, or one a core, as far as the adapter has interrupts
// beside the one for asynchronous events.
void ConfigChecker::checkVector(const NamedFlow& named) {
  const sim::FlowConfig& flow = named.flow;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;  // host and adapter
  for (const std::uint32_t host : sim::clientHostsOf(flow)) ends.emplace_back(host, flow.client_adapter);
  ends.emplace_back(flow.server, flow.server_adapter);
  for (const auto& [host, adapter] : ends) {
    if (host >= config_.hosts.size() || adapter >= config_.hosts[host].host.adapters) continue;
    const AdapterSections& sections = config_.hosts[host].adapterSections(adapter);
    const std::int64_t wanted =
        sections.driver.num_comp_vectors == 0 ? config_.hosts[host].cpu.cores : sections.driver.num_comp_vectors;
    const std::int64_t vectors = std::min(wanted, sections.adapter.event.vectors - 1);
    if (named.flow.comp_vector < vectors) continue;
    const std::string range = vectors == 0 ? std::string("[adapter.event] vectors leaves it none")
                                           : "they are numbered 0 to " + std::to_string(vectors - 1);
    return complain(named, "comp_vector",
                    std::to_string(named.flow.comp_vector) + " is no completion vector of host " +
                        std::to_string(host) + ": " + range);
  }
}

// `after` must name another flow, and following it must end.
void ConfigChecker::checkOrder(const NamedFlow& named) {
  checkAfter(config_.flows, named, sectionOf(named), "flow", [](const NamedFlow& flow) { return flow.flow.after; });
}

template <class Named, class After>
void ConfigChecker::checkAfter(const std::vector<Named>& all, const Named& named, const std::string& section,
                               const std::string& kind, After&& after) {
  const auto find = [&](const std::string& name) -> const Named* {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
    return found == all.end() ? nullptr : &*found;
  };
  std::set<std::string> seen{named.name};
  const Named* at = &named;
  while (!after(*at).empty()) {
    const Named* next = find(after(*at));
    if (next == nullptr) {
      std::vector<std::string> names;
      for (const Named& one : all) {
        if (one.name != named.name) names.push_back(one.name);
      }
      if (at != &named) return;
      const std::string wrong = after(*at);
      return complain(section, "after", '\'' + wrong + "' is no " + kind, nearestName(wrong, names));
    }
    if (next->name == named.name) return complain(section, "after", "makes the " + kind + " wait for itself");
    if (!seen.insert(next->name).second) return;  // a cycle among others, reported there
    at = next;
  }
}

void ConfigChecker::checkDma(const NamedDma& named) {
  const sim::DmaConfig& dma = named.dma;
  const std::string section = std::string(sim::kDmaSection) + '.' + named.name;
  if (dma.iters == 0) complain(section, "iters", "is 0: there would be nothing to do");
  if (sim::placesOf(dma) == 0) {
    complain(section, "window",
             formatValue(dma.window) + " has no room for one access of " + formatValue(dma.size) +
                 (dma.offset.count() > 0 ? " at " + formatValue(dma.offset) : std::string()));
  }
  checkAfter(config_.dma, named, section, "[dma] section", [](const NamedDma& one) { return one.dma.after; });
  if (dma.host >= config_.hosts.size()) {
    complain(
        section, "host",
        std::to_string(dma.host) + " is no host: hosts are numbered 0 to " + std::to_string(config_.hosts.size() - 1));
  } else if (!checkAdapter(section, "adapter", dma.host, dma.adapter)) {
    return;
  } else if (dma.cache != sim::CacheState::kAsIs && config_.hosts[dma.host].memory.cacheSize.count() == 0) {
    complain(section, "cache", "needs a cache: [memory] cache_size is 0B");
  }
}

bool ConfigChecker::isBad(const std::string& section, const std::string& key) const {
  const auto given = values_.find(section, key);
  if (!given) return false;
  return std::any_of(problems_.begin(), problems_.end(), [&](const Problem& problem) {
    return problem.origin.source == given->origin.source && problem.origin.line == given->origin.line;
  });
}

void ConfigChecker::complain(const std::string& section, const std::string& key, std::string what,
                             std::string nearest) {
  if (isBad(section, key)) return;
  const auto given = values_.find(section, key);
  problems_.push_back({given ? given->origin : sections_[section], key, std::move(what), std::move(nearest)});
}

void ConfigChecker::complain(const NamedFlow& named, const std::string& key, std::string what, std::string nearest) {
  complain(sectionOf(named), key, std::move(what), std::move(nearest));
}

}  // namespace hca::config
