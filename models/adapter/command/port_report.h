// What ports say of themselves, whoever asks: vport contexts, registers, management datagrams.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/adapter/command/adapter_identity.h"
#include "models/adapter/command/command_device.h"

namespace hca::adapter {

/// PortInfo:PortState and PortPhysicalState. InfiniBand volume 1, 14.2.5.6.
enum class PortState : std::uint8_t { kDown = 1, kInitialize = 2, kArmed = 3, kActive = 4 };
enum class PortPhysicalState : std::uint8_t { kPolling = 2, kLinkUp = 5 };

[[nodiscard]] constexpr PortState stateOf(const PortIdentity& port) {
  return port.active ? PortState::kActive : PortState::kDown;
}
[[nodiscard]] constexpr PortPhysicalState physicalStateOf(const PortIdentity& port) {
  return port.active ? PortPhysicalState::kLinkUp : PortPhysicalState::kPolling;
}

/// 4.096 us * 2^18, what subnet managers usually set.
constexpr std::uint8_t kSubnetTimeout = 18;

/// PortInfo's capability masks: what the model does, and what software set beside it (software alone knows whether it
/// answers connection requests, say).
[[nodiscard]] std::uint32_t capabilityMaskOf(const CommandDevice& device, std::size_t portIndex);
[[nodiscard]] std::uint16_t capabilityMask2Of(const PortIdentity& port);
/// Bits of that mask that software may set and clear.
[[nodiscard]] std::uint32_t settablePortCapabilities();

[[nodiscard]] std::size_t gidTableSize(const CommandDevice& device);
[[nodiscard]] std::size_t pkeyTableSize(const CommandDevice& device);

}  // namespace hca::adapter
