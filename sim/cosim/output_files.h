// What a co-simulation leaves behind.
#pragma once

#include <string>

namespace hca::cosim {

/// Absolute paths; empty: not wanted.
struct OutputFiles {
  std::string result;    ///< JSON
  std::string verbsLog;  ///< see VerbsLog
};

}  // namespace hca::cosim
