// Which completions are written together in compressed form.
#pragma once

#include <cstdint>
#include <optional>

#include "models/adapter/completion/completion_port.h"

namespace hca::adapter {

/// What ended a compressed session.
enum class SessionEnd : std::uint8_t {
  kMismatch,        ///< the next completion differs in a field that a mini CQE doesn't have
  kCount,           ///< as many completions as a session may have
  kTimeout,         ///< the oldest has waited long enough
  kError,           ///< the next completion is an error
  kSolicited,       ///< the next completion is a solicited one
  kInline,          ///< the next completion carries data
  kForcedEvent,     ///< the next completion raises an event of its own (CE = 3)
  kResize,          ///< the ring is replaced
  kArm,             ///< software wants to be told of the next completion
  kModeration,      ///< the event that gathers the completions is due
  kQueuePairReset,  ///< no completion of the queue pair may be written later
  kOverrun,         ///< the ring is full
};
constexpr std::size_t kSessionEnds = static_cast<std::size_t>(SessionEnd::kOverrun) + 1;

using wire::MiniFormat;

/// Says which completions may share a session. Count, time-out, arms and moderation are the writer's.
class SessionPolicy {
 public:
  virtual ~SessionPolicy() = default;
  /// Why `record` can be in no session at all; nothing if it may open one.
  [[nodiscard]] virtual std::optional<SessionEnd> excludes(const CompletionRecord& record) const = 0;
  /// Why `record` can't follow where a WQE counter would be `advance` ahead of the title's; nothing if it can. Called
  /// for records that are not excluded.
  [[nodiscard]] virtual std::optional<SessionEnd> parts(const CompletionRecord& title, std::uint32_t advance,
                                                        const CompletionRecord& record) const = 0;
};

/// The policy of this adapter: a completion goes on with a session if the reader can restore it from title and mini CQE
/// exactly, but for its time stamp. The vendor's rule is not public beyond "almost identical".
[[nodiscard]] const SessionPolicy& restorableEntries(MiniFormat format);

}  // namespace hca::adapter
