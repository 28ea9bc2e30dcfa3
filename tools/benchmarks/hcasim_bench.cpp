// How fast hcasim is, in units of one SystemC activation (see Yardstick).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "models/kernel/activation_counter.h"
#include "sim/run/huge_heap.h"
#include "sim/run/simulation.h"
#include "tools/benchmarks/child_process.h"
#include "tools/benchmarks/heap_use.h"
#include "tools/benchmarks/yardstick.h"

// libsystemc refers to it; the benchmark brings its own main.
extern "C" int sc_main(int, char*[]) { return 0; }

namespace hca::bench {
namespace {

struct Measured {
  double seconds;
  double yardstick;  // seconds
  std::uint64_t messages;
  std::uint64_t activations;
  std::uint64_t entries;   // of the calendar
  std::int64_t heapBytes;  // that the run took and still holds at its end
};

config::Config twoHosts(const sim::FlowConfig& flow) {
  config::Config config;
  config.hosts.resize(config.host.count);
  config.flows.push_back({"flow", flow});
  return config;
}

// Observers off, payload on, bring-up not counted. The yardstick is measured on both sides of the run: other work on
// the machine then touches both figures alike.
Measured measure(const config::Config& config) {
  constexpr std::uint64_t kYardsticks = 1'000'000;
  Yardstick yardstick("yardstick");
  sim::Simulation::Options options;
  options.observe = false;
  sim::Simulation simulation(config, options);
  if (!simulation.bringUp().empty()) std::abort();
  const double yardstickBefore = yardstick.measure(kYardsticks);
  const std::int64_t heapBefore = heapUse();
  const std::uint64_t activationsBefore = kernel::activations();
  const std::uint64_t entriesBefore = simulation.system().calendar().executed();
  const auto begin = std::chrono::steady_clock::now();
  const report::Result result = simulation.run();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  if (result.failed()) std::abort();
  Measured measured{};
  measured.seconds = wall.count();
  for (const report::FlowResult& flow : result.flows) measured.messages += flow.iterations;
  measured.heapBytes = heapUse() - heapBefore;
  measured.activations = kernel::activations() - activationsBefore;
  measured.entries = simulation.system().calendar().executed() - entriesBefore;
  measured.yardstick = (yardstickBefore + yardstick.measure(kYardsticks)) / 2;
  return measured;
}

void setCounters(benchmark::State& state, const Measured& measured) {
  const auto messages = static_cast<double>(measured.messages);
  state.SetIterationTime(measured.seconds);
  state.SetItemsProcessed(static_cast<std::int64_t>(measured.messages));
  state.counters["kernel_activations_per_message"] = static_cast<double>(measured.activations) / messages;
  state.counters["calendar_entries_per_message"] = static_cast<double>(measured.entries) / messages;
  state.counters["yardsticks_per_message"] = measured.seconds / messages / measured.yardstick;
  state.counters["yardstick_ns"] = measured.yardstick * 1e9;
}

void report(benchmark::State& state, const config::Config& config) {
  for (auto unused : state) {
    (void)unused;
    setCounters(state, inChild([&] { return measure(config); }));
  }
}

// Beyond what a run with a single pair takes. Each pair of a flow is two queue pairs.
double heapOfQueuePair(config::Config config, std::int64_t heapBytes) {
  sim::FlowConfig& flow = config.flows.front().flow;
  const double further = 2.0 * (std::max(flow.qps, 2U) - 1);
  flow.qps = 1;
  const Measured single = inChild([&] { return measure(config); });
  return static_cast<double>(heapBytes - single.heapBytes) / further;
}

// What further messages cost, without the set-up of the queue pairs: the difference of two runs.
void reportFurther(benchmark::State& state, config::Config config) {
  for (auto unused : state) {
    (void)unused;
    const Measured less = inChild([&] { return measure(config); });
    for (config::NamedFlow& named : config.flows) named.flow.iters *= 3;
    Measured further = inChild([&] { return measure(config); });
    further.seconds -= less.seconds;
    further.messages -= less.messages;
    further.activations -= less.activations;
    further.entries -= less.entries;
    setCounters(state, further);
    if (config.flows.front().flow.qps == 1) continue;
    state.counters["heap_bytes_per_qp"] = heapOfQueuePair(config, less.heapBytes);
  }
}

sim::FlowConfig window(sim::FlowVerb verb, std::int64_t size, std::uint32_t iterations) {
  sim::FlowConfig flow;
  flow.kind = sim::FlowKind::kBandwidth;
  flow.verb = verb;
  flow.size = Bytes(size);
  flow.tx_depth = 128;
  flow.iters = iterations;
  return flow;
}

void rcWrite64BWindow128(benchmark::State& state) {
  report(state, twoHosts(window(sim::FlowVerb::kWrite, 64, 500'000)));
}
BENCHMARK(rcWrite64BWindow128)->Name("rc_write_64B_window128")->UseManualTime()->Iterations(1)->Repetitions(5);

void rcSend64BWindow128(benchmark::State& state) { report(state, twoHosts(window(sim::FlowVerb::kSend, 64, 300'000))); }
BENCHMARK(rcSend64BWindow128)->Name("rc_send_64B_window128")->UseManualTime()->Iterations(1);

void rcWrite4KiBWindow128(benchmark::State& state) {
  report(state, twoHosts(window(sim::FlowVerb::kWrite, 4096, 100'000)));
}
BENCHMARK(rcWrite4KiBWindow128)->Name("rc_write_4KiB_window128")->UseManualTime()->Iterations(1);

void rcWrite64BPingPong(benchmark::State& state) {
  sim::FlowConfig flow;
  flow.size = Bytes(64);
  flow.iters = 100'000;
  report(state, twoHosts(flow));
}
BENCHMARK(rcWrite64BPingPong)->Name("rc_write_64B_ping_pong")->UseManualTime()->Iterations(1);

// With as many messages under way as with one queue pair that has a window of 128.
void rcWrite64BManyQueuePairs(benchmark::State& state) {
  const auto pairs = static_cast<std::uint32_t>(state.range(0));
  sim::FlowConfig flow = window(sim::FlowVerb::kWrite, 64, 300'000 / pairs);
  flow.qps = pairs;
  flow.tx_depth = std::max(1U, 128 / pairs);
  reportFurther(state, twoHosts(flow));
}
BENCHMARK(rcWrite64BManyQueuePairs)
    ->Name("rc_write_64B_qps")
    ->Arg(1)
    ->Arg(100)
    ->Arg(10'000)
    ->UseManualTime()
    ->Iterations(1);

// Each host of the first half writes to one of the second.
void rcWrite64BManyHosts(benchmark::State& state) {
  config::Config config;
  config.host.count = static_cast<std::uint32_t>(state.range(0));
  config.hosts.resize(config.host.count);
  const std::uint32_t clients = config.host.count / 2;
  for (std::uint32_t client = 0; client < clients; ++client) {
    sim::FlowConfig flow = window(sim::FlowVerb::kWrite, 64, 400'000 / clients);
    flow.client = client;
    flow.server = clients + client;
    config.flows.push_back({"flow_" + std::to_string(client), flow});
  }
  report(state, config);
}
BENCHMARK(rcWrite64BManyHosts)->Name("rc_write_64B_hosts")->Arg(2)->Arg(16)->Arg(64)->UseManualTime()->Iterations(1);

}  // namespace
}  // namespace hca::bench

// As hcasim does it.
int main(int argc, char** argv) {
  hca::sim::preferHugePages();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
