// What a container with a type 1 IOMMU is asked.
#pragma once

#include <stdint.h>

namespace hca::shim {

/// Of a container without a kind of IOMMU.
constexpr uint32_t kNoDomain = ~0U;

/// VFIO_CHECK_EXTENSION.
[[nodiscard]] bool hasExtension(unsigned long extension);
/// VFIO_IOMMU_GET_INFO, VFIO_IOMMU_MAP_DMA and VFIO_IOMMU_UNMAP_DMA: 0, or a negative errno.
long type1Request(uint32_t domain, unsigned long code, void* argument);

}  // namespace hca::shim
