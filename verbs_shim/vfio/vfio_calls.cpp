// The C library's functions that programs reach VFIO devices with.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs_shim/real_calls.h"
#include "verbs_shim/settings.h"
#include "verbs_shim/vfio/vfio_files.h"

using namespace hca::shim;

HCASIM_REAL(open);
HCASIM_REAL(open64);
HCASIM_REAL(openat);
HCASIM_REAL(openat64);
HCASIM_REAL(ioctl);
HCASIM_REAL(pread);
HCASIM_REAL(pread64);
HCASIM_REAL(pwrite);
HCASIM_REAL(pwrite64);
HCASIM_REAL(readlink);
HCASIM_REAL(realpath);
HCASIM_REAL(stat);
HCASIM_REAL(stat64);
HCASIM_REAL(lstat);
HCASIM_REAL(access);
HCASIM_REAL(close);

namespace {

constexpr const char* kContainer = "/dev/vfio/vfio";
constexpr const char* kGroups = "/dev/vfio/";
// Where the files of a run have what programs look for.
constexpr const char* kServed[] = {"/sys/bus/pci/devices/0000:aa:", "/sys/kernel/iommu_groups/", "/dev/vfio/"};

bool startsWith(const char* path, const char* start) { return strncmp(path, start, strlen(start)) == 0; }

/// The file behind a path: of the run's folder where that serves it.
class ServedPath {
 public:
  explicit ServedPath(const char* path) : path_(path) {
    if (path == nullptr || path[0] != '/' || settings().runFolder == nullptr) return;
    bool isServed = false;
    for (const char* start : kServed) isServed = isServed || startsWith(path, start);
    if (!isServed) return;
    const int length = snprintf(buffer_, sizeof buffer_, "%s/host%u%s", settings().runFolder, settings().host, path);
    if (length > 0 && static_cast<size_t>(length) < sizeof buffer_) path_ = buffer_;
  }
  [[nodiscard]] const char* get() const { return path_; }

 private:
  const char* path_;
  char buffer_[PATH_MAX];
};

// True if `path` is one of VFIO's own files: then `fd` is its descriptor, or -1 with errno set.
bool opensVfio(const char* path, int flags, int& fd) {
  if (path == nullptr || settings().runFolder == nullptr || !startsWith(path, kGroups)) return false;
  if (strcmp(path, kContainer) == 0) {
    fd = openContainer(flags);
    return true;
  }
  char* end = nullptr;
  const char* number = path + strlen(kGroups);
  const unsigned long group = strtoul(number, &end, 10);
  if (end == number || *end != '\0') return false;
  fd = openGroup(static_cast<uint32_t>(group), flags);
  return true;
}

long settle(long result) {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace

#define HCASIM_OPEN(name, real, parameters, call)                     \
  HCASIM_EXPORT int name parameters {                                 \
    mode_t mode = 0;                                                  \
    if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) { \
      va_list arguments;                                              \
      va_start(arguments, flags);                                     \
      mode = va_arg(arguments, mode_t);                               \
      va_end(arguments);                                              \
    }                                                                 \
    int fd = -1;                                                      \
    if (opensVfio(path, flags, fd)) return fd;                        \
    const ServedPath served(path);                                    \
    return real call;                                                 \
  }
HCASIM_OPEN(open, openReal, (const char* path, int flags, ...), (served.get(), flags, mode))
HCASIM_OPEN(open64, open64Real, (const char* path, int flags, ...), (served.get(), flags, mode))
HCASIM_OPEN(openat, openatReal, (int folder, const char* path, int flags, ...), (folder, served.get(), flags, mode))
HCASIM_OPEN(openat64, openat64Real, (int folder, const char* path, int flags, ...), (folder, served.get(), flags, mode))
// What _FORTIFY_SOURCE makes of an open without a mode.
HCASIM_EXPORT int __open_2(const char* path, int flags) { return open(path, flags); }
HCASIM_EXPORT int __open64_2(const char* path, int flags) { return open64(path, flags); }

HCASIM_EXPORT int stat(const char* path, struct stat* out) { return statReal(ServedPath(path).get(), out); }
HCASIM_EXPORT int stat64(const char* path, struct stat64* out) { return stat64Real(ServedPath(path).get(), out); }
HCASIM_EXPORT int lstat(const char* path, struct stat* out) { return lstatReal(ServedPath(path).get(), out); }
HCASIM_EXPORT int access(const char* path, int mode) { return accessReal(ServedPath(path).get(), mode); }
HCASIM_EXPORT ssize_t readlink(const char* path, char* buffer, size_t size) {
  return readlinkReal(ServedPath(path).get(), buffer, size);
}
HCASIM_EXPORT ssize_t __readlink_chk(const char* path, char* buffer, size_t size, size_t) {
  return readlink(path, buffer, size);
}
HCASIM_EXPORT char* realpath(const char* path, char* resolved) {
  return realpathReal(ServedPath(path).get(), resolved);
}

HCASIM_EXPORT int ioctl(int fd, unsigned long code, ...) {
  va_list arguments;
  va_start(arguments, code);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  const VfioFile file = vfioFile(fd);
  switch (file.kind) {
    case VfioKind::kContainer:
      return static_cast<int>(settle(containerRequest(fd, code, argument)));
    case VfioKind::kGroup:
      return static_cast<int>(settle(groupRequest(fd, code, argument)));
    case VfioKind::kDevice:
      return static_cast<int>(settle(deviceRequest(file.number, code, argument)));
    case VfioKind::kNone:
      break;
  }
  return ioctlReal(fd, code, argument);
}

HCASIM_EXPORT ssize_t pread64(int fd, void* bytes, size_t length, off64_t offset) {
  const VfioFile file = vfioFile(fd);
  if (file.kind != VfioKind::kDevice) return pread64Real(fd, bytes, length, offset);
  return settle(deviceRead(file.number, bytes, length, static_cast<uint64_t>(offset)));
}
HCASIM_EXPORT ssize_t pread(int fd, void* bytes, size_t length, off_t offset) {
  return pread64(fd, bytes, length, offset);
}
HCASIM_EXPORT ssize_t __pread64_chk(int fd, void* bytes, size_t length, off64_t offset, size_t) {
  return pread64(fd, bytes, length, offset);
}
HCASIM_EXPORT ssize_t __pread_chk(int fd, void* bytes, size_t length, off_t offset, size_t) {
  return pread64(fd, bytes, length, offset);
}
HCASIM_EXPORT ssize_t pwrite64(int fd, const void* bytes, size_t length, off64_t offset) {
  const VfioFile file = vfioFile(fd);
  if (file.kind != VfioKind::kDevice) return pwrite64Real(fd, bytes, length, offset);
  return settle(deviceWrite(file.number, bytes, length, static_cast<uint64_t>(offset)));
}
HCASIM_EXPORT ssize_t pwrite(int fd, const void* bytes, size_t length, off_t offset) {
  return pwrite64(fd, bytes, length, offset);
}

HCASIM_EXPORT int close(int fd) {
  vfioClosing(fd);
  return closeReal(fd);
}
