#include "sim/cosim/cosim_result.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

#include "sim/config/config_text.h"
#include "sim/report/result_json.h"
#include "sim/run/system_results.h"

namespace hca::cosim {

CosimResult::CosimResult(const config::Config& config, sim::System& system, std::string path)
    : config_(config), system_(system), path_(std::move(path)), interrupts_(system.probes()), async_(system.probes()) {}

// As the adapters counted: when a program takes an entry out of its queue nobody is told.
void CosimResult::collectQueues(report::Result& result) const {
  sim::forEachAdapter(system_, [&result](const sim::HostNode& node, const sim::AdapterNode& adapter) {
    for (const adapter::CqSummary& summary : adapter.hca().completion().summaries()) {
      report::CqResult cq;
      cq.host = node.index();
      cq.adapter = adapter.index();
      cq.cq = summary.number;
      cq.cqe = summary.entries - 1;
      cq.cqeSize = summary.entryBytes;
      cq.cqesWritten = summary.counters.cqes;
      cq.compressedSessions = summary.counters.compressedSessions;
      cq.overruns = summary.counters.overruns;
      cq.lost = summary.counters.lost;
      cq.highWater = summary.counters.highWater;
      cq.arms = summary.counters.arms;
      cq.events = summary.counters.events;
      cq.resizes = summary.counters.resizes;
      result.cqs.push_back(cq);
    }
  });
}

report::Result CosimResult::collect(Time now) const {
  report::Result result;
  result.name = config_.run.name;
  result.config = config::effectiveSections(config_);
  result.simulated = now;
  collectQueues(result);
  result.vectors = interrupts_.results([this](HostIndex host, AdapterIndex adapter, InterruptVector vector) {
    return system_.host(host.value()).adapter(adapter.value()).driver().completionVectorOf(vector);
  });
  result.asyncEvents = async_.results();
  sim::collectSystem(system_, result);
  return result;
}

void CosimResult::write(Time now, std::uint64_t forcedAdvances, const std::vector<report::HazardResult>& hazards,
                        const std::vector<report::FailureResult>& failures,
                        const std::vector<report::DrillResult>& drills) {
  report::Result result = collect(now);
  result.forcedAdvances = forcedAdvances;
  result.hazards = hazards;
  result.failures = failures;
  result.drills = drills;
  std::ofstream file(path_, std::ios::trunc);
  file << report::toJson(result);
  file.close();
  if (!file) std::fprintf(stderr, "hcasim: --json: '%s' can't be written: %s\n", path_.c_str(), std::strerror(errno));
}

}  // namespace hca::cosim
