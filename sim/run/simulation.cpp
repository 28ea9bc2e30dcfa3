#include "sim/run/simulation.h"

#include <chrono>
#include <optional>
#include <utility>

#include "models/kernel/activation_counter.h"
#include "sim/config/config_text.h"
#include "sim/driver/thread_client.h"
#include "sim/run/system_results.h"

namespace hca::sim {

namespace {

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
      files_(system_.probes(), options_.files),
      drills_(system_, config_),
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
      const driver::VerbsClient& client = side->client();
      for (const QpNumber number : {side->qpNumber(i), side->receiverNumber(i)}) {
        completions_->describe(client.host(), client.adapter(), number, flow.name());
      }
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
    result.drills = drills_.results();
    return result;
  }
  runFlows();
  result.simulated = ended_;
  collectFlows(result);
  collectDma(result);
  collectQueues(result);
  collectSystem(system_, result);
  addStuckFlows(result);
  result.drills = drills_.results();
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
      cq.compressedSessions = summary.counters.compressedSessions;
    }
  }
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
