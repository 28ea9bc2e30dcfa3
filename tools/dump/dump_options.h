// What the user says about the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "models/wire/cqe.h"

namespace hca::dump {

enum class QueueKind : std::uint8_t { kCompletion, kEvent, kSend, kReceive, kSharedReceive };
enum class Layout : std::uint8_t { kNone, kBasic, kEnhanced };

struct DumpOptions {
  QueueKind queue = QueueKind::kCompletion;
  std::size_t entrySize = 64;       ///< CQE 64 or 128; stride of a receive queue; EQE and send block: 64
  std::optional<unsigned> logSize;  ///< entries of the ring; without it: as many as were read
  std::uint32_t index = 0;          ///< free-running consumer index
  Layout layout = Layout::kNone;    ///< of compressed sessions
  wire::MiniFormat format = wire::MiniFormat::kHash;
  bool striding = false;  ///< receives that complete there are of striding queues
  bool brief = false;     ///< one line an entry
};

}  // namespace hca::dump
