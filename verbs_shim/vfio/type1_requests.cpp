#include "verbs_shim/vfio/type1_requests.h"

#include <errno.h>
#include <linux/vfio.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs_shim/vfio/function_client.h"

namespace hca::shim {
namespace {

using channel::FunctionKind;

// Which bus addresses there are: the interrupt messages lie between two ranges.
// As vfio_iommu_type1_info_cap_iova_range, whose last member has no length.
struct RangeCapability {
  vfio_info_cap_header header;
  uint32_t count;
  uint32_t reserved;
  vfio_iova_range ranges[2];
};
static_assert(offsetof(RangeCapability, ranges) == sizeof(vfio_iommu_type1_info_cap_iova_range));

struct AvailableCapability {
  vfio_iommu_type1_info_dma_avail header;
  uint32_t padding;
};

struct Capabilities {
  RangeCapability range;
  AvailableCapability available;
};

// Linux drivers/vfio/vfio_iommu_type1.c, dma_entry_limit.
constexpr uint32_t kMostMappings = 65535;

Capabilities capabilitiesAt(uint32_t offset) {
  Capabilities all;
  memset(&all, 0, sizeof all);
  all.range.header.id = VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE;
  all.range.header.version = 1;
  all.range.header.next = offset + static_cast<uint32_t>(offsetof(Capabilities, available));
  all.range.count = 2;
  all.range.ranges[0].start = 0;
  all.range.ranges[0].end = channel::kMessagesStart - 1;
  all.range.ranges[1].start = channel::kMessagesEnd;
  all.range.ranges[1].end = channel::kBusEnd - 1;
  all.available.header.header.id = VFIO_IOMMU_TYPE1_INFO_DMA_AVAIL;
  all.available.header.header.version = 1;
  all.available.header.avail = kMostMappings;
  return all;
}

// A caller that has too little room is told how much it needs, and asks again.
long getInfo(void* argument) {
  constexpr uint32_t kLeast = offsetof(vfio_iommu_type1_info, iova_pgsizes) + sizeof(uint64_t);
  vfio_iommu_type1_info info;
  memset(&info, 0, sizeof info);
  memcpy(&info, argument, kLeast);
  if (info.argsz < kLeast) return -EINVAL;
  constexpr uint32_t kHead = sizeof info;
  constexpr uint32_t kWhole = kHead + sizeof(Capabilities);
  const uint32_t room = info.argsz;
  info.flags = VFIO_IOMMU_INFO_PGSIZES | VFIO_IOMMU_INFO_CAPS;
  info.iova_pgsizes = ~(channel::kBusPage - 1);
  info.cap_offset = 0;
  if (room < kWhole) {
    info.argsz = kWhole;
  } else {
    info.cap_offset = kHead;
    const Capabilities all = capabilitiesAt(kHead);
    memcpy(static_cast<char*>(argument) + kHead, &all, sizeof all);
  }
  constexpr uint32_t kToOffset = offsetof(vfio_iommu_type1_info, cap_offset) + sizeof(uint32_t);
  memcpy(argument, &info, room >= kToOffset ? kToOffset : kLeast);
  return 0;
}

// The kernel would fail to pin memory that isn't there.
bool isMapped(uint64_t address, uint64_t length) {
  constexpr uint64_t kPages = 4096;
  unsigned char pages[kPages];
  for (uint64_t at = 0; at < length; at += kPages * channel::kBusPage) {
    const uint64_t left = length - at;
    const uint64_t part = left < kPages * channel::kBusPage ? left : kPages * channel::kBusPage;
    if (mincore(reinterpret_cast<void*>(address + at), part, pages) != 0) return false;  // NOLINT: the program's
  }
  return true;
}

long map(uint32_t domain, const void* argument) {
  vfio_iommu_type1_dma_map wanted;
  memcpy(&wanted, argument, sizeof wanted);
  constexpr uint32_t kAccess = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;
  if (wanted.argsz < sizeof wanted || (wanted.flags & ~kAccess) != 0 || (wanted.flags & kAccess) == 0) return -EINVAL;
  if (wanted.size == 0 || ((wanted.size | wanted.iova | wanted.vaddr) & (channel::kBusPage - 1)) != 0) return -EINVAL;
  if (wanted.iova + wanted.size - 1 < wanted.iova || wanted.vaddr + wanted.size - 1 < wanted.vaddr) return -EINVAL;
  if (!isMapped(wanted.vaddr, wanted.size)) return -EFAULT;
  channel::FunctionRequest request;
  clear(request, FunctionKind::kMap, domain);
  request.argument[0] = wanted.iova;
  request.argument[1] = wanted.vaddr;
  request.argument[2] = wanted.size;
  request.length = ((wanted.flags & VFIO_DMA_MAP_FLAG_READ) != 0 ? channel::kMapRead : 0U) |
                   ((wanted.flags & VFIO_DMA_MAP_FLAG_WRITE) != 0 ? channel::kMapWrite : 0U);
  channel::FunctionReply reply;
  return -call(request, reply);
}

long unmap(uint32_t domain, void* argument) {
  vfio_iommu_type1_dma_unmap wanted;
  memcpy(&wanted, argument, sizeof wanted);
  const bool isAll = wanted.flags == VFIO_DMA_UNMAP_FLAG_ALL;
  if (wanted.argsz < sizeof wanted || (wanted.flags != 0 && !isAll)) return -EINVAL;
  if (isAll != (wanted.size == 0) || (isAll && wanted.iova != 0)) return -EINVAL;
  if (((wanted.size | wanted.iova) & (channel::kBusPage - 1)) != 0) return -EINVAL;
  if (!isAll && wanted.iova + wanted.size - 1 < wanted.iova) return -EINVAL;
  channel::FunctionRequest request;
  clear(request, FunctionKind::kUnmap, domain);
  request.argument[0] = wanted.iova;
  request.argument[1] = wanted.size;
  channel::FunctionReply reply;
  const int error = call(request, reply);
  wanted.size = error == 0 ? reply.value : 0;
  memcpy(argument, &wanted, sizeof wanted);
  return -error;
}

}  // namespace

bool hasExtension(unsigned long extension) {
  return extension == VFIO_TYPE1_IOMMU || extension == VFIO_TYPE1v2_IOMMU || extension == VFIO_UNMAP_ALL;
}

long type1Request(uint32_t domain, unsigned long code, void* argument) {
  if (argument == nullptr) return -EFAULT;
  if (code == VFIO_IOMMU_GET_INFO) return getInfo(argument);
  if (code == VFIO_IOMMU_MAP_DMA) return map(domain, argument);
  if (code == VFIO_IOMMU_UNMAP_DMA) return unmap(domain, argument);
  return -ENOTTY;
}

}  // namespace hca::shim
