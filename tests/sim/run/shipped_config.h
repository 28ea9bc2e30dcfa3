// Loads and runs configurations of configs/.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/config/config_loader.h"
#include "sim/run/simulation.h"

namespace hca::test {

inline config::Config loadShipped(const std::string& name, const std::vector<config::Setting>& settings = {}) {
  config::LoadedConfig loaded = config::loadConfig({std::string(HCASIM_CONFIGS) + "/" + name}, settings);
  EXPECT_TRUE(loaded.problems.empty());
  return loaded.config;
}

inline report::Result runConfig(const config::Config& config, Time quantum = sim::System::kQuantum) {
  sim::Simulation::Options options;
  options.quantum = quantum;
  return sim::Simulation(config, options).run();
}

/// Each of `assignments` as by --set.
inline report::Result runShipped(const std::string& name, const std::vector<std::string>& assignments = {}) {
  std::vector<config::Setting> settings;
  for (const std::string& assignment : assignments) settings.push_back({"--set", assignment});
  return runConfig(loadShipped(name, settings));
}

}  // namespace hca::test
