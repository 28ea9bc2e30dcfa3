// All that the adapter keeps of one event queue.
#pragma once

#include <cstdint>

#include "models/adapter/event/eq_attributes.h"

namespace hca::adapter {

/// What one event queue counts.
struct EqCounters {
  std::uint64_t events = 0;      ///< entries written
  std::uint64_t overflows = 0;   ///< events lost because the queue was full
  std::uint64_t arms = 0;        ///< doorbells that armed
  std::uint64_t interrupts = 0;  ///< times it fired its vector
};

/// Owned by EqEngine.
struct EventQueue {
  EqNumber number;
  std::uint8_t serial = 0;  ///< tells successive queues of one number apart
  EqAttributes attributes;  ///< as created, with the present status and state; the indices are in the members below
  std::uint32_t holders = 0;
  std::uint64_t produced = 0;
  std::uint64_t consumed = 0;
  EqCounters counters;

  [[nodiscard]] std::uint64_t size() const { return std::uint64_t{1} << attributes.logSize; }
  [[nodiscard]] bool takes(std::uint8_t type) const {
    constexpr unsigned kBitsPerWord = 64;
    return (attributes.eventBitmap[type / kBitsPerWord] >> (type % kBitsPerWord) & 1) != 0;
  }
};

}  // namespace hca::adapter
