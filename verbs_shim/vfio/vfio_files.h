// The program's file descriptors of the emulated VFIO devices.
#pragma once

#include <stdint.h>

namespace hca::shim {

/// What a descriptor is: request codes of one kind mean something else for another.
enum class VfioKind : uint8_t { kNone = 0, kContainer, kGroup, kDevice };

struct VfioFile {
  VfioKind kind = VfioKind::kNone;
  /// Of a group or device: its function. Of a container: its domain, kNoDomain before it has one.
  uint32_t number = 0;
};

[[nodiscard]] VfioFile vfioFile(int fd);

/// Behind /dev/vfio/vfio and /dev/vfio/`group`: a descriptor, or -1 with errno set.
int openContainer(int flags);
int openGroup(uint32_t group, int flags);
/// The descriptor is about to be closed.
void vfioClosing(int fd);

/// Requests of the ioctl(2) family (Linux include/uapi/linux/vfio.h): 0 or more, or a negative errno.
long containerRequest(int fd, unsigned long code, void* argument);
long groupRequest(int fd, unsigned long code, void* argument);
long deviceRequest(uint32_t function, unsigned long code, void* argument);

/// Bytes moved, or a negative errno; `offset` as the regions of the device have it.
long deviceRead(uint32_t function, void* bytes, uint64_t length, uint64_t offset);
long deviceWrite(uint32_t function, const void* bytes, uint64_t length, uint64_t offset);

/// Of the function that a device's region at `offset` belongs to: the number of the base address register and the
/// offset in it; false for any other region.
[[nodiscard]] bool barOf(uint64_t offset, uint32_t& bar, uint64_t& within);

}  // namespace hca::shim
