// Packets of one queue pair on their way to the wire.
#pragma once

#include <cstdint>

namespace hca::adapter {

/// Head and tail of a linked list of EgressPipeline slots: the packets of one queue pair in one role, which leave in
/// order however their payload arrives.
struct EgressQueue {
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::uint32_t head = kNone;
  std::uint32_t tail = kNone;
};

}  // namespace hca::adapter
