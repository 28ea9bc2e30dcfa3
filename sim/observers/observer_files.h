// What observers of a system write, by command line.
#pragma once

#include <array>
#include <string>

namespace hca::observers {

/// Absolute paths; empty: not wanted.
struct ObserverFiles {
  std::string commandLog;  ///< see CommandLog
  std::string entryLog;    ///< see EntryLog
};

/// How a file is asked for.
struct ObserverFileOption {
  const char* option;    ///< of every command that runs a simulation
  const char* variable;  ///< tells a simulation inside a program
  std::string ObserverFiles::*path;
  const char* help;
};

inline constexpr std::array<ObserverFileOption, 2> kObserverFileOptions{{
    {"log-commands", "HCASIM_LOG_COMMANDS", &ObserverFiles::commandLog,
     "write a line for every command of the adapters' command interfaces, with all of its fields; as JSON if FILE ends "
     "in .jsonl"},
    {"log-entries", "HCASIM_LOG_ENTRIES", &ObserverFiles::entryLog,
     "write a line for every completion and event queue entry that an adapter writes"},
}};

}  // namespace hca::observers
