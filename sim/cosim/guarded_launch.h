// How every command that starts programs begins and ends.
#pragma once

#include <exception>
#include <ostream>

#include "sim/cosim/termination.h"
#include "sim/options/exit_code.h"

namespace hca::cosim {

/// The status of `run`, which the user may end by a signal. If it throws, the words go to `err` and nothing was done.
template <class Run>
int guardedLaunch(std::ostream& err, Run run) {
  const Termination termination;
  try {
    return run();
  } catch (const std::exception& error) {
    err << "hcasim: " << error.what() << '\n';
    return options::kCosimBadInput;
  }
}

}  // namespace hca::cosim
