// How CqEngine names the queue and entry that a DMA request is for.
#pragma once

#include <cstdint>

#include "models/adapter/completion/completion_queue.h"
#include "models/wire/field.h"

namespace hca::adapter {

/// The token of a DMA request of the completion block.
struct CqDmaToken {
  using Watched = wire::Field<std::uint64_t, 63, 36>;        ///< slot of a watched CQE plus one; 0: none
  using Refresh = wire::Field<std::uint64_t, 32, 32, bool>;  ///< a read for a command
  using Serial = wire::Field<std::uint64_t, 31, 24>;         ///< of the queue
  using Number = wire::Field<std::uint64_t, 23, 0>;          ///< of the queue

  static std::uint64_t of(const CompletionQueue& queue, std::uint64_t watched = 0) {
    return Watched::make(watched) | Serial::make(queue.serial) | Number::make(queue.number.value());
  }
};

}  // namespace hca::adapter
