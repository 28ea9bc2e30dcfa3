// Where everything lies in BAR0.
//
//   0x0000000  initialisation segment: versions, command queue, health, timers
//   0x0010000  MSI-X table, 16 bytes a vector
//   0x0018000  MSI-X pending bits
//   0x0040000  UAR pages, 4 KiB each; page n lies at n * 4 KiB, so the first has number 64
//   0x1F00000  device memory (MEMIC), as much as there is
//
// The UAR numbers that the adapter hands out therefore never meet the initialisation segment or the MSI-X table.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hca::wire {

constexpr std::uint64_t kBar0Size = 32ULL << 20;

/// Offsets in the initialisation segment. Linux include/linux/mlx5/mlx5_ifc.h, struct mlx5_ifc_initial_seg_bits, and
/// device.h, struct mlx5_init_seg. All registers are 32-bit, big-endian.
struct InitSegment {
  static constexpr std::uint64_t kFirmwareRevision = 0x00;  ///< minor[31:16], major[15:0]
  static constexpr std::uint64_t kCommandRevision = 0x04;   ///< interface revision[31:16], firmware subminor[15:0]
  static constexpr std::uint64_t kCommandQueueHigh = 0x10;  ///< address[63:32]
  static constexpr std::uint64_t kCommandQueueLow = 0x14;   ///< see CommandQueueLow
  static constexpr std::uint64_t kCommandDoorbell = 0x18;   ///< bit n: slot n has a command
  static constexpr std::uint64_t kInitializing = 0x1FC;     ///< bit 31: not ready yet, bit 30: a reset can be asked for
  static constexpr std::uint64_t kHealthBuffer = 0x200;     ///< 64 bytes, see HealthBuffer
  static constexpr std::uint64_t kCommandTimeout = 0xFF8;   ///< cmd_exec_to, see DriverTimeout
  static constexpr std::uint64_t kInitialisationTimeout = 0xFFC;  ///< cmd_q_init_to; 0: no time-out is told at all
  static constexpr std::uint64_t kInternalTimerHigh = 0x1000;
  static constexpr std::uint64_t kInternalTimerLow = 0x1004;
  static constexpr std::uint64_t kClearInterrupt = 0x100C;
  static constexpr std::uint64_t kHealthCounter = 0x1010;  ///< [23:0] moves while the adapter lives
  static constexpr std::uint64_t kRealTimeHigh = 0x1040;
  static constexpr std::uint64_t kRealTimeLow = 0x1044;
  static constexpr std::uint64_t kSize = 0x4000;

  /// Value of kCommandRevision[31:16] that drivers insist on.
  static constexpr std::uint32_t kSupportedCommandRevision = 5;
};

/// Offsets from InitSegment::kHealthBuffer. struct mlx5_ifc_health_buffer_bits.
struct HealthBuffer {
  static constexpr std::uint64_t kAssertExitPointer = 0x20;
  static constexpr std::uint64_t kAssertReturnAddress = 0x24;
  static constexpr std::uint64_t kFirmwareVersion = 0x30;
  static constexpr std::uint64_t kHardwareId = 0x34;
  static constexpr std::uint64_t kSeverity = 0x38;  ///< bit 31: the firmware asks for a reset
  static constexpr std::uint64_t kSyndrome = 0x3C;  ///< index[31:24], syndrome[23:16], extended[15:0]
  static constexpr std::uint64_t kSize = 0x40;
};

constexpr std::uint64_t kMsixTableOffset = 0x10000;
constexpr std::uint64_t kMsixPendingOffset = 0x18000;
constexpr std::size_t kMsixEntrySize = 16;
/// As many as the table's room and PCI allow.
constexpr std::uint32_t kMaxMsixVectors = 2048;

/// The most that drivers can use is 256 pages of 4 KiB (Linux drivers/infiniband/hw/mlx5/dm.h, MLX5_MAX_MEMIC_PAGES).
constexpr std::uint64_t kMaxDeviceMemory = 1ULL << 20;
constexpr std::uint64_t kDeviceMemoryOffset = kBar0Size - kMaxDeviceMemory;
/// Whether `barOffset` is in the window of device memory, of which the adapter may fill only a part.
[[nodiscard]] constexpr bool isDeviceMemoryOffset(std::uint64_t barOffset) {
  return barOffset >= kDeviceMemoryOffset && barOffset < kBar0Size;
}

constexpr std::uint64_t kUarPageSize = 4096;
constexpr std::uint32_t kFirstUarIndex = 64;
constexpr std::uint32_t kUarIndexEnd = kDeviceMemoryOffset / kUarPageSize;

static_assert(kMsixTableOffset >= InitSegment::kSize, "MSI-X table clear of the initialisation segment");
static_assert(kMsixTableOffset + kMaxMsixVectors * kMsixEntrySize <= kMsixPendingOffset);
static_assert(kMsixPendingOffset + kMaxMsixVectors / 8 <= kFirstUarIndex * kUarPageSize, "UARs clear of MSI-X");

/// Offsets in a UAR page. rdma-core providers/mlx5/mlx5.h, MLX5_CQ_DOORBELL; Linux .../mlx5/core/eq.c,
/// MLX5_EQ_DOORBEL_OFFSET; device.h, MLX5_BF_OFFSET.
struct UarPage {
  static constexpr std::uint64_t kCqArm = 0x20;     ///< 64-bit: CqArm
  static constexpr std::uint64_t kEqArm = 0x40;     ///< 32-bit: EqDoorbell, updates the index and arms
  static constexpr std::uint64_t kEqUpdate = 0x48;  ///< 32-bit: EqDoorbell, updates the index
  static constexpr std::uint64_t kBlueFlame = 0x800;
  static constexpr unsigned kBlueFlameRegisters = 4;        ///< two of them for low latency
  static constexpr unsigned kLogBlueFlameRegisterSize = 9;  ///< 512 bytes: two halves, used in turn
  static constexpr std::uint64_t kBlueFlameRegisterSize = 1U << kLogBlueFlameRegisterSize;
  static constexpr std::uint64_t kBlueFlameHalf = kBlueFlameRegisterSize / 2;

  /// Offset of half `half` of register `index`.
  [[nodiscard]] static constexpr std::uint64_t blueFlame(unsigned index, unsigned half) {
    return kBlueFlame + index * kBlueFlameRegisterSize + half * kBlueFlameHalf;
  }
};

static_assert(UarPage::blueFlame(UarPage::kBlueFlameRegisters, 0) == kUarPageSize, "the registers fill the page");

/// Offset in BAR0 of UAR page `index`.
[[nodiscard]] constexpr std::uint64_t uarOffset(std::uint32_t index) { return index * kUarPageSize; }
/// Whether `barOffset` is in a UAR page (of any number from kFirstUarIndex on).
[[nodiscard]] constexpr bool isUarOffset(std::uint64_t barOffset) {
  return barOffset >= uarOffset(kFirstUarIndex) && barOffset < kDeviceMemoryOffset;
}
[[nodiscard]] constexpr std::uint32_t uarIndexOf(std::uint64_t barOffset) {
  return static_cast<std::uint32_t>(barOffset / kUarPageSize);
}
[[nodiscard]] constexpr std::uint64_t offsetInUar(std::uint64_t barOffset) { return barOffset % kUarPageSize; }

}  // namespace hca::wire
