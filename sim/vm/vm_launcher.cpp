#include "sim/vm/vm_launcher.h"

#include <ostream>
#include <stdexcept>

#include "sim/cosim/guarded_launch.h"
#include "sim/cosim/run_folder.h"
#include "sim/vfio/function_simulation.h"
#include "sim/vm/guests.h"
#include "sim/vm/vm_result.h"

namespace hca::vm {
namespace {

using options::VmRequest;

void check(const VmRequest& request) {
  if (request.config.link.layer == network::LinkLayer::kInfiniBand) return;
  throw std::runtime_error(
      "link.layer=roce_v2: the stock driver would make a network device of an Ethernet port, which the adapter doesn't "
      "model; guests work with link.layer=infiniband. hcasim cosim runs verbs programs over RoCE");
}

void tellTroubles(const VmRequest& request, const Guests& guests) {
  for (const auto& guest : guests.all()) {
    for (const std::string& trouble : guest->troubles()) {
      request.err << "hcasim: " << guest->name() << " can't do: " << trouble << '\n';
    }
    for (const KernelLine& line : guest->kernelLog().warnings()) {
      if (!line.isDrivers) continue;
      request.err << "hcasim: " << guest->name() << "'s kernel has a"
                  << (line.level < KernelLevel::kWarning ? "n " : " ") << name(line.level) << ": " << line.text << '\n';
    }
  }
}

int run(const VmRequest& request) {
  check(request);
  const cosim::RunFolder folder(request.config, request.name);
  // Lives longer than the guests, whose processes wait for its answers until they end.
  vfio::FunctionSimulation simulation(request.config, folder.path(), {request.sync, request.observerFiles},
                                      request.err);
  VmResult result(request.config, simulation);
  int status = 0;
  {
    Guests guests(request, folder.path(), simulation);
    simulation.serve(guests);
    status = guests.status();
    tellTroubles(request, guests);
    if (!request.resultFile.empty()) result.write(request.resultFile, guests, request.err);
  }
  return status;
}

}  // namespace

int launch(const VmRequest& request) {
  return cosim::guardedLaunch(request.err, [&] { return run(request); });
}

}  // namespace hca::vm
