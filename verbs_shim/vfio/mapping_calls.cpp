// Registers of a device that a program maps: every access is a message.
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs_shim/real_calls.h"
#include "verbs_shim/register_bus.h"
#include "verbs_shim/register_pages.h"
#include "verbs_shim/register_trap.h"
#include "verbs_shim/vfio/function_client.h"
#include "verbs_shim/vfio/vfio_files.h"

using namespace hca::shim;
using hca::channel::FunctionKind;

HCASIM_REAL(mmap);
HCASIM_REAL(munmap);
HCASIM_REAL(sigaction);

namespace {

// A page's number: function, base address register, page in that.
constexpr unsigned kFunctionShift = 40, kBarShift = 32;
constexpr uint64_t kPage = 4096;

void setAccess(hca::channel::FunctionRequest& request, FunctionKind kind, uint64_t page, uint32_t offset,
               uint32_t length) {
  clear(request, kind, static_cast<uint32_t>(page >> kFunctionShift));
  request.argument[0] = page >> kBarShift & 0xFF;
  request.argument[1] = (page & ((uint64_t{1} << kBarShift) - 1)) * kPage + offset;
  request.length = length;
}

void* failed(int error) {
  errno = error;
  return MAP_FAILED;
}

bool isInside(uint32_t function, uint32_t bar, uint64_t within, uint64_t length) {
  hca::channel::FunctionRequest request;
  clear(request, FunctionKind::kDescribe, function);
  hca::channel::FunctionReply reply;
  if (call(request, reply) != 0) return false;
  hca::channel::FunctionDescription description;
  memcpy(&description, reply.bytes, sizeof description);
  const uint64_t size = description.barSize[bar];
  return within % kPage == 0 && length != 0 && within <= size && length <= size - within;
}

// Reading and writing alone: nothing lies there that could be run, or be a copy of its own.
void* mapBar(uint32_t function, void* wanted, size_t length, int flags, uint64_t offset) {
  uint32_t bar = 0;
  uint64_t within = 0;
  if ((flags & MAP_SHARED) == 0 || !barOf(offset, bar, within)) return failed(EINVAL);
  if (!isInside(function, bar, within, length)) return failed(EINVAL);
  constexpr int kPlace = MAP_FIXED | MAP_FIXED_NOREPLACE;
  void* address = mmapReal(wanted, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | (flags & kPlace), -1, off_t{0});
  if (address == MAP_FAILED) return address;
  installTrap();
  const uint64_t number = uint64_t{function} << kFunctionShift | uint64_t{bar} << kBarShift | within / kPage;
  if (addPage({reinterpret_cast<uintptr_t>(address), length, number})) return address;
  munmapReal(address, length);
  return failed(ENOMEM);
}

}  // namespace

namespace hca::shim {

void writeRegister(uint64_t page, uint32_t offset, const uint8_t* bytes, uint32_t length) {
  channel::FunctionRequest request;
  setAccess(request, FunctionKind::kWriteBar, page, offset, length);
  memcpy(request.bytes, bytes, length);
  channel::FunctionReply reply;
  (void)call(request, reply);
}

uint64_t readRegister(uint64_t page, uint32_t offset, uint32_t length) {
  channel::FunctionRequest request;
  setAccess(request, FunctionKind::kReadBar, page, offset, length);
  channel::FunctionReply reply;
  uint64_t value = ~uint64_t{0};
  if (call(request, reply) == 0) memcpy(&value, reply.bytes, length);
  return value;
}

}  // namespace hca::shim

HCASIM_EXPORT void* mmap(void* wanted, size_t length, int protection, int flags, int fd, off_t offset) {
  const VfioFile file = vfioFile(fd);
  if (file.kind == VfioKind::kNone) return mmapReal(wanted, length, protection, flags, fd, offset);
  if (file.kind != VfioKind::kDevice) return failed(ENODEV);
  return mapBar(file.number, wanted, length, flags, static_cast<uint64_t>(offset));
}
HCASIM_EXPORT void* mmap64(void* wanted, size_t length, int protection, int flags, int fd, off64_t offset) {
  return mmap(wanted, length, protection, flags, fd, offset);
}
HCASIM_EXPORT int munmap(void* address, size_t length) {
  removePages(reinterpret_cast<uintptr_t>(address), length);
  return munmapReal(address, length);
}

// The trap stays: a handler that the program installs gets the faults that are not accesses to registers.
HCASIM_EXPORT int sigaction(int number, const struct sigaction* action, struct sigaction* before) {
  return programAction(number, action, before) ? 0 : sigactionReal(number, action, before);
}
