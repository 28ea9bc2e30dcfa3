#include "sim/vfio/vfio_launcher.h"

#include "sim/cosim/cosim_result.h"
#include "sim/cosim/guarded_launch.h"
#include "sim/cosim/program_group.h"
#include "sim/cosim/run_folder.h"
#include "sim/vfio/function_simulation.h"

namespace hca::vfio {
namespace {

class Programs final : public FunctionSimulation::Programs {
 public:
  explicit Programs(cosim::ProgramGroup& group) : group_(group) {}
  bool areOver() override { return group_.areOver(); }

 private:
  cosim::ProgramGroup& group_;
};

int run(const options::VfioRequest& request) {
  const cosim::RunFolder folder(request.config, request.name);
  FunctionSimulation simulation(request.config, folder.path(), {request.sync, request.observerFiles}, request.err);
  cosim::ProgramGroup group(
      request.commands, [&simulation](std::uint32_t host) { return simulation.environment(HostIndex(host)); },
      request.startDelay, request.out);
  Programs programs(group);
  cosim::CosimResult result(request.config, simulation.system(), request.resultFile);
  simulation.serve(programs);
  if (!request.resultFile.empty()) {
    result.write(simulation.system().calendar().now(), 0, {}, {}, simulation.drills().results());
  }
  return group.status();
}

}  // namespace

int launch(const options::VfioRequest& request) {
  return cosim::guardedLaunch(request.err, [&] { return run(request); });
}

}  // namespace hca::vfio
