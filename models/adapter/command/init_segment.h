// The registers at the start of BAR0.
#pragma once

#include <cstdint>
#include <optional>

#include "models/adapter/clock/adapter_clock.h"
#include "models/adapter/command/adapter_identity.h"
#include "models/base/byte_view.h"
#include "models/base/units.h"

namespace hca::adapter {

/// cmdq_addr_l_sz [10:8]. Linux drivers/net/ethernet/mellanox/mlx5/core/mlx5_core.h, MLX5_INITIAL_SEG_NIC_INTERFACE_*.
enum class NicInterface : std::uint8_t { kFullDriver = 0, kDisabled = 1, kNoDram = 2, kSoftwareReset = 7 };

/// What a register write asks the command interface to do.
struct RegisterEffect {
  enum class Kind : std::uint8_t { kNone, kDoorbell, kDisable, kIgnored };
  Kind kind = Kind::kNone;
  std::uint32_t slots = 0;  ///< kDoorbell: bit n for slot n
};

/// Register file of the initialisation segment (models/wire/mmio_map.h, InitSegment). Big-endian 32-bit registers; a
/// read may have any width, a write is one register or two. SystemC-free, told the time.
class InitSegment {
 public:
  /// 2^kLogEntries slots of 2^kLogStride bytes: what the public drivers support at most.
  static constexpr std::uint32_t kLogEntries = 5;
  static constexpr std::uint32_t kEntries = 1U << kLogEntries;
  static constexpr std::uint32_t kLogStride = 6;

  /// `clock`: behind the registers of the internal timer and the real time. `healthPeriod`: one count of the health
  /// counter.
  /// `commandTimeout`: what drivers are told to wait for an answer; 0: they are told nothing.
  InitSegment(const AdapterIdentity& identity, const AdapterClock& clock, Time healthPeriod, Time commandTimeout = {});

  /// Fills `into` with the registers from byte `offset` on; zero where there is none. `ready`: commands are accepted.
  /// `pendingSlots`: doorbells not yet served.
  void read(std::uint64_t offset, MutableByteView into, Time now, bool ready, std::uint32_t pendingSlots) const;
  /// One register write: `offset` on a dword.
  RegisterEffect write(std::uint64_t offset, std::uint32_t value);
  /// As after power-on.
  void reset();

  [[nodiscard]] BusAddress queueAddress() const { return BusAddress((std::uint64_t{queueHigh_} << 32) | queueLow_); }
  [[nodiscard]] bool hasQueue() const { return queueWritten_ && interface_ == NicInterface::kFullDriver; }
  [[nodiscard]] NicInterface interface() const { return interface_; }
  /// Health buffer syndrome; 0 is healthy. Linux .../mlx5/core/health.c, MLX5_HEALTH_SYNDR_*.
  /// `asksForReset`: the "reset firmware" bit of rfr_severity (MLX5_RFR_BIT_OFFSET).
  void setHealthSyndrome(std::uint8_t syndrome, bool asksForReset = false) {
    healthSyndrome_ = syndrome;
    asksForReset_ = asksForReset;
  }
  void stopHealthCounter(bool stopped, Time now);
  /// The interface reads as disabled.
  void disable() { interface_ = NicInterface::kDisabled; }

 private:
  [[nodiscard]] std::uint32_t registerAt(std::uint64_t offset, Time now, bool ready, std::uint32_t pendingSlots) const;
  [[nodiscard]] std::uint32_t healthRegister(std::uint64_t offset) const;
  [[nodiscard]] std::uint32_t healthCounter(Time now) const;
  RegisterEffect writeQueueLow(std::uint32_t value);

  std::uint32_t firmwareRevision_;
  std::uint32_t firmwareSubminor_;
  std::uint32_t hardwareId_;
  AdapterClock clock_;
  Time healthPeriod_;
  std::uint32_t queueHigh_ = 0;
  std::uint32_t queueLow_ = 0;
  bool queueWritten_ = false;
  NicInterface interface_ = NicInterface::kFullDriver;
  std::uint8_t healthSyndrome_ = 0;
  bool asksForReset_ = false;
  std::optional<std::uint32_t> stoppedCounter_;
  Time commandTimeout_;
};

}  // namespace hca::adapter
