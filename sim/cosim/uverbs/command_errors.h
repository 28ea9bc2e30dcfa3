// Statuses of the command interface as the errors that system calls return.
#pragma once

#include <cerrno>

#include "models/adapter/command/command_result.h"

namespace hca::cosim {

/// Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c, cmd_status_to_err and wait_func.
[[nodiscard]] inline int errnoOf(const adapter::CommandResult& result) {
  using adapter::CommandStatus;
  if (result.syndrome == adapter::Syndrome::kCommandTimedOut) return ETIMEDOUT;
  switch (result.status) {
    case CommandStatus::kOk:
      return 0;
    case CommandStatus::kBadOperation:
    case CommandStatus::kBadParameter:
    case CommandStatus::kBadResource:
    case CommandStatus::kBadResourceState:
    case CommandStatus::kBadQpState:
    case CommandStatus::kBadPacket:
    case CommandStatus::kBadIndex:
    case CommandStatus::kBadSize:
      return EINVAL;
    case CommandStatus::kResourceBusy:
      return EBUSY;
    case CommandStatus::kExceedLimit:
      return ENOMEM;
    case CommandStatus::kNoResources:
      return EAGAIN;
    default:
      return EIO;
  }
}

}  // namespace hca::cosim
