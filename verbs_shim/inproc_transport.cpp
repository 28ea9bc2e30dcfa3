// The simulation in this process.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "verbs_shim/channel/environment.h"
#include "verbs_shim/channel/inproc.h"
#include "verbs_shim/channel_client.h"
#include "verbs_shim/guarded_copy.h"
#include "verbs_shim/register_trap.h"
#include "verbs_shim/settings.h"
#include "verbs_shim/transport.h"

namespace hca::shim {
namespace {

channel::InprocSimulation simulation;

// The lock lives as long as the process: a second one would have a fabric of its own.
int takeLock() {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", settings().runFolder, channel::kLockFile);
  const int fd = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    complain("'%s' can't be opened: %s", path, "the folder of the run is gone");
    return ENODEV;
  }
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
  complain(
      "another process has the device open, and the simulation runs inside that process; for several processes "
      "use: hcasim cosim --shared");
  close(fd);
  return EBUSY;
}

int connect() {
  if (settings().inprocLibrary == nullptr) return ENODEV;
  if (const int error = takeLock(); error != 0) return error;
  void* library = dlopen(settings().inprocLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    complain("the simulation can't be loaded: %s", dlerror());
    return ENODEV;
  }
  const auto start = reinterpret_cast<channel::InprocStart>(dlsym(library, channel::kInprocStartSymbol));
  if (start == nullptr) {
    complain("'%s' is no simulation of this version of hcasim", settings().inprocLibrary);
    return ENODEV;
  }
  char config[PATH_MAX];
  snprintf(config, sizeof config, "%s/%s", settings().runFolder, channel::kConfigFile);
  installTrap();
  const channel::InprocParameters parameters{
      channel::kProtocolVersion, settings().host, config, guardedCopy, adoptThread, [] {
        return hasDeferredSignal() ? 1 : 0;
      }};
  char problem[512] = "";
  if (start(&parameters, &simulation, problem, sizeof problem) == 0) return 0;
  complain("%s", problem);
  return ENODEV;
}

uint32_t attachThread(int threadId) { return simulation.attachThread(simulation.self, threadId); }

void call(uint32_t thread, const channel::Request& request, channel::Reply& reply) {
  simulation.call(simulation.self, thread, &request, &reply);
}

}  // namespace

// A child has a copy of the simulation's memory, but none of its threads.
const Transport inprocTransport{
    connect, attachThread, call, [] { simulation.end(simulation.self); }, [] { return false; }, [] {}, [] {}};

}  // namespace hca::shim
