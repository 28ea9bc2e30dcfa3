#include <fstream>
#include <optional>
#include <ostream>
#include <utility>

#include "sim/config/config_text.h"
#include "sim/logging/logging.h"
#include "sim/options/command.h"
#include "sim/options/load_config.h"
#include "sim/options/output_files.h"
#include "sim/options/progress_bar.h"
#include "sim/report/result_json.h"
#include "sim/report/result_table.h"

namespace hca::options {

namespace {

constexpr const char* kStandardOutput = "-";

spdlog::level::level_enum levelOf(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::kTrace:
      return spdlog::level::trace;
    case config::LogLevel::kDebug:
      return spdlog::level::debug;
    case config::LogLevel::kInfo:
      return spdlog::level::info;
    case config::LogLevel::kWarning:
      return spdlog::level::warn;
    case config::LogLevel::kError:
      return spdlog::level::err;
    case config::LogLevel::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::warn;
}

// Where results are written. Files are opened before the run: a long one isn't to end in "permission denied".
class Outputs {
 public:
  Outputs(const Arguments& arguments, const Environment& environment)
      : arguments_(arguments), environment_(environment) {}

  bool open() { return openFile("json", json_) && openFile("completions", completions_); }

  [[nodiscard]] bool quiet() const { return arguments_.has("quiet"); }
  [[nodiscard]] bool jsonToStandardOutput() const { return arguments_.text("json") == kStandardOutput; }
  /// Where people read.
  [[nodiscard]] std::ostream& reader() const { return jsonToStandardOutput() ? environment_.err : environment_.out; }
  [[nodiscard]] std::ostream* completions() { return arguments_.has("completions") ? &completions_ : nullptr; }

  /// False if something could not be written.
  bool write(const report::Result& result) {
    if (arguments_.has("json")) (jsonToStandardOutput() ? environment_.out : json_) << report::toJson(result);
    if (!quiet()) {
      reader() << report::toTable(result);
    } else {
      for (const report::FailureResult& failure : result.failures) {
        environment_.err << "hcasim: " << failure.kind << ": " << failure.message << '\n';
      }
    }
    return close("json", json_) && close("completions", completions_);
  }

 private:
  bool openFile(const char* option, std::ofstream& file) {
    if (!arguments_.has(option) || arguments_.text(option) == kStandardOutput) return true;
    file.open(arguments_.text(option), std::ios::binary);
    if (file) return true;
    environment_.err << "hcasim: --" << option << ": '" << arguments_.text(option) << "' can't be written\n";
    return false;
  }
  bool close(const char* option, std::ofstream& file) {
    if (!file.is_open()) return true;
    file.close();
    if (file) return true;
    environment_.err << "hcasim: --" << option << ": '" << arguments_.text(option) << "' could not be written\n";
    return false;
  }

  const Arguments& arguments_;
  const Environment& environment_;
  std::ofstream json_;
  std::ofstream completions_;
};

int refuse(const Environment& environment, const std::string& what) {
  environment.err << "hcasim: " << what << '\n';
  return kBadInput;
}

report::Result simulate(const config::Config& config, const Arguments& arguments, const Environment& environment,
                        const observers::ObserverFiles& files, Outputs& outputs) {
  ProgressBar bar(environment.err, config.run.progress && environment.errIsTerminal && !outputs.quiet());
  const bool tells = config.run.print == config::PrintMode::kEvents && !outputs.quiet();
  RunRequest request{config,
                     arguments.has("timing"),
                     tells ? &outputs.reader() : nullptr,
                     outputs.completions(),
                     files,
                     [&bar](double done) { bar.update(done); }};
  return environment.run(request);
}

}  // namespace

int runCommand(const Arguments& arguments, const Environment& environment) {
  const std::optional<config::Config> config = loadConfig(arguments, environment);
  if (!config) return kBadInput;
  if (arguments.text("completions") == kStandardOutput) return refuse(environment, "--completions: name a file");
  observers::ObserverFiles files;
  const std::string problem = readObserverFiles(arguments, files);
  if (!problem.empty()) return refuse(environment, problem);
  Outputs outputs(arguments, environment);
  if (!outputs.open()) return kBadInput;
  logging::configure(environment.err, levelOf(config->run.log));
  try {
    report::Result result = simulate(*config, arguments, environment, files, outputs);
    result.name = config->run.name;
    result.config = config::effectiveSections(*config);
    if (!outputs.write(result)) return kRunFailed;
    return result.failed() ? kRunFailed : kDone;
  } catch (const RunRefused& refusal) {
    return refuse(environment, refusal.what());
  }
}

}  // namespace hca::options
