#include "sim/run/simulation.h"

#include <chrono>
#include <optional>
#include <utility>

#include "models/kernel/activation_counter.h"
#include "sim/config/config_text.h"
#include "sim/driver/thread_client.h"

namespace hca::sim {

namespace {

constexpr std::pair<adapter::CachedObject, const char*> kAdapterCaches[] = {
    {adapter::CachedObject::kQpContext, "qp_context"},     {adapter::CachedObject::kCqContext, "cq_context"},
    {adapter::CachedObject::kMemoryKey, "memory_key"},     {adapter::CachedObject::kTranslation, "translation"},
    {adapter::CachedObject::kWorkRequest, "work_request"},
};

/// Calls `visit(host, adapter)` for every adapter of `system`.
template <class Visit>
void forEachAdapter(const System& system, Visit&& visit) {
  for (std::size_t i = 0; i < system.hosts(); ++i) {
    const HostNode& node = system.host(i);
    for (std::uint32_t a = 0; a < node.adapters(); ++a) visit(node, node.adapter(a));
  }
}

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

// The first arm race, if there is one: its server's queue is the one to watch.
const FlowConfig* findRace(const config::Config& config) {
  for (const config::NamedFlow& named : config.flows) {
    if (named.flow.kind == FlowKind::kArmRace) return &named.flow;
  }
  return nullptr;
}

}  // namespace

Simulation::Simulation(const config::Config& config, const Options& options)
    : config_(config),
      options_(options),
      system_(config_, options_.quantum),
      workload_(*this, config_.run.payload == config::PayloadMode::kMoved, config_.run.seed) {
  if (options_.observe) observers_ = std::make_unique<observers::ObserverSet>(system_.probes());
}

Simulation::~Simulation() = default;

std::unique_ptr<driver::VerbsClient> Simulation::makeThread(const ThreadPlace& place, const std::string& name) {
  AdapterNode& adapter = system_.host(place.host.value()).adapter(place.adapter.value());
  const config::AdapterSections& sections = config_.hosts[place.host.value()].adapterSections(place.adapter.value());
  return std::make_unique<driver::ThreadClient>(adapter.environment(), adapter.driver(), sections.driver,
                                                system_.probes(), place.core, name, place.port);
}

void Simulation::makeFlows() {
  for (const config::NamedFlow& named : config_.flows) {
    const std::int64_t cores = config_.hosts[named.flow.server].cpu.cores;
    workload_.add(named.name, named.flow, static_cast<std::uint32_t>(cores));
  }
  for (const auto& flow : workload_.flows()) {
    flow->setMeasurementListener([this, measured = flow.get()](Time when) {
      if (completions_) nameQueuePairs(*measured);
      if (!observers_) return;
      const FlowEndpoint& side = measured->clientSide();
      for (std::uint32_t i = 0; i < measured->config().qps; ++i) {
        observers_->latency().measureFrom(side.client().host(), side.client().adapter(), side.qpNumber(i), when);
      }
    });
  }
}

void Simulation::makeDma() {
  for (const config::NamedDma& named : config_.dma) {
    HostNode& node = system_.host(named.dma.host);
    dma_.add(named.name, named.dma,
             {system_.calendar(), node.adapter(named.dma.adapter).endpoint(), node.memory(), node.memoryTiming()},
             config_.run.seed);
  }
}

void Simulation::stopIfFinished() {
  if (workload_.finished() && dma_.finished()) system_.stop();
}

void Simulation::attachCompletionRecorder() {
  if (options_.completions == nullptr) return;
  bool severalAdapters = false;
  forEachAdapter(system_, [&](const HostNode& node, const AdapterNode&) { severalAdapters |= node.adapters() > 1; });
  completions_ =
      std::make_unique<observers::CompletionRecorder>(system_.probes(), *options_.completions, severalAdapters);
}

void Simulation::nameQueuePairs(const Flow& flow) {
  for (const FlowEndpoint* side : {&flow.clientSide(), &flow.serverSide()}) {
    for (std::uint32_t i = 0; i < flow.config().qps; ++i) {
      completions_->describe(side->client().host(), side->client().adapter(), side->qpNumber(i), flow.name());
    }
  }
}

double Simulation::done() const {
  double sum = 0;
  for (const auto& flow : workload_.flows()) sum += flow->done();
  for (const auto& stream : dma_.streams()) sum += stream->done();
  return sum / static_cast<double>(workload_.flows().size() + dma_.streams().size());
}

void Simulation::attachEventLog() {
  if (options_.events == nullptr) return;
  observers::EventLog::Settings settings;
  if (const FlowConfig* race = findRace(config_); race != nullptr) {
    settings.order = race->events == EventOrder::kSafe ? observers::ArmOrder::kSafe : observers::ArmOrder::kUnsafe;
    settings.showsQueue = [race](const observe::CqEvent& event) {
      return event.host.value() == race->server && event.adapter.value() == race->server_adapter;
    };
  }
  settings.now = [this] { return system_.calendar().now(); };
  settings.showsInterrupt = [this](const observe::InterruptEvent& event) {
    return completionVectorOf(event.host, event.adapter, event.vector).has_value();
  };
  eventLog_ = std::make_unique<observers::EventLog>(system_.probes(), *options_.events, std::move(settings));
}

void Simulation::runFlows() {
  makeFlows();
  makeDma();
  attachEventLog();
  attachCompletionRecorder();
  dma_.start([this] { stopIfFinished(); });
  workload_.start([this] { stopIfFinished(); });
  // In slices, to tell how far it got; where a slice ends makes no difference to what happens.
  constexpr Time kSlice = microseconds(200);
  Time limit = system_.calendar().now();
  bool stopped = false;
  while (!stopped && !system_.calendar().empty() && limit < config_.run.timeLimit) {
    const Time next = later(limit, system_.calendar().next());
    limit = next > config_.run.timeLimit - kSlice ? config_.run.timeLimit : next + kSlice;
    stopped = system_.run(limit);
    if (options_.progress) options_.progress(done());
  }
  ended_ = system_.calendar().now();
  if (stopped) settle();
  if (eventLog_) eventLog_->finish();
}

// An acknowledgement may overtake the placing of its data: lets what is under way land before anybody looks. A write
// that waits for credits is counted by its link; one that left needs as long as the host's memory takes.
void Simulation::settle() {
  constexpr Time kMost = milliseconds(1000);
  const auto waits = [this] {
    bool any = false;
    forEachAdapter(system_, [&](const HostNode&, const AdapterNode& adapter) {
      const pcie::WaitState state = adapter.pcieLink().waitState(pcie::Link::Direction::kUpstream);
      any |= state.classes[static_cast<std::size_t>(pcie::TlpClass::kPosted)].bursts != 0;
    });
    return any;
  };
  Time onTheWay = microseconds(50);
  for (const config::HostSections& host : config_.hosts) {
    for (std::uint32_t a = 0; a < host.host.adapters; ++a) {
      onTheWay = later(onTheWay, host.adapterSections(a).pcie.writeLatency * 2);
    }
  }
  Time until = ended_;
  for (bool goesOn = true; goesOn && until < ended_ + kMost;) {
    goesOn = waits();
    until = until + onTheWay;
    system_.run(until);
  }
}

std::string Simulation::bringUp() {
  if (std::exchange(isUp_, true)) return {};
  return system_.bringUp();
}

report::Result Simulation::run() {
  const auto wallStart = std::chrono::steady_clock::now();
  report::Result result;
  result.name = config_.run.name;
  result.config = config::effectiveSections(config_);
  if (const std::string problem = bringUp(); !problem.empty()) {
    report::FailureResult failure;
    failure.kind = "bring_up";
    failure.message = problem;
    result.failures.push_back(failure);
    return result;
  }
  runFlows();
  result.simulated = ended_;
  collectFlows(result);
  collectDma(result);
  collectCaches(result);
  collectQueues(result);
  collectPcie(result);
  collectDrops(result);
  collectFaults(result);
  collectSwitch(result);
  addStuckFlows(result);
  if (options_.timing) {
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wallStart;
    result.timing = report::TimingResult{wall.count(), kernel::activations(), system_.calendar().executed()};
  }
  return result;
}

// ---- results

void Simulation::collectFlows(report::Result& result) {
  for (const FlowGroup& group : workload_.groups()) {
    report::FlowResult flowResult = group.result();
    std::vector<observers::LatencyObserver::QueuePair> pairs;
    for (const Flow* flow : group.flows()) {
      if (!flow->finished() || !flow->problem().empty()) continue;
      for (std::uint32_t i = 0; i < flow->config().qps; ++i) {
        pairs.push_back({flow->clientSide().client().host(), flow->clientSide().client().adapter(),
                         flow->clientSide().qpNumber(i)});
      }
    }
    if (observers_ && !pairs.empty()) {
      flowResult.stages = observers_->latency().stages(pairs);
      flowResult.bottleneck = observers::slowestStage(flowResult.stages);
    }
    result.flows.push_back(std::move(flowResult));
  }
}

void Simulation::collectDma(report::Result& result) const {
  for (const auto& stream : dma_.streams()) {
    report::DmaResult entry = stream->result();
    const HostNode& node = system_.host(stream->config().host);
    if (node.adapters() > 1) entry.adapter = AdapterIndex(stream->config().adapter);
    result.dma.push_back(std::move(entry));
  }
}

void Simulation::collectCaches(report::Result& result) const {
  for (std::size_t i = 0; i < system_.hosts(); ++i) {
    const HostNode& node = system_.host(i);
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

std::optional<std::uint32_t> Simulation::completionVectorOf(HostIndex host, AdapterIndex adapter,
                                                            InterruptVector vector) const {
  return system_.host(host.value()).adapter(adapter.value()).driver().completionVectorOf(vector);
}

void Simulation::collectQueues(report::Result& result) {
  if (!observers_) return;
  forEachAdapter(system_, [this](const HostNode& node, const AdapterNode& adapter) {
    for (const adapter::CqSummary& cq : adapter.hca().completion().summaries()) {
      observers_->queues().describe(node.index(), adapter.index(), cq.number, cq.entries - 1, cq.entryBytes);
    }
  });
  observers_->collect([this](HostIndex host, AdapterIndex adapter,
                             InterruptVector vector) { return completionVectorOf(host, adapter, vector); },
                      result);
  for (report::CqResult& cq : result.cqs) {
    const AdapterNode& adapter = system_.host(cq.host.value()).adapter(cq.adapter.value());
    for (const adapter::CqSummary& summary : adapter.hca().completion().summaries()) {
      if (summary.number != cq.cq) continue;
      cq.overruns = summary.counters.overruns;
      cq.lost = summary.counters.lost;
      cq.resizes = summary.counters.resizes;
    }
  }
}

void Simulation::collectPcie(report::Result& result) const {
  using Direction = pcie::Link::Direction;
  forEachAdapter(system_, [&result](const HostNode& node, const AdapterNode& adapter) {
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

void Simulation::collectDrops(report::Result& result) const {
  forEachAdapter(system_, [&](const HostNode& node, const AdapterNode& adapter) {
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
    add("packet_wrong_partition", packets.wrongPartition);
    add("packet_wrong_queue_key", packets.wrongQueueKey);
    add("packet_not_member", packets.notMember);
    add("message_dropped", hca.responder().unreliableDrops());
    for (const PortOf& port : portsOf(adapter)) {
      const network::LinkCounters& link = system_.cabling().sent(node.index().value(), port.hostPort);
      const network::SwitchCounters counters = system_.cabling().switchPort(node.index().value(), port.hostPort);
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

void Simulation::collectFaults(report::Result& result) const {
  forEachPort(system_, [&](const HostNode& node, std::optional<AdapterIndex> adapter, const PortOf& port) {
    const auto add = [&](const network::LinkCounters& link, bool fromSwitch) {
      if (link.lost + link.corrupted + link.duplicated + link.held == 0) return;
      result.faults.push_back(
          {node.index(), adapter, port.named, fromSwitch, link.lost, link.corrupted, link.duplicated, link.held});
    };
    add(system_.cabling().sent(node.index().value(), port.hostPort), false);
    const network::LinkCounters* fromSwitch = system_.cabling().sentBySwitch(node.index().value(), port.hostPort);
    if (fromSwitch != nullptr) add(*fromSwitch, true);
  });
}

void Simulation::collectSwitch(report::Result& result) const {
  if (!system_.cabling().hasSwitch()) return;
  forEachPort(system_, [&](const HostNode& node, std::optional<AdapterIndex> adapter, const PortOf& port) {
    const network::SwitchCounters counters = system_.cabling().switchPort(node.index().value(), port.hostPort);
    result.switchPorts.push_back({node.index(), adapter, port.named, counters.forwarded,
                                  static_cast<std::uint64_t>(counters.highWater.count()), counters.droppedBuffer});
  });
}

void Simulation::addStuckFlows(report::Result& result) const {
  const bool wakeUpLost = result.failed();
  for (const auto& flow : workload_.flows()) {
    report::FailureResult failure;
    failure.host = HostIndex(flow->config().client);
    failure.adapter = AdapterIndex(flow->config().client_adapter);
    failure.since = result.simulated;
    if (!flow->problem().empty()) {
      failure.kind = "flow_failed";
      failure.message = "flow " + flow->name() + ": " + flow->problem();
    } else if (flow->corrupted() > 0) {
      failure.kind = "payload_corrupted";
      failure.entries = flow->corrupted();
      failure.message = "flow " + flow->name() + ": messages arrived with wrong content";
    } else if (!flow->finished() && !wakeUpLost && result.simulated < config_.run.timeLimit) {
      failure.kind = "flow_stuck";
      failure.message = "flow " + flow->name() + " waits for ever: nothing is pending any more";
    } else {
      continue;
    }
    result.failures.push_back(failure);
  }
}

}  // namespace hca::sim
