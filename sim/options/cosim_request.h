// What the command line asks of a co-simulation.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "sim/config/config.h"

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
};

/// Runs the programs; returns the status with which hcasim ends.
using CosimFunction = std::function<int(const CosimRequest&)>;

}  // namespace hca::options
