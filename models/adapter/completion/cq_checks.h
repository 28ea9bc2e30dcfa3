// Whether a completion queue can be created as asked.
#pragma once

#include "models/adapter/command/command_result.h"
#include "models/adapter/completion/completion_config.h"
#include "models/adapter/completion/cq_attributes.h"

namespace hca::adapter {

/// Largest moderation period, in microseconds: cqc.cq_period has 12 bits.
constexpr std::uint16_t kMaxCqPeriod = 4095;

/// Size, entry format, moderation, pages and doorbell record; the statuses are those of CqDirectory.
CommandResult checkCompletionQueue(const CqAttributes& attributes, const CompletionConfig& config);

}  // namespace hca::adapter
