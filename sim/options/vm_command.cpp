#include <algorithm>
#include <filesystem>
#include <ostream>

#include "sim/options/command.h"
#include "sim/options/cosim_words.h"
#include "sim/options/load_config.h"
#include "sim/options/output_files.h"
#include "sim/options/vm_request.h"

namespace hca::options {
namespace {

namespace fs = std::filesystem;

// FILE or FILE:PATH; a folder or file of this machine, and where the guest finds it. Empty, or what is wrong.
std::string parseFile(const std::string& text, std::pair<std::string, std::string>& file) {
  const auto colon = text.find(':');
  file.first = text.substr(0, colon);
  if (file.first.empty() || !fs::exists(file.first)) return "--add: there is no file '" + file.first + "'";
  file.first = fs::absolute(file.first).lexically_normal().string();
  if (file.first.back() == '/') file.first.pop_back();
  file.second = colon == std::string::npos ? file.first : text.substr(colon + 1);
  if (file.second.size() < 2 || file.second[0] != '/') return "--add: '" + file.second + "' is no absolute path";
  file.second.erase(0, 1);
  return {};
}

std::string setFiles(const Arguments& arguments, VmRequest& request) {
  if (arguments.has("add")) {
    for (const std::string& text : arguments.values["add"].as<std::vector<std::string>>()) {
      request.files.emplace_back();
      if (const std::string problem = parseFile(text, request.files.back()); !problem.empty()) return problem;
    }
  }
  if (!arguments.has("module")) return {};
  for (const std::string& text : arguments.values["module"].as<std::vector<std::string>>()) {
    if (fs::path(text).extension() != ".ko") return "--module: '" + text + "' is no kernel module (.ko)";
    if (!fs::exists(text)) return "--module: there is no file '" + text + "'";
    request.files.emplace_back(fs::absolute(text).string(), "hcasim/modules/" + fs::path(text).filename().string());
  }
  return {};
}

std::string setSeconds(const Arguments& arguments, const char* option, std::chrono::milliseconds& span) {
  if (!arguments.has(option)) return {};
  const auto seconds = parseSeconds(arguments.text(option));
  if (!seconds) return std::string("--") + option + ": '" + arguments.text(option) + "' is no number of seconds";
  span = *seconds;
  return {};
}

std::string setMachine(const Arguments& arguments, VmRequest& request) {
  for (const auto& [option, file] : {std::pair("kernel", &request.kernel), {"initrd", &request.initrd}}) {
    *file = arguments.text(option);
    if (!file->empty() && !fs::exists(*file)) return std::string("--") + option + ": there is no file '" + *file + "'";
  }
  request.image = arguments.text("image");
  request.append = arguments.text("append");
  if (arguments.has("qemu")) request.qemu = arguments.text("qemu");
  request.qemuArguments = boost::program_options::split_unix(arguments.text("qemu-args"));
  if (arguments.has("memory")) request.memory = arguments.text("memory");
  if (arguments.has("processors")) {
    constexpr std::uint32_t kMost = 64;
    request.processors = parseHost(arguments.text("processors")).value_or(0);
    if (request.processors == 0 || request.processors > kMost) return "--processors: a number from 1 to 64 is needed";
  }
  if (!arguments.has("accel")) return {};
  const std::string accel = arguments.text("accel");
  if (accel != "tcg" && accel != "kvm" && accel != "auto") return "--accel: '" + accel + "' is none of tcg, kvm, auto";
  request.accelerator = accel == "kvm" ? Accelerator::kKvm : accel == "auto" ? Accelerator::kAuto : Accelerator::kTcg;
  return {};
}

std::string setRun(const Arguments& arguments, VmRequest& request) {
  request.name = arguments.text("name");
  if (arguments.has("name") && !isRunName(request.name)) return kNoRunName;
  request.showsKernelLog = arguments.has("kernel-log");
  for (const auto& [option, span] : {std::pair("delay", &request.startDelay), {"timeout", &request.timeout}}) {
    if (const std::string problem = setSeconds(arguments, option, *span); !problem.empty()) return problem;
  }
  const auto resultFile = outputFile(arguments, "json");
  if (!resultFile) return "--json: '" + arguments.text("json") + "' can't be written";
  request.resultFile = *resultFile;
  if (std::string problem = readObserverFiles(arguments, request.observerFiles); !problem.empty()) return problem;
  if (!arguments.has("sync")) return {};
  const auto sync = sim::parseSync(arguments.text("sync"));
  if (!sync || sync->kind == sim::Sync::Kind::kLockstep) {
    return "--sync: '" + arguments.text("sync") + "' is none of paced, paced:SCALE, free";
  }
  request.sync = *sync;
  return {};
}

// Commands, or the host of a shell. Empty, or what is wrong.
std::string setCommands(const Arguments& arguments, VmRequest& request) {
  const std::vector<std::string>& words = arguments.operands;
  const std::uint32_t hosts = request.config.host.count;
  if (words.empty() || (words.size() == 2 && words[0] == "-H")) {
    request.shellHost = words.empty() ? 0 : parseHost(words[1]);
    if (!request.shellHost) return "-H needs the number of a host";
    return *request.shellHost < hosts ? "" : noSuchHost(*request.shellHost, hosts);
  }
  std::string problem;
  const auto commands = splitCommands(words, arguments.has("sep") ? arguments.text("sep") : ":", hosts, problem);
  if (!commands) return problem;
  request.commands = *commands;
  for (auto command = commands->begin(); command != commands->end(); ++command) {
    const auto isSame = [&command](const CosimCommand& other) { return other.host == command->host; };
    if (std::find_if(commands->begin(), command, isSame) != command) {
      return "host " + std::to_string(command->host) + " has two commands: a guest runs one; sh -c 'A & B' joins two";
    }
  }
  return {};
}

}  // namespace

int vmCommand(const Arguments& arguments, const Environment& environment) {
  std::vector<std::string> files;
  std::vector<config::Setting> weak;
  if (arguments.has("config")) {
    files = arguments.values["config"].as<std::vector<std::string>>();
  } else {
    // The stock kernel driver arms behind its last poll and doesn't look again: adapters must compare.
    weak.push_back({"hcasim vm", "adapter.completion.arm_rule=ci_compare_once"});
  }
  const auto config = loadConfig(files, arguments, environment, config::Work::kElsewhere, weak);
  if (!config) return kCosimBadInput;
  VmRequest request{*config, {}, {}, environment.out, environment.err, {}};
  for (const auto set : {setCommands, setFiles, setMachine, setRun}) {
    const std::string problem = set(arguments, request);
    if (problem.empty()) continue;
    environment.err << "hcasim: " << problem << '\n';
    return kCosimBadInput;
  }
  return environment.vm(request);
}

}  // namespace hca::options
