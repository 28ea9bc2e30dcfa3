// From completion entries to work completions.
#pragma once

#include <cstdint>

#include "models/adapter/command/command_result.h"
#include "models/wire/cqe.h"
#include "sim/driver/verbs_types.h"

namespace hca::driver {

/// ibv_wc_status of an error entry's syndrome (rdma-core providers/mlx5/cq.c, mlx5_handle_error_cqe).
[[nodiscard]] WcStatus statusOf(std::uint8_t syndrome);

/// Which ring an entry retires a request of.
enum class CompletedQueue : std::uint8_t { kNone, kSend, kReceive };
[[nodiscard]] CompletedQueue completedQueue(wire::CqeOpcode opcode);

/// Everything of a work completion but its wr_id. `cqe` is one that completes a queue's request.
[[nodiscard]] WorkCompletion parseCompletion(const wire::Cqe& cqe);

/// errno of a command's status (Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c, cmd_status_to_err).
[[nodiscard]] VerbsError errorOf(const adapter::CommandResult& result);

}  // namespace hca::driver
