// What software writes to tell the adapter: doorbell records in host memory and the words of doorbell registers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/wire/endian.h"
#include "models/wire/field.h"

namespace hca::wire {

/// Doorbell record of a completion queue. rdma-core providers/mlx5/mlx5.h, MLX5_CQ_SET_CI, MLX5_CQ_ARM_DB.
struct CqDoorbellRecord {
  Be32 consumerIndex;  ///< 24 bits
  Be32 arm;            ///< the arm command, see CqArmCommand

  using Index = Field<std::uint32_t, 23, 0>;
};

static_assert(sizeof(CqDoorbellRecord) == 8);
static_assert(offsetof(CqDoorbellRecord, consumerIndex) == 0 && offsetof(CqDoorbellRecord, arm) == 4);

/// Doorbell record of a queue pair. rdma-core providers/mlx5/mlx5.h, MLX5_RCV_DBR, MLX5_SND_DBR.
struct QpDoorbellRecord {
  Be32 receiveCounter;  ///< 16 bits: receive WQEs posted
  Be32 sendCounter;     ///< 16 bits: 64-byte send blocks posted

  using Counter = Field<std::uint32_t, 15, 0>;
};

static_assert(sizeof(QpDoorbellRecord) == 8);
static_assert(offsetof(QpDoorbellRecord, receiveCounter) == 0 && offsetof(QpDoorbellRecord, sendCounter) == 4);

/// High word of the CQ arm register, and second word of the doorbell record. rdma-core providers/mlx5/cq.c,
/// mlx5_arm_cq; Linux include/linux/mlx5/cq.h, mlx5_cq_arm.
struct CqArmCommand {
  using Sequence = Field<std::uint32_t, 29, 28>;
  using SolicitedOnly = Field<std::uint32_t, 24, 24, bool>;
  using Index = Field<std::uint32_t, 23, 0>;
};

/// The 64-bit word of the CQ arm register, decoded.
struct CqArm {
  std::uint32_t cq = 0;             ///< 24 bits
  std::uint32_t consumerIndex = 0;  ///< 24 bits
  std::uint8_t sequence = 0;        ///< 2 bits
  bool solicitedOnly = false;

  /// The word as the register sees it (host order; stored big-endian).
  [[nodiscard]] constexpr std::uint64_t word() const { return std::uint64_t{command()} << 32 | (cq & 0xFFFFFF); }

  /// The high word, which also goes into the doorbell record.
  [[nodiscard]] constexpr std::uint32_t command() const {
    return CqArmCommand::Sequence::make(sequence & 3U) | CqArmCommand::SolicitedOnly::make(solicitedOnly) |
           CqArmCommand::Index::make(consumerIndex & 0xFFFFFF);
  }

  [[nodiscard]] static constexpr CqArm fromWord(std::uint64_t word) {
    const auto high = static_cast<std::uint32_t>(word >> 32);
    CqArm arm;
    arm.cq = static_cast<std::uint32_t>(word) & 0xFFFFFF;
    arm.consumerIndex = CqArmCommand::Index::get(high);
    arm.sequence = static_cast<std::uint8_t>(CqArmCommand::Sequence::get(high));
    arm.solicitedOnly = CqArmCommand::SolicitedOnly::get(high);
    return arm;
  }
};

/// The 32-bit word of the two EQ registers. Linux drivers/net/ethernet/mellanox/mlx5/core/eq.c, eq_update_ci.
struct EqDoorbell {
  using Queue = Field<std::uint32_t, 31, 24>;
  using Index = Field<std::uint32_t, 23, 0>;

  std::uint8_t eq = 0;
  std::uint32_t consumerIndex = 0;  ///< 24 bits

  /// The word as the register sees it (host order; stored big-endian).
  [[nodiscard]] constexpr std::uint32_t word() const { return Queue::make(eq) | Index::make(consumerIndex & 0xFFFFFF); }
  [[nodiscard]] static constexpr EqDoorbell fromWord(std::uint32_t word) {
    EqDoorbell doorbell;
    doorbell.eq = static_cast<std::uint8_t>(Queue::get(word));
    doorbell.consumerIndex = Index::get(word);
    return doorbell;
  }
};

/// `a` minus `b` of free-running 24-bit indices, as the signed distance of less than half the range.
[[nodiscard]] constexpr std::int32_t indexDistance24(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>((a - b) << 8) >> 8;
}

}  // namespace hca::wire
