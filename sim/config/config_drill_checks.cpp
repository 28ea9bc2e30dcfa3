// What a drill must not ask for.
#include <string>
#include <vector>

#include "sim/config/config_checks.h"
#include "sim/config/nearest_name.h"
#include "sim/config/section_schema.h"
#include "sim/drills/drill_kinds.h"

namespace hca::config {

void ConfigChecker::checkDrills() {
  for (const NamedDrill& named : config_.drills) checkDrill(named);
}

void ConfigChecker::checkDrill(const NamedDrill& named) {
  const sim::DrillConfig& drill = named.drill;
  const std::string section = std::string(sim::kDrillSection) + '.' + named.name;
  if (isBad(section, "kind")) return;
  std::vector<std::string> given;
  for (const auto& [key, text] : keyTexts(drill)) {
    if (values_.find(section, key)) given.push_back(key);
  }
  for (const sim::DrillProblem& problem : sim::drillProblems(drill, given)) {
    const bool isOpcode = problem.key == "opcode" && !drill.opcode.empty();
    complain(section, problem.key, problem.what,
             isOpcode ? nearestName(drill.opcode, sim::opcodeNames()) : std::string());
  }
  if (drill.kind == sim::DrillKind::kNone) return;
  if (drill.host >= config_.hosts.size()) {
    return complain(section, "host",
                    std::to_string(drill.host) + " is no host: hosts are numbered 0 to " +
                        std::to_string(config_.hosts.size() - 1));
  }
  if (!checkAdapter(section, "adapter", drill.host, drill.adapter)) return;
  const adapter::HcaConfig& hca = config_.hosts[drill.host].adapterSections(drill.adapter).adapter;
  if (drill.port > hca.device.ports) complain(section, "port", std::to_string(drill.port) + " is no port of it");
  if (drill.vector >= hca.event.vectors) {
    complain(section, "vector",
             std::to_string(drill.vector) + " is no vector of it: they are numbered 0 to " +
                 std::to_string(hca.event.vectors - 1));
  }
}

}  // namespace hca::config
