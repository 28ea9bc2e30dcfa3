#include "verbs_shim/path_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs_shim/settings.h"

namespace hca::shim {
namespace {

constexpr const char* kDevicePrefix = "/dev/infiniband/uverbs";
// A character device that everybody may open; the `dev` file of the served tree names its number.
constexpr const char* kStandIn = "/dev/null";

// The classes that a host's folder holds in full: devices of the machine itself are not to be seen beside ours.
constexpr const char* kServed[] = {"/sys/class/infiniband", "/sys/class/infiniband_verbs", "/sys/class/infiniband_mad",
                                   "/dev/infiniband"};

bool isBelow(const char* path, const char* folder) {
  const size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

}  // namespace

MappedPath::MappedPath(const char* path) : path_(path) {
  if (path == nullptr || path[0] != '/' || settings().runFolder == nullptr) return;
  bool isServed = false;
  for (const char* folder : kServed) isServed = isServed || isBelow(path, folder);
  // It names the rate of the time stamp counter.
  if (settings().tscKilohertz != 0) isServed = isServed || strcmp(path, "/proc/cpuinfo") == 0;
  if (!isServed) return;
  const int length = snprintf(buffer_, sizeof buffer_, "%s/host%u%s", settings().runFolder, settings().host, path);
  if (length < 0 || static_cast<size_t>(length) >= sizeof buffer_) return;
  path_ = buffer_;
  if (strncmp(path, kDevicePrefix, strlen(kDevicePrefix)) != 0) return;
  char* end = nullptr;
  const unsigned long number = strtoul(path + strlen(kDevicePrefix), &end, 10);
  if (end == path + strlen(kDevicePrefix) || *end != '\0') return;
  if (syscall(SYS_access, buffer_, F_OK) != 0) return;  // the host has no such adapter
  device_ = static_cast<int>(number);
  path_ = kStandIn;
}

}  // namespace hca::shim
