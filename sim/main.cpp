// The hcasim program.
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "sim/cosim/launcher.h"
#include "sim/options/command_line.h"
#include "sim/run/huge_heap.h"
#include "sim/run/simulation.h"
#include "sim/vfio/vfio_launcher.h"
#include "sim/vm/vm_launcher.h"

// libsystemc refers to it; hcasim brings its own main and drives the kernel itself.
extern "C" int sc_main(int, char*[]) { return 0; }

namespace {

hca::report::Result simulate(const hca::options::RunRequest& request) {
  hca::sim::Simulation::Options options;
  options.timing = request.timing;
  options.events = request.events;
  options.completions = request.completions;
  options.files = request.files;
  options.progress = request.progress;
  return hca::sim::Simulation(request.config, options).run();
}

}  // namespace

int main(int argc, char** argv) {
  hca::sim::preferHugePages();
  const hca::options::Environment environment{
      std::cout,         std::cerr,          isatty(STDERR_FILENO) != 0, simulate,        hca::cosim::launch,
      hca::cosim::serve, hca::cosim::attach, hca::vfio::launch,          hca::vm::launch, hca::cosim::drill};
  return hca::options::runCommandLine(std::vector<std::string>(argv + 1, argv + argc), environment);
}
