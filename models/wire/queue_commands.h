// Layouts of the commands for event queues, completion queues, queue pairs, shared receive queues and memory keys.
// Linux include/linux/mlx5/mlx5_ifc.h, the structures mlx5_ifc_NAME_in_bits and mlx5_ifc_NAME_out_bits of each
// command's name. Sizes are without the page list. Outputs of CREATE, inputs of DESTROY and QUERY: ObjectCommand.
#pragma once

#include "models/wire/command_header.h"
#include "models/wire/completion_queue_context.h"
#include "models/wire/event_queue_context.h"
#include "models/wire/memory_key_context.h"
#include "models/wire/queue_pair_context.h"
#include "models/wire/shared_receive_context.h"

namespace hca::wire {

/// CREATE_EQ input. Output: EqCommand.
struct CreateEqInput {
  static constexpr std::size_t kSize = 0x110;
  using Context = ContextBlock<0x10, EventQueueContext::kSize>;
  /// Four words, in the order in which they lie: bit n of word n / 64 for event type n. Stored most significant byte
  /// first each. Linux drivers/net/ethernet/mellanox/mlx5/core/eq.c, create_map_eq.
  static constexpr std::size_t kEventMaskWords = 4;
  using EventMask = ContextWords64<0x58>;
  using Pages = ContextWords64<0x110>;
};

/// QUERY_EQ output.
struct QueryEqOutput {
  static constexpr std::size_t kSize = 0x110;
  using Context = ContextBlock<0x10, EventQueueContext::kSize>;
  using EventMask = ContextWords64<0x58>;
  using Pages = ContextWords64<0x110>;
};

/// GEN_EQE input.
struct GenerateEventInput {
  static constexpr std::size_t kSize = 0x50;
  using Number = ContextField<0x08, 7, 0>;
  using Entry = ContextBlock<0x10, 64>;
};

/// CREATE_CQ input. Output: ObjectCommand.
struct CreateCqInput {
  static constexpr std::size_t kSize = 0x110;
  using Context = ContextBlock<0x10, CompletionQueueContext::kSize>;
  using UmemOffset = ContextWord64<0x50>;
  using UmemId = ContextField<0x58, 31, 0>;
  using UmemValid = ContextField<0x5C, 31, 31>;
  using Pages = ContextWords64<0x110>;
};

/// QUERY_CQ output.
struct QueryCqOutput {
  static constexpr std::size_t kSize = 0x110;
  using Context = ContextBlock<0x10, CompletionQueueContext::kSize>;
  using Pages = ContextWords64<0x110>;
};

/// MODIFY_CQ input modifier.
enum class ModifyCqOperation : std::uint16_t { kModify = 0, kResize = 1 };

/// MODIFY_CQ input. Linux include/linux/mlx5/cq.h, MLX5_CQ_MODIFY_*, and mlx5_ifc.h, modify_field_select and
/// resize_field_select.
struct ModifyCqInput {
  static constexpr std::size_t kSize = 0x110;
  using Number = ContextField<0x08, 23, 0>;
  using Select = ContextField<0x0C, 31, 0>;  ///< the constants below
  using Context = ContextBlock<0x10, CompletionQueueContext::kSize>;
  using UmemId = ContextField<0x58, 31, 0>;
  using UmemValid = ContextField<0x5C, 31, 31>;
  using Pages = ContextWords64<0x110>;

  static constexpr std::uint32_t kSelectPeriod = 1;
  static constexpr std::uint32_t kSelectCount = 2;
  static constexpr std::uint32_t kSelectOverrun = 4;
  static constexpr std::uint32_t kSelectEq = 8;
  static constexpr std::uint32_t kSelectPeriodMode = 16;

  static constexpr std::uint32_t kResizeLogSize = 1;
  static constexpr std::uint32_t kResizePageOffset = 2;
  static constexpr std::uint32_t kResizePageSize = 4;
};

/// CREATE_QP input. Output: ObjectCommand.
struct CreateQpInput {
  static constexpr std::size_t kSize = 0x110;
  using OptionalMask = ContextField<0x10, 31, 0>;
  using Context = ContextBlock<0x18, QueuePairContext::kSize>;
  using UmemId = ContextField<0x108, 31, 0>;
  using UmemValid = ContextField<0x10C, 31, 31>;
  using Pages = ContextWords64<0x110>;
};

/// Input of RST2INIT, INIT2INIT, INIT2RTR, RTR2RTS, RTS2RTS, SQERR2RTS and those of the drained send queue. 2RST and
/// 2ERR: ObjectCommand.
struct ModifyQpInput {
  static constexpr std::size_t kSize = 0x110;
  /// RTS2SQD: an event when the send queue is drained. The public mlx5 driver never asks; the place is that of mlx4
  /// (Linux drivers/net/ethernet/mellanox/mlx4/qp.c, sqd_event).
  using DrainedEvent = ContextField<0x08, 31, 31>;
  using Number = ContextField<0x08, 23, 0>;
  using OptionalMask = ContextField<0x10, 31, 0>;
  using Context = ContextBlock<0x18, QueuePairContext::kSize>;
};

/// QUERY_QP output.
struct QueryQpOutput {
  static constexpr std::size_t kSize = 0x110;
  using OptionalMask = ContextField<0x10, 31, 0>;
  using Context = ContextBlock<0x18, QueuePairContext::kSize>;
  using Pages = ContextWords64<0x110>;
};

/// OptionalMask bits. Linux include/linux/mlx5/qp.h, enum mlx5_qp_optpar.
struct QpOptional {
  static constexpr std::uint32_t kAlternatePath = 1U << 0;
  static constexpr std::uint32_t kRemoteRead = 1U << 1;
  static constexpr std::uint32_t kRemoteAtomic = 1U << 2;
  static constexpr std::uint32_t kRemoteWrite = 1U << 3;
  static constexpr std::uint32_t kPkeyIndex = 1U << 4;
  static constexpr std::uint32_t kQueueKey = 1U << 5;
  static constexpr std::uint32_t kRnrTimeout = 1U << 6;
  static constexpr std::uint32_t kPrimaryPath = 1U << 7;
  static constexpr std::uint32_t kMaxOutstandingReads = 1U << 8;
  static constexpr std::uint32_t kMaxResponderReads = 1U << 9;
  static constexpr std::uint32_t kPathMigration = 1U << 10;
  static constexpr std::uint32_t kRetryCount = 1U << 12;
  static constexpr std::uint32_t kRnrRetry = 1U << 13;
  static constexpr std::uint32_t kAckTimeout = 1U << 14;
  static constexpr std::uint32_t kPrimaryPort = 1U << 16;
  static constexpr std::uint32_t kSharedReceiveQueue = 1U << 18;
  static constexpr std::uint32_t kReceiveCq = 1U << 19;
};

/// CREATE_XRC_SRQ and CREATE_SRQ input. Output: ObjectCommand.
struct CreateSrqInput {
  static constexpr std::size_t kSize = 0x110;
  using Context = ContextBlock<0x10, SharedReceiveContext::kSize>;
  using Pages = ContextWords64<0x110>;
};

/// QUERY_XRC_SRQ and QUERY_SRQ output.
struct QuerySrqOutput {
  static constexpr std::size_t kSize = 0x110;
  using Context = ContextBlock<0x10, SharedReceiveContext::kSize>;
};

/// ARM_RQ and ARM_XRC_SRQ input. The modifier of both is 1 for a shared receive queue, of the first 2 for one that
/// matches tags (Linux: MLX5_ARM_RQ_IN_OP_MOD_SRQ and _XRQ, MLX5_ARM_XRC_SRQ_IN_OP_MOD_XRC_SRQ).
struct ArmSrqInput {
  static constexpr std::size_t kSize = 16;
  static constexpr std::uint32_t kSharedReceiveQueue = 1;
  static constexpr std::uint32_t kTagMatchingQueue = 2;
  using Number = ContextField<0x08, 23, 0>;
  using LowWaterMark = ContextField<0x0C, 15, 0>;
};

/// CREATE_XRQ input. Output: ObjectCommand.
struct CreateXrqInput {
  static constexpr std::size_t kSize = 0x150;
  using Context = ContextBlock<0x10, TagMatchingQueueContext::kSize>;
  using Pages = ContextWords64<0x150>;
};

/// QUERY_XRQ output.
struct QueryXrqOutput {
  static constexpr std::size_t kSize = 0x150;
  using Context = ContextBlock<0x10, TagMatchingQueueContext::kSize>;
};

/// CREATE_RMP input. Output: ObjectCommand.
struct CreateRmpInput {
  static constexpr std::size_t kSize = 0x110;
  using Context = ContextBlock<0x20, ReceiveMemoryPoolContext::kSize>;
  using Pages = ContextWords64<0x110>;
};

/// MODIFY_RMP input.
struct ModifyRmpInput {
  static constexpr std::size_t kSize = 0x110;
  using State = ContextField<0x08, 31, 28>;
  using Number = ContextField<0x08, 23, 0>;
  using Mask = ContextWord64<0x10>;  ///< the constants below
  using Context = ContextBlock<0x20, ReceiveMemoryPoolContext::kSize>;

  static constexpr std::uint64_t kSelectLowWaterMark = 1;
};

/// QUERY_RMP output.
struct QueryRmpOutput {
  static constexpr std::size_t kSize = 0x110;
  using Context = ContextBlock<0x20, ReceiveMemoryPoolContext::kSize>;
};

/// ATTACH_TO_MCG and DETACH_FROM_MCG input.
struct MulticastInput {
  static constexpr std::size_t kSize = 0x20;
  using QpNumber = ContextField<0x08, 23, 0>;
  using Group = ContextBlock<0x10, 16>;  ///< GID
};

/// CREATE_MKEY input. Output: ObjectCommand, whose number is the key without its low byte.
struct CreateMemoryKeyInput {
  static constexpr std::size_t kSize = 0x110;
  using PageAccess = ContextField<0x0C, 31, 31>;
  using UmemValid = ContextField<0x0C, 30, 30>;
  using Context = ContextBlock<0x10, MemoryKeyContext::kSize>;
  using TranslationOctwords = ContextField<0x60, 31, 0>;  ///< 16-byte units that follow
  using Translations = ContextWords64<0x110>;             ///< TranslationEntry each
};

/// QUERY_MKEY output.
struct QueryMemoryKeyOutput {
  static constexpr std::size_t kSize = 0x130;
  using Context = ContextBlock<0x10, MemoryKeyContext::kSize>;
};

}  // namespace hca::wire
