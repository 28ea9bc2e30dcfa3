// A completion queue's context, decoded.
#pragma once

#include <cstdint>

#include "models/adapter/memory/page_list.h"
#include "models/base/ids.h"
#include "models/base/units.h"

namespace hca::adapter {

/// cqc.cqe_sz. No adapter has k32: the second half of an entry of 64 bytes, which leaves out where a receive came from,
/// checksums and inline data. It is there to study what it would save.
enum class CqeStride : std::uint8_t { k64 = 0, k128 = 1, k128Padded = 2, k32 = 3 };
/// cqc.cq_period_mode: the moderation period starts at ...
enum class PeriodMode : std::uint8_t { kFromEvent = 0, kFromEntry = 1 };
/// cqc.cq_timestamp_format; the default is free running.
enum class TimestampFormat : std::uint8_t { kFreeRunning = 0, kDefault = 1, kRealTime = 2 };
/// cqc.st
enum class NotificationState : std::uint8_t {
  kIdle = 0,
  kArmedSolicited = 0x6,
  kArmed = 0x9,
  kFired = 0xA,
  kAlwaysArmed = 0xB
};
/// cqc.status
enum class CqStatus : std::uint8_t { kOk = 0, kOverflow = 0x9, kWriteFailed = 0xA };

struct CqAttributes {
  CqStatus status = CqStatus::kOk;
  CqeStride stride = CqeStride::k64;
  bool collapsed = false;
  bool ignoreOverrun = false;
  bool solicitedBreaksModeration = false;
  bool alwaysArmed = false;
  bool compression = false;
  std::uint8_t miniFormat = 0;
  std::uint8_t miniFormatExtension = 0;
  std::uint8_t compressionLayout = 0;
  TimestampFormat timestampFormat = TimestampFormat::kFreeRunning;
  PeriodMode periodMode = PeriodMode::kFromEvent;
  NotificationState notification = NotificationState::kIdle;
  std::uint8_t logSize = 0;  ///< log2 of the number of entries
  UarIndex uar;
  EqNumber eq;
  std::uint16_t moderationPeriod = 0;  ///< microseconds
  std::uint16_t moderationCount = 0;   ///< entries
  PageList ring;
  BusAddress doorbellRecord;
  std::uint32_t lastNotifiedIndex = 0;  ///< 24 bits
  std::uint32_t lastSolicitedIndex = 0;
  std::uint32_t consumerCounter = 0;
  std::uint32_t producerCounter = 0;
};

}  // namespace hca::adapter
