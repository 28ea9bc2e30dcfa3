#include "sim/options/load_config.h"

#include <ostream>

#include "sim/config/config_loader.h"

namespace hca::options {

namespace {

// The short forms come last: they are stronger than --set.
std::vector<config::Setting> settingsOf(const Arguments& arguments) {
  std::vector<config::Setting> settings;
  if (arguments.has("set")) {
    for (const std::string& text : arguments.values["set"].as<std::vector<std::string>>()) {
      settings.push_back({"--set", text});
    }
  }
  if (arguments.has("seed")) settings.push_back({"--seed", "run.seed=" + arguments.text("seed")});
  if (arguments.has("log")) settings.push_back({"--log", "run.log=" + arguments.text("log")});
  if (arguments.has("strict-notify")) settings.push_back({"--strict-notify", "run.strict_notify=yes"});
  return settings;
}

}  // namespace

std::optional<config::Config> loadConfig(const Arguments& arguments, const Environment& environment) {
  config::LoadedConfig loaded = config::loadConfig(arguments.operands, settingsOf(arguments));
  if (loaded.problems.empty()) return std::move(loaded.config);
  for (const config::Problem& problem : loaded.problems) environment.err << describe(problem) << '\n';
  const std::size_t count = loaded.problems.size();
  environment.err << "hcasim: " << count << (count == 1 ? " problem" : " problems") << ", nothing was run\n";
  return std::nullopt;
}

}  // namespace hca::options
