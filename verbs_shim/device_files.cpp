#include "verbs_shim/device_files.h"

#include <errno.h>
#include <unistd.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/settings.h"
#include "verbs_shim/virtual_timers.h"

HCASIM_REAL(close);

namespace hca::shim {
namespace {

// Above these numbers nothing is recognised; no program of this kind comes near.
constexpr int kDescriptors = 65536;
constexpr int kFiles = 4096;

struct Descriptor {
  FileKind kind;
  uint16_t file;
};
Descriptor descriptors[kDescriptors];
uint32_t references[kFiles];  // descriptors of each open device

bool isKnown(int fd) { return fd >= 0 && fd < kDescriptors; }

}  // namespace

int deviceOpened(int device, int fd) {
  if (device < 0 || fd < 0) return fd;
  channel::Request request{};
  request.kind = channel::Kind::kOpenDevice;
  request.argument[0] = static_cast<uint64_t>(device);
  channel::Reply reply{};
  int error = call(request, reply);
  if (error == 0 && (reply.value[0] >= kFiles || !isKnown(fd))) error = EMFILE;
  if (error != 0) {
    closeReal(fd);
    errno = error;
    return -1;
  }
  descriptors[fd] = {FileKind::kDevice, static_cast<uint16_t>(reply.value[0])};
  references[reply.value[0]] = 1;
  return fd;
}

FileKind kindOf(int fd) { return isKnown(fd) ? descriptors[fd].kind : FileKind::kOther; }
uint32_t fileOf(int fd) { return descriptors[fd].file; }

void eventsOpened(int fd) {
  if (isKnown(fd)) descriptors[fd] = {FileKind::kEvents, 0};
}

void timerOpened(int fd, bool isWall) {
  if (isKnown(fd)) descriptors[fd] = {isWall ? FileKind::kWallTimer : FileKind::kTimer, 0};
}
bool isTimer(int fd) { return kindOf(fd) == FileKind::kTimer || kindOf(fd) == FileKind::kWallTimer; }

void duplicated(int from, int to) {
  if (!isKnown(from) || !isKnown(to) || from == to) return;
  if (descriptors[from].kind == FileKind::kDevice) ++references[descriptors[from].file];
  descriptors[to] = descriptors[from];
}

void closing(int fd) {
  if (!isKnown(fd) || descriptors[fd].kind == FileKind::kOther) return;
  const Descriptor gone = descriptors[fd];
  if (isTimer(fd)) (void)setTimerFile(fd, {});
  descriptors[fd] = {FileKind::kOther, 0};
  if (gone.kind != FileKind::kDevice || --references[gone.file] != 0) return;
  if (!isConnected()) return;
  channel::Request request{};
  request.kind = channel::Kind::kCloseDevice;
  request.file = gone.file;
  channel::Reply reply{};
  (void)call(request, reply);
}

bool hasDevices() {
  for (const uint32_t count : references) {
    if (count != 0) return true;
  }
  return false;
}

void forgetFiles(bool keepsDevices) {
  for (Descriptor& descriptor : descriptors) {
    if (descriptor.kind == FileKind::kDevice) {
      if (keepsDevices) continue;
      references[descriptor.file] = 0;
    }
    // Written only where needed: untouched pages of the table cost nothing.
    if (descriptor.kind != FileKind::kOther) descriptor.kind = FileKind::kOther;
  }
}

}  // namespace hca::shim
