// What a responder owes its peer, in order.
#pragma once

#include <cstdint>

#include "models/base/ids.h"
#include "models/observe/work_request_id.h"

namespace hca::adapter {

/// One acknowledgement, read or atomic that waits for its turn on the wire.
struct Response {
  enum class Kind : std::uint8_t { kAcknowledge, kRead, kAtomic };

  Kind kind = Kind::kAcknowledge;
  std::uint8_t syndrome = 0;
  std::uint32_t psn = 0;  ///< of its first packet
  std::uint32_t messageNumber = 0;
  std::uint64_t address = 0;  ///< of a read: where it starts
  MemoryKey key;
  PdNumber domain;           ///< of a read: whose key it is
  std::uint32_t length = 0;  ///< of a read, bytes
  std::uint32_t sent = 0;    ///< bytes of it handed to the wire
  bool started = false;      ///< at least one packet handed over
  bool ready = true;         ///< of an atomic: executed
  std::uint64_t result = 0;  ///< of an atomic: the value before
  observe::WorkRequestId request;
};

}  // namespace hca::adapter
