// How hcasim ends.
#pragma once

namespace hca::options {

enum ExitCode : int {
  kDone = 0,
  kRunFailed = 1,  ///< the simulation ran and something in it failed
  kBadInput = 2,   ///< nothing ran: options, files or values are wrong
  kFault = 3,      ///< a fault of hcasim

  // Of `hcasim cosim`, whose other statuses are the programs' own.
  kCosimStuck = 124,     ///< every program waits, and nothing will ever happen
  kCosimFault = 125,     ///< a fault of hcasim
  kCosimBadInput = 126,  ///< nothing ran
};

}  // namespace hca::options
