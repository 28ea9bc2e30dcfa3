// One command of the command line.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

#include "sim/options/command_line.h"

namespace hca::options {

/// Options and operands of one call.
struct Arguments {
  boost::program_options::variables_map values;
  std::vector<std::string> operands;

  [[nodiscard]] bool has(const char* option) const { return values.count(option) != 0; }
  [[nodiscard]] std::string text(const char* option) const {
    return has(option) ? values[option].as<std::string>() : std::string();
  }
};

struct Command {
  std::vector<std::string> path;  ///< {"config", "check"}
  std::string operands;           ///< "CONFIG..."
  std::size_t leastOperands = 0;
  bool mostIsLeast = false;  ///< no more operands than that
  std::string summary;
  std::string details;  ///< shown by --help below the options; may be empty
  boost::program_options::options_description options;
  int (*handler)(const Arguments&, const Environment&) = nullptr;
  bool runsPrograms = false;  ///< the first operand and all behind it are another program's words

  /// "hcasim config check"
  [[nodiscard]] std::string name() const;
};

/// All commands, in the order in which --help lists them.
[[nodiscard]] const std::vector<Command>& commands();

/// The script that `hcasim completion bash` prints.
[[nodiscard]] std::string bashCompletion(const std::vector<Command>& all);

// Handlers.
int runCommand(const Arguments& arguments, const Environment& environment);
int cosimCommand(const Arguments& arguments, const Environment& environment);
int vfioCommand(const Arguments& arguments, const Environment& environment);
int vmCommand(const Arguments& arguments, const Environment& environment);
int serveCommand(const Arguments& arguments, const Environment& environment);
int attachCommand(const Arguments& arguments, const Environment& environment);
int drillCommand(const Arguments& arguments, const Environment& environment);
int envCommand(const Arguments& arguments, const Environment& environment);
int checkCommand(const Arguments& arguments, const Environment& environment);
int showCommand(const Arguments& arguments, const Environment& environment);
int referenceCommand(const Arguments& arguments, const Environment& environment);
int completionCommand(const Arguments& arguments, const Environment& environment);

}  // namespace hca::options
