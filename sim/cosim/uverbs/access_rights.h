// What a program may do with the memory that it registers.
#pragma once

#include <rdma/ib_user_ioctl_verbs.h>

#include <cerrno>
#include <cstdint>

#include "models/adapter/memory/mkey_attributes.h"

namespace hca::cosim {

/// Linux include/rdma/ib_verbs.h, ib_check_mr_access: 0, or the errno for flags that can't be.
[[nodiscard]] inline int checkAccess(std::uint32_t access) {
  constexpr std::uint32_t kKnownAccess =
      IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_READ |
      IB_UVERBS_ACCESS_REMOTE_ATOMIC | IB_UVERBS_ACCESS_MW_BIND | IB_UVERBS_ACCESS_ZERO_BASED |
      IB_UVERBS_ACCESS_ON_DEMAND | IB_UVERBS_ACCESS_HUGETLB | IB_UVERBS_ACCESS_OPTIONAL_RANGE;
  constexpr std::uint32_t kRemoteChange = IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC;
  if ((access & kRemoteChange) != 0 && (access & IB_UVERBS_ACCESS_LOCAL_WRITE) == 0) return EINVAL;
  if ((access & ~kKnownAccess) != 0) return EINVAL;
  if ((access & IB_UVERBS_ACCESS_ON_DEMAND) != 0) return EOPNOTSUPP;
  return 0;
}

inline void setRights(adapter::MkeyAttributes& key, std::uint32_t access) {
  key.rights.localRead = true;
  key.rights.localWrite = (access & IB_UVERBS_ACCESS_LOCAL_WRITE) != 0;
  key.rights.remoteRead = (access & IB_UVERBS_ACCESS_REMOTE_READ) != 0;
  key.rights.remoteWrite = (access & IB_UVERBS_ACCESS_REMOTE_WRITE) != 0;
  key.rights.atomic = (access & IB_UVERBS_ACCESS_REMOTE_ATOMIC) != 0;
  key.relaxedOrderingWrite = key.relaxedOrderingRead = (access & IB_UVERBS_ACCESS_RELAXED_ORDERING) != 0;
}

}  // namespace hca::cosim
