// What the command line asks of a co-simulation.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "sim/config/config.h"
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
  sim::Sync sync{};
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
};

/// A program that is to run on a host of a simulation that is served.
struct AttachRequest {
  std::string name;
  std::uint32_t host = 0;
  std::vector<std::string> words;  ///< empty: print the variables that it would get
  std::ostream& out;
  std::ostream& err;
};

/// Return the status with which hcasim ends.
using ServeFunction = std::function<int(const ServeRequest&)>;
using AttachFunction = std::function<int(const AttachRequest&)>;
/// Runs the programs; returns the status with which hcasim ends.
using CosimFunction = std::function<int(const CosimRequest&)>;

}  // namespace hca::options
