#include "sim/run/system_results.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hca::sim {

namespace {

constexpr std::pair<adapter::CachedObject, const char*> kAdapterCaches[] = {
    {adapter::CachedObject::kQpContext, "qp_context"},     {adapter::CachedObject::kCqContext, "cq_context"},
    {adapter::CachedObject::kMemoryKey, "memory_key"},     {adapter::CachedObject::kTranslation, "translation"},
    {adapter::CachedObject::kWorkRequest, "work_request"},
};

/// A port of an adapter, and its number if the adapter has more than one.
struct PortOf {
  std::uint32_t hostPort = 1;  // of all its host's
  std::optional<std::uint32_t> named;
};

std::vector<PortOf> portsOf(const AdapterNode& adapter) {
  std::vector<PortOf> ports;
  for (std::uint32_t port = 1; port <= adapter.hca().ports(); ++port) {
    const bool isOneOfSeveral = adapter.hca().ports() > 1;
    ports.push_back({adapter.hostPort(port), isOneOfSeveral ? std::optional(port) : std::nullopt});
  }
  return ports;
}

/// Calls `visit(host, adapter if there are more, port)` for every port of `system`.
template <class Visit>
void forEachPort(const System& system, Visit&& visit) {
  forEachAdapter(system, [&](const HostNode& node, const AdapterNode& adapter) {
    const auto named = node.adapters() > 1 ? std::optional(adapter.index()) : std::nullopt;
    for (const PortOf& port : portsOf(adapter)) visit(node, named, port);
  });
}

void collectCaches(const System& system, report::Result& result) {
  for (std::size_t i = 0; i < system.hosts(); ++i) {
    const HostNode& node = system.host(i);
    const auto add = [&](std::optional<AdapterIndex> adapter, const char* name, const auto& counters) {
      result.caches.push_back({node.index(), adapter, name, counters.hits, counters.misses, counters.evictions});
    };
    for (std::uint32_t a = 0; a < node.adapters(); ++a) {
      const auto adapter = node.adapters() > 1 ? std::optional(AdapterIndex(a)) : std::nullopt;
      for (const auto& [what, name] : kAdapterCaches) {
        if (const auto counters = node.adapter(a).hca().caches().counters(what)) add(adapter, name, *counters);
      }
    }
    const host::MemoryTiming* memory = node.memoryTiming();
    if (memory == nullptr) continue;
    if (memory->iommu() != nullptr) add(std::nullopt, "iotlb", memory->iommu()->counters());
    if (memory->cache() != nullptr) {
      add(std::nullopt, "last_level_reads", memory->cache()->reads());
      add(std::nullopt, "last_level_writes", memory->cache()->writes());
    }
  }
}

void collectPcie(const System& system, report::Result& result) {
  using Direction = pcie::Link::Direction;
  forEachAdapter(system, [&result](const HostNode& node, const AdapterNode& adapter) {
    for (const Direction direction : {Direction::kUpstream, Direction::kDownstream}) {
      const pcie::TrafficCount sum = pcie::total(adapter.pcieLink().counts(direction));
      report::PcieResult entry;
      entry.host = node.index();
      entry.adapter = adapter.index();
      entry.direction = direction == Direction::kUpstream ? report::PcieResult::Direction::kUpstream
                                                          : report::PcieResult::Direction::kDownstream;
      entry.tlps = sum.tlps;
      entry.bytes = sum.bytes;
      const double span = static_cast<double>(result.simulated.count());
      entry.utilisation = span > 0 ? static_cast<double>(sum.busy.count()) / span : 0;
      result.pcie.push_back(entry);
    }
  });
}

void collectDrops(const System& system, report::Result& result) {
  forEachAdapter(system, [&](const HostNode& node, const AdapterNode& adapter) {
    const auto add = [&](const char* reason, std::uint64_t count, std::optional<std::uint32_t> port = {}) {
      if (count > 0) result.drops.push_back({node.index(), adapter.index(), port, reason, count});
    };
    const adapter::Hca& hca = adapter.hca();
    const adapter::PacketDispatcher::Drops& packets = hca.dispatcher().drops();
    add("packet_corrupted", packets.corrupted);
    add("packet_unknown_qp", packets.unknownQp);
    add("packet_wrong_service", packets.wrongService);
    add("packet_wrong_port", packets.wrongPort);
    add("packet_wrong_state", packets.wrongState);
    add("packet_wrong_path", packets.wrongPath);
    add("packet_wrong_partition", packets.wrongPartition);
    add("packet_wrong_queue_key", packets.wrongQueueKey);
    add("packet_not_member", packets.notMember);
    add("packet_no_flow_rule", packets.noFlowRule);
    add("message_dropped", hca.responder().unreliableDrops());
    for (const PortOf& port : portsOf(adapter)) {
      const network::LinkCounters& link = system.cabling().sent(node.index().value(), port.hostPort);
      const network::SwitchCounters counters = system.cabling().switchPort(node.index().value(), port.hostPort);
      add("packet_link_down", link.droppedDown, port.named);
      add("packet_wrong_destination", link.droppedDestination, port.named);
      add("packet_lost", link.lost, port.named);
      add("switch_buffer_full", counters.droppedBuffer, port.named);
      add("switch_unknown_destination", counters.droppedDestination, port.named);
    }
    add("doorbell_ignored", hca.sendQueue().ignoredDoorbells());
    add("register_write_ignored", hca.decoder().ignoredWrites());
    add("dma_write_failed", adapter.rootComplex().counters().writeErrors);
    add("dma_read_failed", adapter.rootComplex().counters().readErrors);
  });
}

void collectFaults(const System& system, report::Result& result) {
  forEachPort(system, [&](const HostNode& node, std::optional<AdapterIndex> adapter, const PortOf& port) {
    const auto add = [&](const network::LinkCounters& link, bool fromSwitch) {
      if (link.lost + link.corrupted + link.duplicated + link.held == 0) return;
      result.faults.push_back(
          {node.index(), adapter, port.named, fromSwitch, link.lost, link.corrupted, link.duplicated, link.held});
    };
    add(system.cabling().sent(node.index().value(), port.hostPort), false);
    const network::LinkCounters* fromSwitch = system.cabling().sentBySwitch(node.index().value(), port.hostPort);
    if (fromSwitch != nullptr) add(*fromSwitch, true);
  });
}

void collectSwitch(const System& system, report::Result& result) {
  if (!system.cabling().hasSwitch()) return;
  forEachPort(system, [&](const HostNode& node, std::optional<AdapterIndex> adapter, const PortOf& port) {
    const network::SwitchCounters counters = system.cabling().switchPort(node.index().value(), port.hostPort);
    result.switchPorts.push_back({node.index(), adapter, port.named, counters.forwarded,
                                  static_cast<std::uint64_t>(counters.highWater.count()), counters.droppedBuffer});
  });
}

const char* name(adapter::DeviceState state) {
  switch (state) {
    case adapter::DeviceState::kDisabled:
      return "disabled";
    case adapter::DeviceState::kEnabled:
      return "enabled";
    case adapter::DeviceState::kInitialized:
      return "initialized";
  }
  return "unknown";
}

report::LeftResult leftOf(const adapter::GenerationLeft& left) {
  report::LeftResult result;
  result.generation = left.generation;
  result.end = adapter::name(left.end);
  result.isTeardown = left.end == adapter::GenerationEnd::kTeardown;
  result.pages = left.pages;
  for (std::size_t kind = 0; kind < left.objects.size(); ++kind) {
    if (left.objects[kind] == 0) continue;
    result.objects.emplace_back(adapter::name(static_cast<adapter::ObjectKind>(kind)), left.objects[kind]);
  }
  return result;
}

void addCommands(const adapter::AdapterAccount& account, report::AdapterResult& result) {
  for (const auto& [opcode, count] : account.commands) {
    const std::string known = wire::name(opcode);
    result.commands.emplace_back(known == "unknown" ? fmt::format("{:#x}", static_cast<unsigned>(opcode)) : known,
                                 count);
  }
  for (const auto& [status, count] : account.statuses) result.statuses.emplace_back(wire::driverName(status), count);
  for (std::size_t kind = 0; kind < account.rejections.size(); ++kind) {
    if (account.rejections[kind] == 0) continue;
    result.rejections.emplace_back(adapter::name(static_cast<adapter::CommandRejection>(kind)),
                                   account.rejections[kind]);
  }
}

void collectAdapters(const System& system, report::Result& result) {
  forEachAdapter(system, [&result](const HostNode& node, const AdapterNode& adapter) {
    const adapter::AdapterAccount account = adapter.hca().account();
    report::AdapterResult entry;
    entry.host = node.index();
    entry.adapter = adapter.index();
    entry.state = name(account.state);
    entry.generations = account.generations;
    for (std::size_t kind = 0; kind < account.objects.size(); ++kind) {
      const adapter::ObjectCount& count = account.objects[kind];
      if (count.created == 0) continue;
      entry.objects.push_back({adapter::name(static_cast<adapter::ObjectKind>(kind)), count.live, count.created,
                               count.destroyed, count.most});
    }
    const adapter::PageCount& pages = account.pages;
    entry.pages = {pages.held, pages.most, pages.given, pages.taken, pages.needed};
    for (const adapter::GenerationLeft& left : account.left) entry.left.push_back(leftOf(left));
    addCommands(account, entry);
    result.adapters.push_back(std::move(entry));
  });
}

}  // namespace

void collectSystem(const System& system, report::Result& result) {
  collectCaches(system, result);
  collectPcie(system, result);
  collectDrops(system, result);
  collectAdapters(system, result);
  collectFaults(system, result);
  collectSwitch(system, result);
}

}  // namespace hca::sim
