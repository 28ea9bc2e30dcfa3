#include <ostream>

#include "sim/config/config_text.h"
#include "sim/options/command.h"
#include "sim/options/load_config.h"

namespace hca::options {

int checkCommand(const Arguments& arguments, const Environment& environment) {
  const auto config = loadConfig(arguments, environment);
  if (!config) return kBadInput;
  environment.out << "no problem: " << config->hosts.size() << " hosts, " << config->flows.size()
                  << (config->flows.size() == 1 ? " flow\n" : " flows\n");
  return kDone;
}

int showCommand(const Arguments& arguments, const Environment& environment) {
  const auto config = loadConfig(arguments, environment);
  if (!config) return kBadInput;
  environment.out << config::effectiveIni(*config, arguments.has("doc"));
  return kDone;
}

int referenceCommand(const Arguments&, const Environment& environment) {
  environment.out << config::referenceMarkdown();
  return kDone;
}

int completionCommand(const Arguments&, const Environment& environment) {
  environment.out << bashCompletion(commands());
  return kDone;
}

}  // namespace hca::options
