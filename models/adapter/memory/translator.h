// Protection check and translation of one access.
#pragma once

#include <cstdint>
#include <vector>

#include "models/adapter/memory/mkey_attributes.h"
#include "models/base/ids.h"

namespace hca::adapter {

enum class Access : std::uint8_t { kLocalRead, kLocalWrite, kRemoteRead, kRemoteWrite, kRemoteAtomic };

enum class AccessFault : std::uint8_t {
  kNone,
  kUnknownKey,  ///< no such index, wrong variant byte, or freed
  kWrongPd,
  kWrongQp,
  kOutOfRange,
  kDenied,  ///< the right is missing
};

struct AccessRequest {
  MemoryKey key;
  PdNumber pd;
  QpNumber qp;
  std::uint64_t address = 0;
  std::uint64_t length = 0;  ///< bytes; 0 passes without looking at the key (InfiniBand volume 1, 10.6.4 and 9.7.4.1)
  Access access = Access::kLocalRead;
  /// The check alone is wanted: no segment is appended, no translation looked up.
  bool checkOnly = false;
  bool isPrivileged = false;  ///< of the driver's own queue pair of UMRs: keys of every protection domain are its
};

/// One contiguous piece on the bus.
struct Segment {
  BusAddress address;
  std::uint32_t length = 0;
};

struct Translation {
  AccessFault fault = AccessFault::kNone;
  bool relaxedOrdering = false;
};

class Translator {
 public:
  /// Checks `request`; where it passes, appends its pieces in order to `segments` (neighbouring pages are merged).
  virtual Translation translate(const AccessRequest& request, std::vector<Segment>& segments) = 0;

 protected:
  ~Translator() = default;
};

}  // namespace hca::adapter
