// No moderation.
#pragma once

#include "sim/driver/moderation/moderation_policy.h"

namespace hca::driver {

/// Every arm is answered by the next completion.
class NoModeration final : public ModerationPolicy {
 public:
  [[nodiscard]] CqModerationSetting initial() const override { return {}; }
  std::optional<CqModerationSetting> onRound(Time, std::uint64_t) override { return std::nullopt; }
  void onApplied() override {}
};

}  // namespace hca::driver
