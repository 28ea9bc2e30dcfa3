// The vendor error byte of an error CQE.
#pragma once

#include <cstdint>

namespace hca::adapter {

/// 0x81, 0x88 and 0xF9 are what ConnectX adapters report for these causes (seen in many public logs); the vendor's full
/// list is not public, so the others are ours: one number a cause, never changing.
namespace vendor_error {
constexpr std::uint8_t kNone = 0x00;
constexpr std::uint8_t kRetryExceeded = 0x81;
constexpr std::uint8_t kRnrRetryExceeded = 0x8D;
constexpr std::uint8_t kRemoteAccess = 0x88;
constexpr std::uint8_t kRemoteInvalidRequest = 0x8A;
constexpr std::uint8_t kRemoteOperation = 0x89;
constexpr std::uint8_t kFlushed = 0xF9;
constexpr std::uint8_t kLocalProtection = 0x51;
constexpr std::uint8_t kLocalLength = 0x52;
constexpr std::uint8_t kUnknownOpcode = 0x53;
constexpr std::uint8_t kMalformedWqe = 0x54;
constexpr std::uint8_t kUnreadableMemory = 0x55;
constexpr std::uint8_t kMessageTooLong = 0x56;
constexpr std::uint8_t kMemoryKeyRefused = 0x57;  ///< bind or invalidate
constexpr std::uint8_t kLocalAccess = 0x58;       ///< memory of a message under way was taken away
constexpr std::uint8_t kBadResponse = 0x59;
constexpr std::uint8_t kTagListOperation = 0x5A;  ///< no such place, a place in use, or no list
/// A message that had taken an entry of a shared queue broke off: UCX src/uct/ib/mlx5, UCT_IB_MLX5_CQE_VENDOR_SYND_PSN.
constexpr std::uint8_t kBrokenOff = 0x99;
}  // namespace vendor_error

}  // namespace hca::adapter
