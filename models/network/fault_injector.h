// Which packets of one direction of a link something happens to.
#pragma once

#include <cstdint>

#include "models/base/units.h"
#include "models/network/fault_config.h"
#include "models/network/packet_numbers.h"

namespace hca::network {

/// What happens to one packet.
struct Fault {
  bool lose = false;
  bool corrupt = false;
  bool duplicate = false;
  bool hold = false;
  bool distort = false;
};

/// Decides by probability, burst and number. Each decision is a function of seed, kind of fault and packet number
/// alone: to switch one kind on or off, or to change another direction's traffic, moves no other decision.
class FaultInjector {
 public:
  /// Injects nothing.
  FaultInjector() = default;
  /// `stream` tells directions with the same seed apart. Throws std::invalid_argument if a list of packet numbers is
  /// none.
  FaultInjector(const FaultConfig& config, std::uint64_t seed, std::uint64_t stream);

  [[nodiscard]] bool isActive() const { return active_; }
  [[nodiscard]] Time delayTime() const { return config_.delayTime; }

  /// What happens to the next packet; the first call is about number 1.
  Fault next();

 private:
  enum class Kind : std::uint64_t { kLoss, kCorruption, kDuplication, kDelay };
  [[nodiscard]] bool draw(Kind kind, double probability) const;

  FaultConfig config_;
  PacketNumbers lose_;
  PacketNumbers corrupt_;
  PacketNumbers duplicate_;
  PacketNumbers hold_;
  PacketNumbers distort_;
  std::uint64_t key_ = 0;
  std::uint64_t number_ = 0;
  std::uint32_t burstLeft_ = 0;  // of a loss under way
  bool active_ = false;
};

}  // namespace hca::network
