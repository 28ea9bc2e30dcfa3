// What is wrong with a configuration, and where.
#pragma once

#include <string>
#include <vector>

namespace hca::config {

/// Where a value came from: a line of a file, or an option of the command line.
struct Origin {
  std::string source;  ///< path as given, or the option as typed ("--set run.seed=1")
  int line = 0;        ///< from 1; 0 for an option
};

/// One complaint. Nothing runs while there is any.
struct Problem {
  Origin origin;
  std::string key;      ///< the key, "[section]", or "file" for the file as a whole
  std::string what;     ///< what is wrong, in words
  std::string nearest;  ///< the nearest known name; empty where that makes no sense
};

/// `file:line: key: what is wrong (nearest known: name)`, without a line end.
[[nodiscard]] std::string describe(const Problem& problem);

using Problems = std::vector<Problem>;

}  // namespace hca::config
