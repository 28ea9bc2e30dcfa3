// The status byte of a command's output.
#pragma once

#include <cstdint>

namespace hca::wire {

/// Values: enum mlx5_cmd_status of the public Linux driver (include/linux/mlx5/device.h of older kernels,
/// drivers/net/ethernet/mellanox/mlx5/core/cmd.c).
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
/// As that driver spells the value, without its prefix: "OK", "BAD_PARAM_ERR"; "UNKNOWN" for none of them.
[[nodiscard]] const char* driverName(CommandStatus status);

}  // namespace hca::wire
