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

}  // namespace

int cosimCommand(const Arguments& arguments, const Environment& environment) {
  std::vector<std::string> files;
  if (arguments.has("config")) files = arguments.values["config"].as<std::vector<std::string>>();
  const auto config = loadConfig(files, arguments, environment, config::Work::kElsewhere);
  if (!config) return kCosimBadInput;
  std::string problem;
  const std::string separator = arguments.has("sep") ? arguments.text("sep") : ":";
  const auto commands = splitCommands(arguments.operands, separator, config->host.count, problem);
  if (!commands) return refuse(environment, problem);
  CosimRequest request{*config,
                       *commands,
                       arguments.has("virtual-time"),
                       arguments.has("shared") || commands->size() > 1,
                       {},
                       environment.out,
                       environment.err};
  if (arguments.has("delay")) {
    const auto delay = parseDelay(arguments.text("delay"));
    if (!delay) return refuse(environment, "--delay: '" + arguments.text("delay") + "' is no number of seconds");
    request.startDelay = *delay;
  }
  for (const auto& [option, file] : {std::pair("json", &request.resultFile), {"log-verbs", &request.verbsLogFile}}) {
    const auto path = outputFile(arguments, option);
    if (!path)
      return refuse(environment, std::string("--") + option + ": '" + arguments.text(option) + "' can't be written");
    *file = *path;
  }
  return environment.cosim(request);
}

}  // namespace hca::options
