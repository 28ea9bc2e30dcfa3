// What a device of a VFIO group is asked.
#include <errno.h>
#include <linux/vfio.h>
#include <stddef.h>
#include <string.h>

#include "verbs_shim/vfio/function_client.h"
#include "verbs_shim/vfio/vfio_files.h"

namespace hca::shim {
namespace {

using channel::FunctionKind;

// As Linux's vfio-pci lays them out; programs ask.
constexpr unsigned kRegionShift = 40;
constexpr uint32_t kBars = VFIO_PCI_BAR5_REGION_INDEX + 1;

int describe(uint32_t function, channel::FunctionDescription& description) {
  channel::FunctionRequest request;
  clear(request, FunctionKind::kDescribe, function);
  channel::FunctionReply reply;
  const int error = call(request, reply);
  if (error == 0) memcpy(&description, reply.bytes, sizeof description);
  return error;
}

long getInfo(void* argument) {
  constexpr uint32_t kLeast = offsetof(vfio_device_info, num_irqs) + sizeof(uint32_t);
  vfio_device_info info;
  memset(&info, 0, sizeof info);
  memcpy(&info, argument, kLeast);
  if (info.argsz < kLeast) return -EINVAL;
  info.flags = VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET;
  info.num_regions = VFIO_PCI_NUM_REGIONS;
  info.num_irqs = VFIO_PCI_NUM_IRQS;
  memcpy(argument, &info, kLeast);
  return 0;
}

// No region says that it can be mapped: then QEMU hands every access over, in order, with its width.
long getRegionInfo(uint32_t function, void* argument) {
  vfio_region_info info;
  memcpy(&info, argument, sizeof info);
  if (info.argsz < sizeof info || info.index >= VFIO_PCI_NUM_REGIONS) return -EINVAL;
  channel::FunctionDescription description;
  if (const int error = describe(function, description); error != 0) return -error;
  info.offset = static_cast<uint64_t>(info.index) << kRegionShift;
  info.size = 0;
  if (info.index < kBars) info.size = description.barSize[info.index];
  if (info.index == VFIO_PCI_CONFIG_REGION_INDEX) info.size = description.configSize;
  info.flags = info.size != 0 ? VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE : 0;
  info.cap_offset = 0;
  memcpy(argument, &info, sizeof info);
  return 0;
}

// 0: none of that kind. There is no interrupt pin, and nobody reports errors or asks for the device back.
int vectorsOf(uint32_t function, uint32_t index, uint32_t& vectors) {
  vectors = 0;
  if (index != VFIO_PCI_MSIX_IRQ_INDEX) return index < VFIO_PCI_ERR_IRQ_INDEX ? 0 : EINVAL;
  channel::FunctionDescription description;
  const int error = describe(function, description);
  if (error == 0) vectors = description.vectors;
  return error;
}

long getInterruptInfo(uint32_t function, void* argument) {
  vfio_irq_info info;
  memcpy(&info, argument, sizeof info);
  if (info.argsz < sizeof info) return -EINVAL;
  if (const int error = vectorsOf(function, info.index, info.count); error != 0) return -error;
  info.flags = VFIO_IRQ_INFO_EVENTFD;
  if (info.index == VFIO_PCI_MSIX_IRQ_INDEX) info.flags |= VFIO_IRQ_INFO_NORESIZE;
  memcpy(argument, &info, sizeof info);
  return 0;
}

int simply(FunctionKind kind, uint32_t function, uint64_t argument = 0) {
  channel::FunctionRequest request;
  clear(request, kind, function);
  request.argument[0] = argument;
  channel::FunctionReply reply;
  return call(request, reply);
}

// Raises what the vectors of a range raise; with `wanted`, of those alone that it says so of.
long trigger(uint32_t function, const vfio_irq_set& set, const uint8_t* wanted) {
  for (uint32_t i = 0; i < set.count; ++i) {
    if (wanted != nullptr && wanted[i] == 0) continue;
    if (const int error = simply(FunctionKind::kTriggerVector, function, set.start + i); error != 0) return -error;
  }
  return 0;
}

constexpr uint32_t kSetHead = offsetof(vfio_irq_set, data);

// 0, or a negative errno for a request that makes no sense.
long check(const vfio_irq_set& set, uint32_t vectors) {
  constexpr uint32_t kKnown = VFIO_IRQ_SET_DATA_TYPE_MASK | VFIO_IRQ_SET_ACTION_TYPE_MASK;
  if (set.argsz < kSetHead || (set.flags & ~kKnown) != 0) return -EINVAL;
  const uint32_t data = set.flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
  uint64_t each = 0;
  if (data == VFIO_IRQ_SET_DATA_BOOL) {
    each = sizeof(uint8_t);
  } else if (data == VFIO_IRQ_SET_DATA_EVENTFD) {
    each = sizeof(int32_t);
  } else if (data != VFIO_IRQ_SET_DATA_NONE) {
    return -EINVAL;
  }
  if (set.start >= vectors || set.count > vectors - set.start) return -EINVAL;
  return set.argsz - kSetHead < set.count * each ? -EINVAL : 0;
}

long setInterrupts(uint32_t function, const void* argument) {
  vfio_irq_set set;
  memcpy(&set, argument, kSetHead);
  uint32_t vectors = 0;
  if (const int error = vectorsOf(function, set.index, vectors); error != 0) return -error;
  const uint32_t data = set.flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
  const bool isOff = data == VFIO_IRQ_SET_DATA_NONE && set.count == 0;
  // Programs turn all kinds off before they use one.
  if (vectors == 0) return isOff ? 0 : -EINVAL;
  if (const long problem = check(set, vectors); problem != 0) return problem;
  // Vectors are masked by what they raise, not apart.
  if ((set.flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) != VFIO_IRQ_SET_ACTION_TRIGGER) return -ENOTTY;
  if (isOff) return -simply(FunctionKind::kDisableVectors, function);
  const char* behind = static_cast<const char*>(argument) + kSetHead;
  if (data == VFIO_IRQ_SET_DATA_EVENTFD) {
    return -setVectors(function, set.start, set.count, reinterpret_cast<const int32_t*>(behind));
  }
  return trigger(function, set, data == VFIO_IRQ_SET_DATA_BOOL ? reinterpret_cast<const uint8_t*>(behind) : nullptr);
}

}  // namespace

long deviceRequest(uint32_t function, unsigned long code, void* argument) {
  if (code == VFIO_DEVICE_RESET) return -simply(FunctionKind::kReset, function);
  if (argument == nullptr) return -EFAULT;
  if (code == VFIO_DEVICE_GET_INFO) return getInfo(argument);
  if (code == VFIO_DEVICE_GET_REGION_INFO) return getRegionInfo(function, argument);
  if (code == VFIO_DEVICE_GET_IRQ_INFO) return getInterruptInfo(function, argument);
  if (code == VFIO_DEVICE_SET_IRQS) return setInterrupts(function, argument);
  // The bus has no reset of its own: the function's is there.
  if (code == VFIO_DEVICE_GET_PCI_HOT_RESET_INFO || code == VFIO_DEVICE_PCI_HOT_RESET) return -ENODEV;
  return -ENOTTY;
}

bool barOf(uint64_t offset, uint32_t& bar, uint64_t& within) {
  const uint64_t region = offset >> kRegionShift;
  bar = static_cast<uint32_t>(region);
  within = offset & ((uint64_t{1} << kRegionShift) - 1);
  return region < kBars;
}

namespace {

// One message of an access at `offset` + `done`; false if there is no such region.
bool prepare(channel::FunctionRequest& request, uint32_t function, uint64_t offset, uint64_t left, bool isWrite) {
  uint32_t bar = 0;
  uint64_t within = 0;
  const bool isBar = barOf(offset, bar, within);
  if (!isBar && bar != VFIO_PCI_CONFIG_REGION_INDEX) return false;
  const FunctionKind ofBar = isWrite ? FunctionKind::kWriteBar : FunctionKind::kReadBar;
  const FunctionKind ofConfig = isWrite ? FunctionKind::kWriteConfig : FunctionKind::kReadConfig;
  clear(request, isBar ? ofBar : ofConfig, function);
  request.argument[0] = isBar ? bar : within;
  request.argument[1] = within;
  request.length = left < channel::kLongestAccess ? static_cast<uint32_t>(left) : channel::kLongestAccess;
  return true;
}

}  // namespace

long deviceRead(uint32_t function, void* bytes, uint64_t length, uint64_t offset) {
  uint64_t done = 0;
  while (done < length) {
    channel::FunctionRequest request;
    channel::FunctionReply reply;
    const bool isKnown = prepare(request, function, offset + done, length - done, false);
    const int error = isKnown ? call(request, reply) : EINVAL;
    if (error != 0) return done != 0 ? static_cast<long>(done) : -error;
    memcpy(static_cast<char*>(bytes) + done, reply.bytes, request.length);
    done += request.length;
  }
  return static_cast<long>(done);
}

long deviceWrite(uint32_t function, const void* bytes, uint64_t length, uint64_t offset) {
  uint64_t done = 0;
  while (done < length) {
    channel::FunctionRequest request;
    channel::FunctionReply reply;
    int error = EINVAL;
    if (prepare(request, function, offset + done, length - done, true)) {
      memcpy(request.bytes, static_cast<const char*>(bytes) + done, request.length);
      error = call(request, reply);
    }
    if (error != 0) return done != 0 ? static_cast<long>(done) : -error;
    done += request.length;
  }
  return static_cast<long>(done);
}

}  // namespace hca::shim
