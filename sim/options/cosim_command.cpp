#include <algorithm>
#include <cctype>
#include <ostream>

#include "sim/logging/logging.h"
#include "sim/options/command.h"
#include "sim/options/cosim_words.h"
#include "sim/options/load_config.h"
#include "sim/options/output_files.h"

namespace hca::options {
namespace {

int refuse(const Environment& environment, const std::string& what) {
  environment.err << "hcasim: " << what << '\n';
  return kCosimBadInput;
}

std::optional<config::Config> configOf(const Arguments& arguments, const Environment& environment) {
  std::vector<std::string> files;
  if (arguments.has("config")) files = arguments.values["config"].as<std::vector<std::string>>();
  return loadConfig(files, arguments, environment, config::Work::kElsewhere);
}

// What cosim and serve have in common; empty, or what is wrong.
template <class Request>
std::string setCommon(const Arguments& arguments, Request& request) {
  request.hasVirtualTime = arguments.has("virtual-time");
  for (const auto& [option, file] : {std::pair("json", &request.resultFile), {"log-verbs", &request.verbsLogFile}}) {
    const auto path = outputFile(arguments, option);
    if (!path) return std::string("--") + option + ": '" + arguments.text(option) + "' can't be written";
    *file = *path;
  }
  if (std::string problem = readObserverFiles(arguments, request.observerFiles); !problem.empty()) return problem;
  if (!arguments.has("sync")) return {};
  const auto sync = sim::parseSync(arguments.text("sync"));
  if (!sync) return "--sync: '" + arguments.text("sync") + "' is none of lockstep, paced, paced:SCALE, free";
  request.sync = *sync;
  return {};
}

std::string nameOf(const Arguments& arguments) { return arguments.has("name") ? arguments.text("name") : "default"; }

}  // namespace

int serveCommand(const Arguments& arguments, const Environment& environment) {
  const auto config = configOf(arguments, environment);
  if (!config) return kCosimBadInput;
  ServeRequest request{*config, nameOf(arguments), environment.out, environment.err};
  if (!isRunName(request.name)) return refuse(environment, kNoRunName);
  if (const std::string problem = setCommon(arguments, request); !problem.empty()) return refuse(environment, problem);
  return environment.serve(request);
}

namespace {
// [-H N] and then a command, or nothing for `env`.
int attach(const Arguments& arguments, const Environment& environment, bool hasCommand) {
  AttachRequest request{nameOf(arguments), 0, arguments.operands, environment.out, environment.err};
  if (!isRunName(request.name)) return refuse(environment, kNoRunName);
  if (!request.words.empty() && request.words[0] == "-H") {
    const auto host = request.words.size() < 2 ? std::nullopt : parseHost(request.words[1]);
    if (!host) return refuse(environment, "-H needs the number of a host");
    request.host = *host;
    request.words.erase(request.words.begin(), request.words.begin() + 2);
  }
  if (hasCommand && request.words.empty()) return refuse(environment, "a command is missing");
  if (!hasCommand && !request.words.empty())
    return refuse(environment, "'" + request.words[0] + "' is one word too many");
  return environment.attach(request);
}
}  // namespace

int attachCommand(const Arguments& arguments, const Environment& environment) {
  return attach(arguments, environment, true);
}
int envCommand(const Arguments& arguments, const Environment& environment) {
  return attach(arguments, environment, false);
}

namespace {
// The commands of a command line and how they are started, into a request that has `config`; empty, or what is wrong.
template <class Request>
std::string setPrograms(const Arguments& arguments, Request& request) {
  std::string problem;
  const std::string separator = arguments.has("sep") ? arguments.text("sep") : ":";
  const auto commands = splitCommands(arguments.operands, separator, request.config.host.count, problem);
  if (!commands) return problem;
  request.commands = *commands;
  if (!arguments.has("delay")) return {};
  const auto delay = parseSeconds(arguments.text("delay"));
  if (!delay) return "--delay: '" + arguments.text("delay") + "' is no number of seconds";
  request.startDelay = *delay;
  return {};
}
}  // namespace

int cosimCommand(const Arguments& arguments, const Environment& environment) {
  const auto config = configOf(arguments, environment);
  if (!config) return kCosimBadInput;
  CosimRequest request{*config, {}, false, false, {}, environment.out, environment.err};
  std::string problem = setPrograms(arguments, request);
  if (problem.empty()) problem = setCommon(arguments, request);
  if (!problem.empty()) return refuse(environment, problem);
  if (arguments.has("name")) {
    request.name = arguments.text("name");
    if (!isRunName(request.name)) return refuse(environment, kNoRunName);
  }
  request.isShared = arguments.has("shared") || arguments.has("name") || request.commands.size() > 1;
  return environment.cosim(request);
}

int vfioCommand(const Arguments& arguments, const Environment& environment) {
  const auto config = configOf(arguments, environment);
  if (!config) return kCosimBadInput;
  VfioRequest request{*config, {}, {}, environment.out, environment.err};
  std::string problem = setPrograms(arguments, request);
  if (problem.empty()) problem = readObserverFiles(arguments, request.observerFiles);
  if (!problem.empty()) return refuse(environment, problem);
  const auto resultFile = outputFile(arguments, "json");
  if (!resultFile) return refuse(environment, "--json: '" + arguments.text("json") + "' can't be written");
  request.resultFile = *resultFile;
  if (arguments.has("sync")) {
    const auto sync = sim::parseSync(arguments.text("sync"));
    if (!sync)
      return refuse(environment, "--sync: '" + arguments.text("sync") + "' is none of paced, paced:SCALE, free");
    request.sync = *sync;
  }
  request.name = arguments.text("name");
  if (arguments.has("name") && !isRunName(request.name)) return refuse(environment, kNoRunName);
  return environment.vfio(request);
}

}  // namespace hca::options
