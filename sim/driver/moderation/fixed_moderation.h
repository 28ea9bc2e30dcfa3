// Moderation as it was asked for.
#pragma once

#include "sim/driver/moderation/moderation_policy.h"

namespace hca::driver {

/// Keeps the setting that the queue was created with.
class FixedModeration final : public ModerationPolicy {
 public:
  explicit FixedModeration(const CqModerationSetting& setting) : setting_(setting) {}
  [[nodiscard]] CqModerationSetting initial() const override { return setting_; }
  std::optional<CqModerationSetting> onRound(Time, std::uint64_t) override { return std::nullopt; }
  void onApplied() override {}

 private:
  CqModerationSetting setting_;
};

}  // namespace hca::driver
