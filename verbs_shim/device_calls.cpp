// The C library's functions on descriptors and mappings of the device.
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/device_files.h"
#include "verbs_shim/fatal_event.h"
#include "verbs_shim/guarded_copy.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/register_pages.h"
#include "verbs_shim/register_trap.h"
#include "verbs_shim/settings.h"

using namespace hca::shim;
using hca::channel::Kind;
using hca::channel::PageKind;
using hca::channel::Reply;
using hca::channel::Request;

HCASIM_REAL(ioctl);
HCASIM_REAL(mmap);
HCASIM_REAL(munmap);
HCASIM_REAL(mremap);
HCASIM_REAL(close);
HCASIM_REAL(dup);
HCASIM_REAL(dup2);
HCASIM_REAL(dup3);
HCASIM_REAL(fcntl);
HCASIM_REAL(fcntl64);
HCASIM_REAL(socket);
HCASIM_REAL(write);

namespace {

int failed(int error) {
  errno = error;
  return -1;
}

bool namesAsyncEvents(uint64_t command) {
  ib_uverbs_ioctl_hdr header;
  const void* at = reinterpret_cast<const void*>(command);  // NOLINT: the program's
  return guardedCopy(&header, at, sizeof header) == 0 && header.object_id == UVERBS_OBJECT_ASYNC_EVENT;
}

// A command that makes a completion channel or an asynchronous event file gets a pipe, whose other end the simulation
// opens for itself.
int repeatWithPipe(Request request) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  request.argument[2] = static_cast<uint64_t>(ends[1]) << 32 | static_cast<uint32_t>(ends[0]);
  Reply reply{};
  const int error = call(request, reply);
  const bool isAsync = error == 0 && namesAsyncEvents(request.argument[1]);
  // If the simulation is lost, the program is told by ourselves.
  if (!isAsync || !keepForFatal(ends[1])) closeReal(ends[1]);
  if (error != 0) {
    closeReal(ends[0]);
    return error < 0 ? EINVAL : error;
  }
  eventsOpened(ends[0]);
  return 0;
}

int deviceCommand(int fd, unsigned long code, void* argument) {
  Request request{};
  request.kind = Kind::kCommand;
  request.file = fileOf(fd);
  request.argument[0] = code;
  request.argument[1] = reinterpret_cast<uint64_t>(argument);
  request.argument[2] = hca::channel::kNoPipe;
  Reply reply{};
  int error = call(request, reply);
  if (error == hca::channel::kNeedsPipe) error = repeatWithPipe(request);
  return error == 0 ? 0 : failed(error);
}

// What ordinary memory holds is written before the program sees it.
void* mapMemory(Request request, void* wanted, size_t length, int flags, uint64_t page) {
  constexpr int kPlace = MAP_FIXED | MAP_FIXED_NOREPLACE;
  void* address =
      mmapReal(wanted, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (flags & kPlace), -1, off_t{0});
  if (address == MAP_FAILED) return address;
  request.kind = Kind::kFillPage;
  request.argument[0] = page;
  request.argument[1] = reinterpret_cast<uint64_t>(address);
  Reply reply{};
  if (const int error = call(request, reply); error != 0) {
    munmapReal(address, length);
    errno = error;
    return MAP_FAILED;
  }
  mprotect(address, length, PROT_READ);
  return address;
}

void* mapDevice(void* wanted, size_t length, int flags, int fd, off_t offset) {
  Request request{};
  request.kind = Kind::kMapPage;
  request.file = fileOf(fd);
  request.argument[0] = length;
  request.argument[1] = static_cast<uint64_t>(offset);
  Reply reply{};
  if (const int error = call(request, reply); error != 0) {
    errno = error;
    return MAP_FAILED;
  }
  if (static_cast<PageKind>(reply.value[0]) == PageKind::kMemory) {
    return mapMemory(request, wanted, length, flags, reply.value[1]);
  }
  constexpr int kPlace = MAP_FIXED | MAP_FIXED_NOREPLACE;
  void* address = mmapReal(wanted, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | (flags & kPlace), -1, off_t{0});
  if (address == MAP_FAILED) return address;
  installTrap();
  if (addPage({reinterpret_cast<uintptr_t>(address), length, reply.value[1]})) return address;
  munmapReal(address, length);
  errno = ENOMEM;
  return MAP_FAILED;
}

// The device is not to reach what lies there later.
void giveBack(const void* address, size_t length) {
  if (!isConnected() || length == 0) return;
  Request request;
  clear(request, Kind::kUnmapMemory);
  request.argument[0] = reinterpret_cast<uint64_t>(address);
  request.argument[1] = length;
  Reply reply{};
  const int savedErrno = errno;
  (void)call(request, reply);
  errno = savedErrno;
}

int duplicate(int from, int to) {
  if (to >= 0) duplicated(from, to);
  return to;
}

}  // namespace

HCASIM_EXPORT int ioctl(int fd, unsigned long code, ...) {
  va_list arguments;
  va_start(arguments, code);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return kindOf(fd) == FileKind::kDevice ? deviceCommand(fd, code, argument) : ioctlReal(fd, code, argument);
}

// The older form of the commands, which the library uses only where the kernel has no other.
HCASIM_EXPORT ssize_t write(int fd, const void* bytes, size_t length) {
  return kindOf(fd) == FileKind::kDevice ? failed(EOPNOTSUPP) : writeReal(fd, bytes, length);
}

HCASIM_EXPORT void* mmap(void* wanted, size_t length, int protection, int flags, int fd, off_t offset) {
  if (kindOf(fd) == FileKind::kDevice) return mapDevice(wanted, length, flags, fd, offset);
  if ((flags & MAP_FIXED) != 0 && (flags & MAP_FIXED_NOREPLACE) != MAP_FIXED_NOREPLACE) giveBack(wanted, length);
  return mmapReal(wanted, length, protection, flags, fd, offset);
}
HCASIM_EXPORT void* mmap64(void* wanted, size_t length, int protection, int flags, int fd, off64_t offset) {
  return mmap(wanted, length, protection, flags, fd, offset);
}

HCASIM_EXPORT int munmap(void* address, size_t length) {
  removePages(reinterpret_cast<uintptr_t>(address), length);
  giveBack(address, length);
  return munmapReal(address, length);
}
HCASIM_EXPORT void* mremap(void* address, size_t length, size_t wanted, int flags, ...) noexcept {
  va_list arguments;
  va_start(arguments, flags);
  void* place = (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void*) : nullptr;
  va_end(arguments);
  giveBack(address, length);
  return mremapReal(address, length, wanted, flags, place);
}

HCASIM_EXPORT int close(int fd) {
  closing(fd);
  return closeReal(fd);
}
HCASIM_EXPORT int dup(int fd) { return duplicate(fd, dupReal(fd)); }
HCASIM_EXPORT int dup2(int fd, int to) {
  if (fd != to) closing(to);
  return duplicate(fd, dup2Real(fd, to));
}
HCASIM_EXPORT int dup3(int fd, int to, int flags) {
  if (fd != to) closing(to);
  return duplicate(fd, dup3Real(fd, to, flags));
}

namespace {
int afterFcntl(int fd, int command, int result) {
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? duplicate(fd, result) : result;
}
}  // namespace

#define HCASIM_FCNTL(name)                                             \
  HCASIM_EXPORT int name(int fd, int command, ...) {                   \
    va_list arguments;                                                 \
    va_start(arguments, command);                                      \
    void* argument = va_arg(arguments, void*);                         \
    va_end(arguments);                                                 \
    return afterFcntl(fd, command, name##Real(fd, command, argument)); \
  }
HCASIM_FCNTL(fcntl)
HCASIM_FCNTL(fcntl64)

// The kernel's own list of devices, which the library asks before it looks into sysfs, has none of ours.
HCASIM_EXPORT int socket(int family, int type, int protocol) {
  if (family == AF_NETLINK && protocol == NETLINK_RDMA && settings().runFolder != nullptr) {
    return failed(EPROTONOSUPPORT);
  }
  return socketReal(family, type, protocol);
}
