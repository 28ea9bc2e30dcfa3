// One simulation whose adapters are driven by programs that bring their own driver.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/base/ids.h"
#include "sim/config/config.h"
#include "sim/drills/drill_bench.h"
#include "sim/observers/observer_files.h"
#include "sim/system/system.h"
#include "sim/time/sync.h"

namespace hca::vfio {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Where the folder of a run has a host's PCI function, as the kernel shows it: vendor, device, class, config,
/// iommu_group, ... For QEMU's `-device vfio-pci,sysfsdev=`.
[[nodiscard]] std::string functionFolder(const std::string& runFolder, HostIndex host, AdapterIndex adapter);
/// "0000:aa:00.0" for a host's first adapter, 0000:aa:01.0 for its second, ...
[[nodiscard]] std::string functionAddress(AdapterIndex adapter);

/// Serves the functions of all hosts to the processes that libhcasim_vfio.so is loaded into: emulated VFIO devices. No
/// driver runs here. A function belongs to the process that opened it until it closes it or ends; then it is reset and
/// what it could reach is forgotten.
///
/// Everything happens in the thread that calls `serve`.
class FunctionSimulation {
 public:
  struct Options {
    /// Paced or free; lockstep needs to know the threads of its programs, which nobody does here.
    sim::Sync sync{sim::Sync::Kind::kPaced, 1};
    observers::ObserverFiles files{};
  };
  /// `folder`: of the run, which holds the configuration (cosim::RunFolder). Makes the files by which programs find the
  /// functions, and the socket at which they report. `err`: for words to the user.
  /// Throws std::runtime_error if something can't be made, and for lockstep.
  FunctionSimulation(const config::Config& config, const std::string& folder, const Options& options,
                     std::ostream& err);
  ~FunctionSimulation();
  FunctionSimulation(const FunctionSimulation&) = delete;
  FunctionSimulation& operator=(const FunctionSimulation&) = delete;

  /// Hosts, adapters, probes. Behind the constructor and before `serve`, or from within `Programs`.
  [[nodiscard]] sim::System& system();
  /// Drills of the configuration, and those that `hcasim drill` asks for in the folder of the run.
  [[nodiscard]] sim::DrillBench& drills();

  /// What a program on `host` must find in its environment, LD_PRELOAD included (which keeps what is there).
  [[nodiscard]] Variables environment(HostIndex host) const;

  /// Whom the simulation serves.
  class Programs {
   public:
    /// Asked every few milliseconds, between stretches of simulation: true when nobody is left.
    virtual bool areOver() = 0;

   protected:
    ~Programs() = default;
  };
  /// Until the programs are over.
  void serve(Programs& programs);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hca::vfio
