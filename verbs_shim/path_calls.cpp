// The C library's functions that take a path.
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs_shim/device_files.h"
#include "verbs_shim/path_map.h"
#include "verbs_shim/real_calls.h"

using hca::shim::MappedPath;

HCASIM_REAL(open);
HCASIM_REAL(open64);
HCASIM_REAL(openat);
HCASIM_REAL(openat64);
HCASIM_REAL(fopen);
HCASIM_REAL(fopen64);
HCASIM_REAL(stat);
HCASIM_REAL(stat64);
HCASIM_REAL(lstat);
HCASIM_REAL(lstat64);
HCASIM_REAL(fstatat);
HCASIM_REAL(fstatat64);
HCASIM_REAL(statx);
HCASIM_REAL(access);
HCASIM_REAL(faccessat);
HCASIM_REAL(opendir);
HCASIM_REAL(scandir);
HCASIM_REAL(readlink);
HCASIM_REAL(readlinkat);
HCASIM_REAL(realpath);

namespace {

bool takesMode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

// The mode argument of a variadic open.
#define HCASIM_MODE(flags)            \
  mode_t mode = 0;                    \
  if (takesMode(flags)) {             \
    va_list arguments;                \
    va_start(arguments, flags);       \
    mode = va_arg(arguments, mode_t); \
    va_end(arguments);                \
  }

}  // namespace

HCASIM_EXPORT int open(const char* path, int flags, ...) {
  HCASIM_MODE(flags)
  const MappedPath mapped(path);
  return hca::shim::deviceOpened(mapped.device(), openReal(mapped.get(), flags, mode));
}
HCASIM_EXPORT int open64(const char* path, int flags, ...) {
  HCASIM_MODE(flags)
  const MappedPath mapped(path);
  return hca::shim::deviceOpened(mapped.device(), open64Real(mapped.get(), flags, mode));
}
HCASIM_EXPORT int openat(int folder, const char* path, int flags, ...) {
  HCASIM_MODE(flags)
  const MappedPath mapped(path);
  return hca::shim::deviceOpened(mapped.device(), openatReal(folder, mapped.get(), flags, mode));
}
HCASIM_EXPORT int openat64(int folder, const char* path, int flags, ...) {
  HCASIM_MODE(flags)
  const MappedPath mapped(path);
  return hca::shim::deviceOpened(mapped.device(), openat64Real(folder, mapped.get(), flags, mode));
}
// What _FORTIFY_SOURCE makes of an open without a mode.
HCASIM_EXPORT int __open_2(const char* path, int flags) { return open(path, flags); }
HCASIM_EXPORT int __open64_2(const char* path, int flags) { return open64(path, flags); }
HCASIM_EXPORT int __openat_2(int folder, const char* path, int flags) { return openat(folder, path, flags); }
HCASIM_EXPORT int __openat64_2(int folder, const char* path, int flags) { return openat64(folder, path, flags); }

HCASIM_EXPORT FILE* fopen(const char* path, const char* mode) { return fopenReal(MappedPath(path).get(), mode); }
HCASIM_EXPORT FILE* fopen64(const char* path, const char* mode) { return fopen64Real(MappedPath(path).get(), mode); }
HCASIM_EXPORT int stat(const char* path, struct stat* out) { return statReal(MappedPath(path).get(), out); }
HCASIM_EXPORT int stat64(const char* path, struct stat64* out) { return stat64Real(MappedPath(path).get(), out); }
HCASIM_EXPORT int lstat(const char* path, struct stat* out) { return lstatReal(MappedPath(path).get(), out); }
HCASIM_EXPORT int lstat64(const char* path, struct stat64* out) { return lstat64Real(MappedPath(path).get(), out); }
HCASIM_EXPORT int fstatat(int folder, const char* path, struct stat* out, int flags) {
  return fstatatReal(folder, MappedPath(path).get(), out, flags);
}
HCASIM_EXPORT int fstatat64(int folder, const char* path, struct stat64* out, int flags) {
  return fstatat64Real(folder, MappedPath(path).get(), out, flags);
}
HCASIM_EXPORT int statx(int folder, const char* path, int flags, unsigned mask, struct statx* out) {
  return statxReal(folder, MappedPath(path).get(), flags, mask, out);
}
HCASIM_EXPORT int access(const char* path, int mode) { return accessReal(MappedPath(path).get(), mode); }
HCASIM_EXPORT int faccessat(int folder, const char* path, int mode, int flags) {
  return faccessatReal(folder, MappedPath(path).get(), mode, flags);
}
HCASIM_EXPORT DIR* opendir(const char* path) { return opendirReal(MappedPath(path).get()); }
HCASIM_EXPORT int scandir(const char* path, struct dirent*** list, int (*filter)(const struct dirent*),
                          int (*compare)(const struct dirent**, const struct dirent**)) {
  return scandirReal(MappedPath(path).get(), list, filter, compare);
}
HCASIM_EXPORT ssize_t readlink(const char* path, char* buffer, size_t size) {
  return readlinkReal(MappedPath(path).get(), buffer, size);
}
HCASIM_EXPORT ssize_t readlinkat(int folder, const char* path, char* buffer, size_t size) {
  return readlinkatReal(folder, MappedPath(path).get(), buffer, size);
}
HCASIM_EXPORT char* realpath(const char* path, char* resolved) {
  return realpathReal(MappedPath(path).get(), resolved);
}
