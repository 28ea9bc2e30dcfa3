// How an object table answers the command interface.
#pragma once

#include <cstdint>

#include "models/adapter/command/syndromes.h"

namespace hca::adapter {

/// Status byte of a command's output. Values: enum mlx5_cmd_status of the public Linux driver.
enum class CommandStatus : std::uint8_t {
  kOk = 0x00,
  kInternalError = 0x01,
  kBadOperation = 0x02,
  kBadParameter = 0x03,
  kBadSystemState = 0x04,
  kBadResource = 0x05,
  kResourceBusy = 0x06,
  kExceedLimit = 0x08,
  kBadResourceState = 0x09,
  kBadIndex = 0x0A,
  kNoResources = 0x0F,
  kBadQpState = 0x10,
  kBadPacket = 0x30,
  kBadSize = 0x40,
  kBadInputLength = 0x50,
  kBadOutputLength = 0x51,
};

/// A few words for logs, as the public Linux driver has them (drivers/net/ethernet/mellanox/mlx5/core/cmd.c).
[[nodiscard]] const char* name(CommandStatus status);

/// Status and syndrome. Syndromes are ours (the vendor's are not public): each place that refuses has its own number,
/// listed in models/adapter/command/syndromes.h, so that a log line leads to the check that failed.
struct [[nodiscard]] CommandResult {
  CommandStatus status = CommandStatus::kOk;
  Syndrome syndrome = Syndrome::kNone;
  [[nodiscard]] bool ok() const { return status == CommandStatus::kOk; }
};

}  // namespace hca::adapter
