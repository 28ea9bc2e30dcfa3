// Programs that run together.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/cosim/output_prefixer.h"
#include "sim/cosim/program.h"
#include "sim/cosim/program_environment.h"
#include "sim/options/cosim_request.h"

namespace hca::cosim {

/// Several programs, which start one after the other while a simulation already serves: each when the one before
/// listens, or after `delay`.
class ProgramGroup {
 public:
  using EnvironmentOf = std::function<Variables(std::uint32_t host)>;
  /// `delay` 0: until the one before listens. `out`: gets what they print, each line after the host's name; a single
  /// program prints as this process does.
  ProgramGroup(std::vector<options::CosimCommand> commands, EnvironmentOf environmentOf,
               std::chrono::milliseconds delay, std::ostream& out);
  /// What still runs is ended: nobody serves it any more.
  ~ProgramGroup();
  ProgramGroup(const ProgramGroup&) = delete;
  ProgramGroup& operator=(const ProgramGroup&) = delete;

  /// Whether every process that still runs is one of `attached`, or waits for its children.
  [[nodiscard]] bool areAllAmong(const std::set<int>& attached);
  /// Starts the next one when its time has come; true when all have ended.
  [[nodiscard]] bool areOver();
  /// Of the first that ended badly, as a shell reports it; 0 if all went well.
  [[nodiscard]] int status() const { return status_; }

 private:
  [[nodiscard]] bool mayStart();
  void startNext();
  void closeOutputs();

  std::vector<options::CosimCommand> commands_;
  EnvironmentOf environmentOf_;
  std::chrono::milliseconds delay_;
  OutputPrefixer output_;
  std::vector<int> outputs_;
  std::vector<std::unique_ptr<Program>> running_;
  std::chrono::steady_clock::time_point started_;  // the last program
  std::chrono::steady_clock::time_point looked_;   // whether it listens
  bool hasServer_ = false;                         // one of them listened
  int status_ = 0;
};

}  // namespace hca::cosim
