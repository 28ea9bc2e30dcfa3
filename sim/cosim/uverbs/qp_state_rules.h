// Which attributes a program must and may give to a state change.
#pragma once

#include <cstdint>

namespace hca::cosim {

/// ib_uverbs_modify_qp::attr_mask, enum ib_qp_attr_mask.
struct QpMask {
  static constexpr std::uint32_t kState = 1U << 0;
  static constexpr std::uint32_t kCurrentState = 1U << 1;
  static constexpr std::uint32_t kDrainedEvent = 1U << 2;
  static constexpr std::uint32_t kAccess = 1U << 3;
  static constexpr std::uint32_t kPkeyIndex = 1U << 4;
  static constexpr std::uint32_t kPort = 1U << 5;
  static constexpr std::uint32_t kQueueKey = 1U << 6;
  static constexpr std::uint32_t kPath = 1U << 7;
  static constexpr std::uint32_t kPathMtu = 1U << 8;
  static constexpr std::uint32_t kTimeout = 1U << 9;
  static constexpr std::uint32_t kRetryCount = 1U << 10;
  static constexpr std::uint32_t kRnrRetry = 1U << 11;
  static constexpr std::uint32_t kReceivePsn = 1U << 12;
  static constexpr std::uint32_t kMaxReads = 1U << 13;
  static constexpr std::uint32_t kAlternatePath = 1U << 14;
  static constexpr std::uint32_t kMinRnrTimer = 1U << 15;
  static constexpr std::uint32_t kSendPsn = 1U << 16;
  static constexpr std::uint32_t kMaxResponderReads = 1U << 17;
  static constexpr std::uint32_t kMigrationState = 1U << 18;
  static constexpr std::uint32_t kCapacity = 1U << 19;
  static constexpr std::uint32_t kRemoteQp = 1U << 20;
  static constexpr std::uint32_t kRateLimit = 1U << 25;
};

/// States as verbs number them: reset, init, RTR, RTS, SQD, SQE, error.
enum class VerbsState : std::uint8_t { kReset, kInit, kReadyToReceive, kReadyToSend, kDrain, kSendError, kError };

/// Whether the change from `from` to `to` with these attributes is one of InfiniBand volume 1, table 95, for a queue
/// pair of verbs type `type`, or of UserQp::kDci (Linux drivers/infiniband/core/verbs.c, ib_modify_qp_is_ok).
[[nodiscard]] bool isModifyAllowed(std::uint8_t type, VerbsState from, VerbsState to, std::uint32_t mask);

}  // namespace hca::cosim
