// Containers and groups: which functions share whose memory.
#include "verbs_shim/vfio/vfio_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verbs_shim/real_calls.h"
#include "verbs_shim/vfio/function_client.h"
#include "verbs_shim/vfio/type1_requests.h"

namespace hca::shim {
namespace {

using channel::FunctionKind;

RealCall<decltype(&::open)> realOpen("open");
RealCall<decltype(&::close)> realClose("close");

constexpr int kNobody = -1;

struct Entry {
  VfioFile file;
  int container = kNobody;  // of a group: the descriptor of its container
  bool hasDevice = false;   // of a group
  int group = kNobody;      // of a device: the descriptor of its group
};

// What programs open first has small numbers.
constexpr int kMost = 65536;
Entry entries[kMost];
pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

class Locked {
 public:
  Locked() { pthread_mutex_lock(&changing); }
  ~Locked() { pthread_mutex_unlock(&changing); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

Entry* entryOf(int fd, VfioKind kind) {
  return fd >= 0 && fd < kMost && entries[fd].file.kind == kind ? &entries[fd] : nullptr;
}

// Something to have a descriptor of: nothing is read from or written to it.
int newDescriptor(int flags, const Entry& entry) {
  const int fd = realOpen("/dev/null", O_RDWR | (flags & O_CLOEXEC));
  if (fd < 0) return fd;
  if (fd >= kMost) {
    realClose(fd);
    errno = EMFILE;
    return -1;
  }
  entries[fd] = entry;
  return fd;
}

int simply(FunctionKind kind, uint32_t object) {
  channel::FunctionRequest request;
  clear(request, kind, object);
  channel::FunctionReply reply;
  return call(request, reply);
}

bool hasGroups(int container) {
  for (const Entry& entry : entries) {
    if (entry.file.kind == VfioKind::kGroup && entry.container == container) return true;
  }
  return false;
}

// A container that lost its last group loses its mappings, too, and its kind of IOMMU.
void endDomainIfUnused(int container) {
  Entry* entry = entryOf(container, VfioKind::kContainer);
  if (entry == nullptr || entry->file.number == kNoDomain || hasGroups(container)) return;
  (void)simply(FunctionKind::kEndDomain, entry->file.number);
  entry->file.number = kNoDomain;
}

long setIommu(Entry& container, int fd, unsigned long type) {
  if (!hasGroups(fd) || container.file.number != kNoDomain) return -EINVAL;
  if (type != VFIO_TYPE1_IOMMU && type != VFIO_TYPE1v2_IOMMU) return -ENODEV;
  channel::FunctionRequest request;
  clear(request, FunctionKind::kNewDomain, 0);
  channel::FunctionReply reply;
  if (const int error = call(request, reply); error != 0) return -error;
  container.file.number = static_cast<uint32_t>(reply.value);
  return 0;
}

long setContainer(Entry& group, const void* argument) {
  int container = kNobody;
  memcpy(&container, argument, sizeof container);
  if (entryOf(container, VfioKind::kContainer) == nullptr) return -EINVAL;
  if (group.container != kNobody) return -EINVAL;
  group.container = container;
  return 0;
}

long unsetContainer(Entry& group) {
  if (group.container == kNobody) return -EINVAL;
  if (group.hasDevice) return -EBUSY;
  const int container = group.container;
  group.container = kNobody;
  endDomainIfUnused(container);
  return 0;
}

long groupStatus(const Entry& group, void* argument) {
  vfio_group_status status;
  memcpy(&status, argument, sizeof status);
  if (status.argsz < sizeof status) return -EINVAL;
  status.flags = VFIO_GROUP_FLAGS_VIABLE | (group.container != kNobody ? VFIO_GROUP_FLAGS_CONTAINER_SET : 0);
  memcpy(argument, &status, sizeof status);
  return 0;
}

long openDevice(Entry& group, int fd, const char* name) {
  char own[16];
  snprintf(own, sizeof own, "0000:aa:%02x.0", group.file.number & 0x1F);
  if (strcmp(name, own) != 0) return -ENODEV;
  const Entry* container = entryOf(group.container, VfioKind::kContainer);
  if (container == nullptr || container->file.number == kNoDomain) return -EINVAL;
  if (group.hasDevice) return -EBUSY;
  channel::FunctionRequest request;
  clear(request, FunctionKind::kOpen, group.file.number);
  request.argument[0] = container->file.number;
  channel::FunctionReply reply;
  if (const int error = call(request, reply); error != 0) return -error;
  Entry device;
  device.file = {VfioKind::kDevice, group.file.number};
  device.group = fd;
  const int made = newDescriptor(O_CLOEXEC, device);
  if (made < 0) {
    const int error = errno;
    (void)simply(FunctionKind::kClose, group.file.number);
    return -error;
  }
  group.hasDevice = true;
  return made;
}

void closeDevice(const Entry& device) {
  (void)simply(FunctionKind::kClose, device.file.number);
  if (Entry* group = entryOf(device.group, VfioKind::kGroup); group != nullptr) group->hasDevice = false;
}

}  // namespace

VfioFile vfioFile(int fd) { return fd >= 0 && fd < kMost ? entries[fd].file : VfioFile{}; }

int openContainer(int flags) {
  const Locked locked;
  Entry entry;
  entry.file = {VfioKind::kContainer, kNoDomain};
  return newDescriptor(flags, entry);
}

// As the kernel does: one at a time has a group.
int openGroup(uint32_t group, int flags) {
  channel::FunctionRequest request;
  clear(request, FunctionKind::kDescribe, group);
  channel::FunctionReply reply;
  if (const int error = call(request, reply); error != 0) {
    errno = error;
    return -1;
  }
  const Locked locked;
  for (const Entry& other : entries) {
    if (other.file.kind != VfioKind::kGroup || other.file.number != group) continue;
    errno = EBUSY;
    return -1;
  }
  Entry entry;
  entry.file = {VfioKind::kGroup, group};
  return newDescriptor(flags, entry);
}

void vfioClosing(int fd) {
  if (vfioFile(fd).kind == VfioKind::kNone) return;
  const Locked locked;
  const Entry entry = entries[fd];
  entries[fd] = Entry{};
  if (entry.file.kind == VfioKind::kDevice) closeDevice(entry);
  if (entry.file.kind == VfioKind::kGroup) endDomainIfUnused(entry.container);
  if (entry.file.kind == VfioKind::kContainer && entry.file.number != kNoDomain) {
    (void)simply(FunctionKind::kEndDomain, entry.file.number);
  }
}

long containerRequest(int fd, unsigned long code, void* argument) {
  if (code == VFIO_GET_API_VERSION) return VFIO_API_VERSION;
  if (code == VFIO_CHECK_EXTENSION) return hasExtension(reinterpret_cast<unsigned long>(argument)) ? 1 : 0;
  const Locked locked;
  Entry* container = entryOf(fd, VfioKind::kContainer);
  if (container == nullptr) return -EBADF;
  if (code == VFIO_SET_IOMMU) return setIommu(*container, fd, reinterpret_cast<unsigned long>(argument));
  if (container->file.number == kNoDomain) return -EINVAL;
  return type1Request(container->file.number, code, argument);
}

long groupRequest(int fd, unsigned long code, void* argument) {
  const Locked locked;
  Entry* group = entryOf(fd, VfioKind::kGroup);
  if (group == nullptr) return -EBADF;
  if (code == VFIO_GROUP_UNSET_CONTAINER) return unsetContainer(*group);
  if (argument == nullptr) return -EFAULT;
  if (code == VFIO_GROUP_GET_STATUS) return groupStatus(*group, argument);
  if (code == VFIO_GROUP_SET_CONTAINER) return setContainer(*group, argument);
  if (code == VFIO_GROUP_GET_DEVICE_FD) return openDevice(*group, fd, static_cast<const char*>(argument));
  return -ENOTTY;
}

}  // namespace hca::shim
