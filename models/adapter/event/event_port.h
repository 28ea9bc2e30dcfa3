// How blocks raise events.
#pragma once

#include <cstdint>

#include "models/base/ids.h"

namespace hca::adapter {

/// EQE type byte.
enum class EventType : std::uint8_t {
  kCompletion = 0x00,
  kPathMigrated = 0x01,
  kCommunicationEstablished = 0x02,
  kSqDrained = 0x03,
  kCqError = 0x04,
  kWqCatastrophic = 0x05,
  kPathMigrationFailed = 0x07,
  kInternalError = 0x08,
  kPortChange = 0x09,
  kCommand = 0x0A,
  kPageRequest = 0x0B,
  kWqInvalidRequest = 0x10,
  kWqAccessError = 0x11,
  kSrqCatastrophic = 0x12,
  kSrqLastWqe = 0x13,
  kSrqLimit = 0x14,
  kDctDrained = 0x1C,
};

/// An asynchronous event; `object` and `syndrome` as the type has them (QP, CQ, SRQ or port number).
struct EventRecord {
  EventType type = EventType::kCompletion;
  std::uint8_t subType = 0;
  std::uint32_t object = 0;
  std::uint8_t syndrome = 0;
  std::uint64_t value = 0;  ///< command slot bitmap, number of pages
};

/// Takes events; each becomes an EQE in the right queue, behind all DMA writes issued before.
class EventPort {
 public:
  /// A completion event of `cq`, into event queue `eq`. A destroyed queue swallows it (counted).
  virtual void raiseCompletion(EqNumber eq, CqNumber cq) = 0;
  /// An asynchronous or command event, into every event queue whose bitmap has the type (one, by the driver's rules).
  virtual void raise(const EventRecord& event) = 0;

 protected:
  ~EventPort() = default;
};

}  // namespace hca::adapter
