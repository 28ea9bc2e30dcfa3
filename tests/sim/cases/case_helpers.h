// What the cases share.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {

using Statuses = std::vector<std::pair<std::uint64_t, driver::WcStatus>>;

inline driver::CqRequest depth(std::int32_t cqe) {
  driver::CqRequest request;
  request.cqe = cqe;
  request.withChannel = true;
  return request;
}

inline driver::SendWorkRequest remote(const BlockingThread& peer, driver::SendWorkRequest request) {
  request.remoteAddress = peer.buffer();
  request.remoteKey = peer.region().remoteKey;
  return request;
}

/// What no memory region has.
inline MemoryKey badKey(const BlockingThread& thread) { return MemoryKey(thread.region().remoteKey.value() ^ 0x100); }

inline Statuses statuses(const std::vector<driver::WorkCompletion>& completions) {
  Statuses result;
  for (const driver::WorkCompletion& completion : completions)
    result.emplace_back(completion.workRequestId, completion.status);
  return result;
}

}  // namespace hca::test
