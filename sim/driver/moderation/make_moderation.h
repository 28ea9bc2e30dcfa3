// The moderation policies by name.
#pragma once

#include <memory>

#include "sim/driver/moderation/moderation_policy.h"
#include "sim/driver/verbs_types.h"

namespace hca::driver {

/// The policy that `request` asks for.
[[nodiscard]] std::unique_ptr<ModerationPolicy> makeModeration(const CqRequest& request);

}  // namespace hca::driver
