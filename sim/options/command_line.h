// The command line of hcasim, as a function.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/options/cosim_request.h"
#include "sim/options/exit_code.h"
#include "sim/options/run_request.h"
#include "sim/options/vm_request.h"

namespace hca::options {

/// What a command works with.
struct Environment {
  std::ostream& out;
  std::ostream& err;
  bool errIsTerminal = false;  ///< a progress bar may be drawn there
  RunFunction run;
  CosimFunction cosim;
  ServeFunction serve;
  AttachFunction attach;
  VfioFunction vfio{};
  VmFunction vm{};
  DrillFunction drill{};
};

/// Carries out `arguments` (without the program's name) and returns an ExitCode.
///
///   hcasim run CONFIG...            hcasim config check|show CONFIG...
///   hcasim cosim CMD [ARGS]         hcasim config reference
///   hcasim serve                    hcasim attach CMD [ARGS]
///   hcasim env                      hcasim completion bash
///   hcasim drill KIND [KEY=VALUE]
///   hcasim vm [CMD [ARGS]]
///
/// Results go to `out`; complaints, log lines and the progress bar to `err`.
[[nodiscard]] int runCommandLine(const std::vector<std::string>& arguments, const Environment& environment);

}  // namespace hca::options
