// Shared receive queues, as the command interface sees them.
#pragma once

#include <cstdint>

#include "models/adapter/command/command_result.h"
#include "models/adapter/receive_queue/srq_attributes.h"

namespace hca::adapter {

/// A number of another kind than the command's is unknown to it (kBadResource).
class SrqDirectory {
 public:
  /// Checks sizes, pages and, of an XRC queue, that its completion queue exists, which it then holds. `number` is set
  /// on success; a refused create changes nothing. The caller has checked the protection domain and the XRC domain.
  virtual CommandResult create(const SrqAttributes& attributes, SrqNumber& number) = 0;
  /// Refused as kSrqInUse while a queue pair uses it, or holds an entry of it.
  virtual CommandResult destroy(SrqKind kind, SrqNumber number) = 0;
  /// Gives the context with its present state, limit and counters.
  virtual CommandResult query(SrqKind kind, SrqNumber number, SrqAttributes& attributes) const = 0;
  /// Arms the limit: one event as soon as fewer than `limit` entries are left, at once if that is so now; 0 disarms.
  virtual CommandResult arm(SrqKind kind, SrqNumber number, std::uint16_t limit) = 0;

 protected:
  ~SrqDirectory() = default;
};

}  // namespace hca::adapter
