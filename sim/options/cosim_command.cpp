#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "sim/logging/logging.h"
#include "sim/options/command.h"
#include "sim/options/cosim_words.h"
#include "sim/options/load_config.h"

namespace hca::options {
namespace {

int refuse(const Environment& environment, const std::string& what) {
  environment.err << "hcasim: " << what << '\n';
  return kCosimBadInput;
}

std::optional<std::chrono::milliseconds> parseDelay(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  constexpr double kLongest = 3600;
  if (text.empty() || *end != '\0' || !(seconds >= 0) || seconds > kLongest) return std::nullopt;
  return std::chrono::milliseconds(static_cast<long>(seconds * 1000));
}

// An absolute path, since programs may change their folder; empty if nothing is wanted, nothing if it can't be written.
std::optional<std::string> outputFile(const Arguments& arguments, const char* option) {
  if (!arguments.has(option)) return std::string();
  const std::string path = std::filesystem::absolute(arguments.text(option)).string();
  return std::ofstream(path, std::ios::trunc) ? std::optional<std::string>(path) : std::nullopt;
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
  if (!arguments.has("sync")) return {};
  const auto sync = sim::parseSync(arguments.text("sync"));
  if (!sync) return "--sync: '" + arguments.text("sync") + "' is none of lockstep, paced, paced:SCALE, free";
  request.sync = *sync;
  return {};
}

std::string nameOf(const Arguments& arguments) { return arguments.has("name") ? arguments.text("name") : "default"; }

bool isName(const std::string& name) {
  constexpr std::size_t kLongest = 32;  // the path of a socket is short
  const auto isPlain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; };
  return !name.empty() && name.size() <= kLongest && std::all_of(name.begin(), name.end(), isPlain);
}

}  // namespace

int serveCommand(const Arguments& arguments, const Environment& environment) {
  const auto config = configOf(arguments, environment);
  if (!config) return kCosimBadInput;
  ServeRequest request{*config, nameOf(arguments), environment.out, environment.err};
  if (!isName(request.name)) return refuse(environment, "--name: letters, digits, - and _ make a name");
  if (const std::string problem = setCommon(arguments, request); !problem.empty()) return refuse(environment, problem);
  return environment.serve(request);
}

namespace {
// [-H N] and then a command, or nothing for `env`.
int attach(const Arguments& arguments, const Environment& environment, bool hasCommand) {
  AttachRequest request{nameOf(arguments), 0, arguments.operands, environment.out, environment.err};
  if (!isName(request.name)) return refuse(environment, "--name: letters, digits, - and _ make a name");
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

int cosimCommand(const Arguments& arguments, const Environment& environment) {
  const auto config = configOf(arguments, environment);
  if (!config) return kCosimBadInput;
  std::string problem;
  const std::string separator = arguments.has("sep") ? arguments.text("sep") : ":";
  const auto commands = splitCommands(arguments.operands, separator, config->host.count, problem);
  if (!commands) return refuse(environment, problem);
  CosimRequest request{*config, *commands,       false,          arguments.has("shared") || commands->size() > 1,
                       {},      environment.out, environment.err};
  if (arguments.has("delay")) {
    const auto delay = parseDelay(arguments.text("delay"));
    if (!delay) return refuse(environment, "--delay: '" + arguments.text("delay") + "' is no number of seconds");
    request.startDelay = *delay;
  }
  problem = setCommon(arguments, request);
  if (!problem.empty()) return refuse(environment, problem);
  return environment.cosim(request);
}

}  // namespace hca::options
