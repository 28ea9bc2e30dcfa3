// The acknowledge extended transport header's syndrome byte.
#pragma once

#include <cstdint>

#include "models/base/units.h"

namespace hca::adapter {

/// AETH[31:24], InfiniBand volume 1, 9.7.5.2.
namespace aeth {
constexpr std::uint8_t kAck = 0x1F;  ///< acknowledge, credit count invalid: no end-to-end flow control
constexpr std::uint8_t kRnrNak = 0x20;
constexpr std::uint8_t kNakSequence = 0x60;
constexpr std::uint8_t kNakInvalidRequest = 0x61;
constexpr std::uint8_t kNakRemoteAccess = 0x62;
constexpr std::uint8_t kNakRemoteOperation = 0x63;

constexpr bool isAck(std::uint8_t syndrome) { return (syndrome & 0xE0) == 0x00; }
constexpr bool isRnrNak(std::uint8_t syndrome) { return (syndrome & 0xE0) == kRnrNak; }
}  // namespace aeth

/// Delay that an RNR NAK's 5-bit timer code asks for, InfiniBand volume 1, table "RNR NAK timer field".
[[nodiscard]] Time rnrDelay(std::uint8_t code);

/// Local ACK time-out of a queue pair: 4.096 us x 2^code; code 0 means none (kForever).
[[nodiscard]] Time ackTimeout(std::uint8_t code);

}  // namespace hca::adapter
