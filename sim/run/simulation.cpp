#include "sim/run/simulation.h"

#include <chrono>
#include <utility>

#include "models/kernel/activation_counter.h"
#include "sim/config/config_text.h"
#include "sim/driver/thread_client.h"

namespace hca::sim {

namespace {

constexpr AdapterIndex kOnlyAdapter(0);

constexpr std::pair<adapter::CachedObject, const char*> kAdapterCaches[] = {
    {adapter::CachedObject::kQpContext, "qp_context"},     {adapter::CachedObject::kCqContext, "cq_context"},
    {adapter::CachedObject::kMemoryKey, "memory_key"},     {adapter::CachedObject::kTranslation, "translation"},
    {adapter::CachedObject::kWorkRequest, "work_request"},
};

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

std::unique_ptr<driver::VerbsClient> Simulation::makeThread(HostIndex host, std::uint32_t core,
                                                            const std::string& name) {
  HostNode& node = system_.host(host.value());
  return std::make_unique<driver::ThreadClient>(node.environment(), node.driver(), config_.hosts[host.value()].driver,
                                                system_.probes(), core, name);
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
        observers_->latency().measureFrom(side.client().host(), kOnlyAdapter, side.qpNumber(i), when);
      }
    });
  }
}

void Simulation::makeDma() {
  for (const config::NamedDma& named : config_.dma) {
    HostNode& node = system_.host(named.dma.host);
    dma_.add(named.name, named.dma, {system_.calendar(), node.endpoint(), node.memory(), node.memoryTiming()},
             config_.run.seed);
  }
}

void Simulation::stopIfFinished() {
  if (workload_.finished() && dma_.finished()) system_.stop();
}

void Simulation::attachCompletionRecorder() {
  if (options_.completions == nullptr) return;
  completions_ = std::make_unique<observers::CompletionRecorder>(system_.probes(), *options_.completions);
}

void Simulation::nameQueuePairs(const Flow& flow) {
  for (const FlowEndpoint* side : {&flow.clientSide(), &flow.serverSide()}) {
    for (std::uint32_t i = 0; i < flow.config().qps; ++i) {
      completions_->describe(side->client().host(), side->qpNumber(i), flow.name());
      completions_->describe(side->client().host(), side->receiverNumber(i), flow.name());
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
    settings.showsQueue = [race](const observe::CqEvent& event) { return event.host.value() == race->server; };
  }
  settings.now = [this] { return system_.calendar().now(); };
  settings.showsInterrupt = [this](const observe::InterruptEvent& event) {
    return system_.host(event.host.value()).driver().completionVectorOf(event.vector).has_value();
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
    for (std::size_t i = 0; i < system_.hosts(); ++i) {
      const pcie::WaitState state = system_.host(i).pcieLink().waitState(pcie::Link::Direction::kUpstream);
      if (state.classes[static_cast<std::size_t>(pcie::TlpClass::kPosted)].bursts != 0) return true;
    }
    return false;
  };
  Time onTheWay = microseconds(50);
  for (const config::HostSections& host : config_.hosts) onTheWay = later(onTheWay, host.pcie.writeLatency * 2);
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
        pairs.push_back({flow->clientSide().client().host(), kOnlyAdapter, flow->clientSide().qpNumber(i)});
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
  for (const auto& stream : dma_.streams()) result.dma.push_back(stream->result());
}

void Simulation::collectCaches(report::Result& result) const {
  for (std::size_t i = 0; i < system_.hosts(); ++i) {
    const HostNode& node = system_.host(i);
    const auto add = [&](const char* name, const auto& counters) {
      result.caches.push_back({node.index(), name, counters.hits, counters.misses, counters.evictions});
    };
    for (const auto& [what, name] : kAdapterCaches) {
      if (const auto counters = node.adapter().caches().counters(what)) add(name, *counters);
    }
    const host::MemoryTiming* memory = node.memoryTiming();
    if (memory == nullptr) continue;
    if (memory->iommu() != nullptr) add("iotlb", memory->iommu()->counters());
    if (memory->cache() != nullptr) {
      add("last_level_reads", memory->cache()->reads());
      add("last_level_writes", memory->cache()->writes());
    }
  }
}

void Simulation::collectQueues(report::Result& result) {
  if (!observers_) return;
  for (std::size_t i = 0; i < system_.hosts(); ++i) {
    const HostNode& node = system_.host(i);
    for (const adapter::CqSummary& cq : node.adapter().completion().summaries()) {
      observers_->queues().describe(node.index(), kOnlyAdapter, cq.number, cq.entries - 1, cq.entryBytes);
    }
  }
  observers_->collect(
      [this](HostIndex host, AdapterIndex, InterruptVector vector) {
        return system_.host(host.value()).driver().completionVectorOf(vector);
      },
      result);
  for (report::CqResult& cq : result.cqs) {
    for (const adapter::CqSummary& summary : system_.host(cq.host.value()).adapter().completion().summaries()) {
      if (summary.number != cq.cq) continue;
      cq.overruns = summary.counters.overruns;
      cq.lost = summary.counters.lost;
      cq.resizes = summary.counters.resizes;
    }
  }
}

void Simulation::collectPcie(report::Result& result) const {
  using Direction = pcie::Link::Direction;
  for (std::size_t i = 0; i < system_.hosts(); ++i) {
    const HostNode& node = system_.host(i);
    for (const Direction direction : {Direction::kUpstream, Direction::kDownstream}) {
      const pcie::TrafficCount sum = pcie::total(node.pcieLink().counts(direction));
      report::PcieResult entry;
      entry.host = node.index();
      entry.direction = direction == Direction::kUpstream ? report::PcieResult::Direction::kUpstream
                                                          : report::PcieResult::Direction::kDownstream;
      entry.tlps = sum.tlps;
      entry.bytes = sum.bytes;
      const double span = static_cast<double>(result.simulated.count());
      entry.utilisation = span > 0 ? static_cast<double>(sum.busy.count()) / span : 0;
      result.pcie.push_back(entry);
    }
  }
}

void Simulation::collectDrops(report::Result& result) const {
  for (std::size_t i = 0; i < system_.hosts(); ++i) {
    const HostNode& node = system_.host(i);
    const adapter::PacketDispatcher::Drops& packets = node.adapter().dispatcher().drops();
    const network::LinkCounters& link = system_.cabling().sent(i);
    const network::SwitchCounters port = system_.cabling().switchPort(i);
    const std::pair<const char*, std::uint64_t> reasons[] = {
        {"packet_corrupted", packets.corrupted},
        {"packet_unknown_qp", packets.unknownQp},
        {"packet_wrong_service", packets.wrongService},
        {"packet_wrong_state", packets.wrongState},
        {"packet_wrong_partition", packets.wrongPartition},
        {"packet_wrong_queue_key", packets.wrongQueueKey},
        {"packet_not_member", packets.notMember},
        {"message_dropped", node.adapter().responder().unreliableDrops()},
        {"packet_link_down", link.droppedDown},
        {"packet_wrong_destination", link.droppedDestination},
        {"packet_lost", link.lost},
        {"switch_buffer_full", port.droppedBuffer},
        {"switch_unknown_destination", port.droppedDestination},
        {"doorbell_ignored", node.adapter().sendQueue().ignoredDoorbells()},
        {"register_write_ignored", node.adapter().decoder().ignoredWrites()},
        {"dma_write_failed", node.rootComplex().counters().writeErrors},
        {"dma_read_failed", node.rootComplex().counters().readErrors},
    };
    for (const auto& [reason, count] : reasons) {
      if (count > 0) result.drops.push_back({node.index(), kOnlyAdapter, reason, count});
    }
  }
}

void Simulation::collectFaults(report::Result& result) const {
  for (std::size_t i = 0; i < system_.hosts(); ++i) {
    const auto add = [&](const network::LinkCounters& link, bool fromSwitch) {
      if (link.lost + link.corrupted + link.duplicated + link.held == 0) return;
      result.faults.push_back(
          {system_.host(i).index(), fromSwitch, link.lost, link.corrupted, link.duplicated, link.held});
    };
    add(system_.cabling().sent(i), false);
    const network::LinkCounters* fromSwitch = system_.cabling().sentBySwitch(i);
    if (fromSwitch != nullptr) add(*fromSwitch, true);
  }
}

void Simulation::collectSwitch(report::Result& result) const {
  if (!system_.cabling().hasSwitch()) return;
  for (std::size_t i = 0; i < system_.hosts(); ++i) {
    const network::SwitchCounters port = system_.cabling().switchPort(i);
    result.switchPorts.push_back({system_.host(i).index(), port.forwarded,
                                  static_cast<std::uint64_t>(port.highWater.count()), port.droppedBuffer});
  }
}

void Simulation::addStuckFlows(report::Result& result) const {
  const bool wakeUpLost = result.failed();
  for (const auto& flow : workload_.flows()) {
    report::FailureResult failure;
    failure.host = HostIndex(flow->config().client);
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
