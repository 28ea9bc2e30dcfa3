// Collects everything that was given: files with what they include, and options of the command line.
#pragma once

#include <string>
#include <vector>

#include "sim/config/ini_scanner.h"
#include "sim/config/problem.h"

namespace hca::config {

/// A value set on the command line.
struct Setting {
  std::string option;      ///< "--set", "--seed", ...
  std::string assignment;  ///< "section.key=value"
};

/// What one file, or the command line, assigns.
struct Layer {
  std::string source;
  std::vector<SectionHeader> headers;
  std::vector<Assignment> assignments;
};

struct GatheredSources {
  std::vector<Layer> layers;  ///< from the weakest to the strongest
  Problems problems;
  bool complete = true;  ///< false: a file is missing or empty, so that nothing can be said about what is not there
};

/// Reads `files` (a later one is stronger) and `settings` (stronger than any file, later ones stronger). An included
/// file is weaker than the file that includes it; its path is relative to that file.
[[nodiscard]] GatheredSources gatherSources(const std::vector<std::string>& files,
                                            const std::vector<Setting>& settings);

}  // namespace hca::config
