// How an object table answers the command interface.
#pragma once

#include "models/adapter/command/syndromes.h"
#include "models/wire/command_status.h"

namespace hca::adapter {

using wire::CommandStatus;

/// Status and syndrome. Syndromes are ours (the vendor's are not public): each place that refuses has its own number,
/// listed in models/adapter/command/syndromes.h, so that a log line leads to the check that failed.
struct [[nodiscard]] CommandResult {
  CommandStatus status = CommandStatus::kOk;
  Syndrome syndrome = Syndrome::kNone;
  [[nodiscard]] bool ok() const { return status == CommandStatus::kOk; }
};

}  // namespace hca::adapter
