// The compressed session that a completion queue has open.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/adapter/completion/completion_port.h"
#include "models/adapter/completion/session_policy.h"
#include "models/base/units.h"
#include "models/wire/cqe.h"

namespace hca::adapter {

/// cqc.cqe_comp_layout
enum class CompressionLayout : std::uint8_t { kBasic = 0, kEnhanced = 1 };

/// Completions that were accepted, have their index in the ring, and are not written yet. In the basic layout that is
/// the whole session; in the enhanced one the title is written at once, and one block of mini CQEs is gathered.
struct CompressedSession {
  struct Held {
    std::uint64_t mini = 0;  ///< the bytes of its mini CQE
    observe::WorkRequestId request;
  };

  bool open = false;
  CompletionRecord title;
  std::uint64_t timestamp = 0;  ///< of the title, ticks
  std::uint32_t size = 0;       ///< completions so far, the title included
  std::uint32_t advance = 0;    ///< how far the WQE counter of the next will be ahead of the title's
  Time opened{};
  std::uint64_t firstHeld = 0;  ///< ring index of held[0]
  std::vector<Held> held;
};

/// By how much `record` moves the WQE counter on: one entry, or in a striding queue the strides that it took.
[[nodiscard]] constexpr std::uint32_t advanceOf(const CompletionRecord& record) {
  return record.strides != 0 ? record.strides : 1;
}
/// The mini CQE of `record`: of a requester, or of a responder in format `format`, by the record's opcode.
[[nodiscard]] std::uint64_t miniCqeOf(const CompletionRecord& record, MiniFormat format);

using MiniCqeSlot = std::array<std::uint8_t, sizeof(wire::Cqe)>;
/// Basic layout: slot of mini CQEs [first, first + 8), zeros behind the last.
[[nodiscard]] MiniCqeSlot miniCqeArray(const std::vector<CompressedSession::Held>& held, std::size_t first);
/// Enhanced layout: all of `held` (one to seven), and the tail that makes the slot valid in pass `pass` of the ring.
[[nodiscard]] MiniCqeSlot miniCqeBlock(const std::vector<CompressedSession::Held>& held, std::uint64_t pass);

}  // namespace hca::adapter
