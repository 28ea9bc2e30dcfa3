// Who decides how events of a completion queue are moderated.
#pragma once

#include <cstdint>
#include <optional>

#include "models/base/units.h"

namespace hca::driver {

/// What ibv_modify_cq sets. Both 0: no moderation.
struct CqModerationSetting {
  std::uint16_t count = 0;   ///< entries
  std::uint16_t period = 0;  ///< microseconds
};

/// One completion queue's policy. A round is what software takes from the queue until it finds it empty and arms it.
class ModerationPolicy {
 public:
  virtual ~ModerationPolicy() = default;

  /// What the queue is created with.
  [[nodiscard]] virtual CqModerationSetting initial() const = 0;
  /// A round of `completions` > 0 ended. Returns what is to be set from now on, if that changes; it is answered by
  /// `onApplied` when the adapter has it.
  virtual std::optional<CqModerationSetting> onRound(Time now, std::uint64_t completions) = 0;
  virtual void onApplied() = 0;
};

}  // namespace hca::driver
