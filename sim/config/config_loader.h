// From files and options to a Config.
#pragma once

#include <string>
#include <vector>

#include "sim/config/config.h"
#include "sim/config/config_sources.h"
#include "sim/config/problem.h"

namespace hca::config {

struct LoadedConfig {
  Config config;      ///< counts only if there are no problems
  Problems problems;  ///< all of them, by file and line
};

/// Whether a configuration without any flow or DMA stream is a problem.
enum class Work { kNeeded, kElsewhere };

/// Reads, checks and resolves a configuration. A value for one host is stronger than one for all hosts, wherever the
/// two were given; of two for the same section the stronger source's counts (see gatherSources).
[[nodiscard]] LoadedConfig loadConfig(const std::vector<std::string>& files, const std::vector<Setting>& settings,
                                      Work work = Work::kNeeded);

struct LoadedDrill {
  NamedDrill drill;   ///< counts only if there are no problems
  Problems problems;  ///< of the keys
};

/// A drill that is asked for while `config` runs; of `keys` the section doesn't matter.
[[nodiscard]] LoadedDrill loadDrill(const Config& config, const std::string& name, const std::vector<Assignment>& keys);

}  // namespace hca::config
