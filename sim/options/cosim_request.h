// What the command line asks of a co-simulation.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/config.h"
#include "sim/observers/observer_files.h"
#include "sim/time/sync.h"

namespace hca::options {

/// A program with its arguments, and the host it runs on.
struct CosimCommand {
  std::uint32_t host = 0;
  std::vector<std::string> words;
};

struct CosimRequest {
  const config::Config& config;
  std::vector<CosimCommand> commands;
  bool hasVirtualTime = false;             ///< programs live in simulated time
  bool isShared = false;                   ///< one simulation process for all; else inside the one program
  std::chrono::milliseconds startDelay{};  ///< between commands; 0: until the one before listens
  std::ostream& out;
  std::ostream& err;
  std::string resultFile{};    ///< absolute, as the next one; empty: none
  std::string verbsLogFile{};  ///< lines for verbs, commands and doorbells
  observers::ObserverFiles observerFiles{};
  sim::Sync sync{};
  std::string name{};  ///< by which hcasim drill finds it; empty: not at all
};

/// Programs that bring their own driver.
struct VfioRequest {
  const config::Config& config;
  std::vector<CosimCommand> commands;
  std::chrono::milliseconds startDelay{};  ///< as in CosimRequest
  std::ostream& out;
  std::ostream& err;
  sim::Sync sync{sim::Sync::Kind::kPaced, 1};
  std::string name{};  ///< as in CosimRequest, as the next
  std::string resultFile{};
  observers::ObserverFiles observerFiles{};
};

/// A simulation that waits for programs of other terminals.
struct ServeRequest {
  const config::Config& config;
  std::string name;
  std::ostream& out;
  std::ostream& err;
  bool hasVirtualTime = false;
  sim::Sync sync{};
  std::string resultFile{};
  std::string verbsLogFile{};
  observers::ObserverFiles observerFiles{};
};

/// A program that is to run on a host of a simulation that is served.
struct AttachRequest {
  std::string name;
  std::uint32_t host = 0;
  std::vector<std::string> words;  ///< empty: print the variables that it would get
  std::ostream& out;
  std::ostream& err;
};

/// Something is to go wrong in a simulation that runs.
struct DrillRequest {
  std::string folder;  ///< of the run; empty: that of `name`
  std::string name;
  std::vector<std::pair<std::string, std::string>> keys;  ///< of a [drill.NAME] section
  std::ostream& out;
  std::ostream& err;
};

/// Return the status with which hcasim ends.
using ServeFunction = std::function<int(const ServeRequest&)>;
using DrillFunction = std::function<int(const DrillRequest&)>;
using AttachFunction = std::function<int(const AttachRequest&)>;
/// Runs the programs; returns the status with which hcasim ends.
using CosimFunction = std::function<int(const CosimRequest&)>;
using VfioFunction = std::function<int(const VfioRequest&)>;

}  // namespace hca::options
