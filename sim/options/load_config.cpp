#include "sim/options/load_config.h"

#include <ostream>

#include "sim/config/config_loader.h"
#include "sim/options/perftest_line.h"

namespace hca::options {

namespace {

// The flow of --like, weaker than --set. False if its command line isn't understood.
bool addLike(const Arguments& arguments, const Environment& environment, std::vector<config::Setting>& settings) {
  if (!arguments.has("like")) return true;
  const PerftestFlow flow = parsePerftest(arguments.text("like"));
  for (const auto& [key, value] : flow.keys) {
    settings.push_back({"--like", "flow." + flow.name + '.' + key + '=' + value});
  }
  if (!flow.problem.empty()) environment.err << "hcasim: --like: " << flow.problem << '\n';
  return flow.problem.empty();
}

// The short forms come last: they are stronger than --set.
void addSettings(const Arguments& arguments, std::vector<config::Setting>& settings) {
  if (arguments.has("set")) {
    for (const std::string& text : arguments.values["set"].as<std::vector<std::string>>()) {
      settings.push_back({"--set", text});
    }
  }
  if (arguments.has("seed")) settings.push_back({"--seed", "run.seed=" + arguments.text("seed")});
  if (arguments.has("log")) settings.push_back({"--log", "run.log=" + arguments.text("log")});
  if (arguments.has("strict-notify")) settings.push_back({"--strict-notify", "run.strict_notify=yes"});
}

}  // namespace

std::optional<config::Config> loadConfig(const std::vector<std::string>& files, const Arguments& arguments,
                                         const Environment& environment, config::Work work,
                                         const std::vector<config::Setting>& weak) {
  std::vector<config::Setting> settings = weak;
  if (!addLike(arguments, environment, settings)) return std::nullopt;
  addSettings(arguments, settings);
  config::LoadedConfig loaded = config::loadConfig(files, settings, work);
  if (loaded.problems.empty()) return std::move(loaded.config);
  for (const config::Problem& problem : loaded.problems) environment.err << describe(problem) << '\n';
  const std::size_t count = loaded.problems.size();
  environment.err << "hcasim: " << count << (count == 1 ? " problem" : " problems") << ", nothing was run\n";
  return std::nullopt;
}

std::optional<config::Config> loadConfig(const Arguments& arguments, const Environment& environment) {
  return loadConfig(arguments.operands, arguments, environment, config::Work::kNeeded);
}

}  // namespace hca::options
