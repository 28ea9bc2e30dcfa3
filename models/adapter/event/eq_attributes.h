// An event queue's context, decoded.
#pragma once

#include <array>
#include <cstdint>

#include "models/adapter/memory/page_list.h"
#include "models/base/ids.h"

namespace hca::adapter {

/// eqc.status
enum class EqStatus : std::uint8_t { kOk = 0, kWriteFailed = 0xA };
/// eqc.st
enum class EqState : std::uint8_t { kIdle = 0, kArmed = 0x9, kFired = 0xA };

struct EqAttributes {
  EqStatus status = EqStatus::kOk;
  EqState state = EqState::kIdle;
  bool ignoreOverrun = false;
  std::uint8_t logSize = 0;
  UarIndex uar;
  InterruptVector vector;
  PageList ring;
  std::array<std::uint64_t, 4> eventBitmap{};  ///< bit n of word n/64: event type n comes here
  std::uint32_t consumerCounter = 0;
  std::uint32_t producerCounter = 0;
};

}  // namespace hca::adapter
