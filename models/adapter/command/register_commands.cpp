// ACCESS_REG: registers of the adapter and its ports.
#include <algorithm>

#include "models/adapter/command/command_handlers.h"
#include "models/wire/device_commands.h"
#include "models/wire/driver_timeout.h"
#include "models/wire/vport_context.h"

namespace hca::adapter::commands {
namespace {

using wire::RegisterAccess;
using wire::RegisterId;

constexpr CommandResult kReadOnly{CommandStatus::kBadParameter, Syndrome::kRegisterReadOnly};
constexpr std::uint32_t kInfiniBandProtocol = 1;
constexpr std::uint32_t kUp = 1;
constexpr std::uint32_t kDown = 2;

/// The register's bytes in input and output.
struct RegisterCall {
  bool isWrite;
  ByteView in;
  MutableByteView out;
};

CommandResult hostEndianness(CommandDevice& device, const RegisterCall& call) {
  using Register = wire::HostEndiannessRegister;
  if (call.isWrite) {
    const std::uint32_t wanted = Register::Endianness::get(call.in);
    if (wanted != 0) return {CommandStatus::kBadParameter, Syndrome::kHostEndiannessUnsupported};
    device.hostEndianness = static_cast<std::uint8_t>(wanted);
  }
  Register::Endianness::set(call.out, device.hostEndianness);
  return {};
}

CommandResult nodeDescription(CommandDevice& device, const RegisterCall& call) {
  if (call.isWrite) std::copy_n(call.in.begin(), device.nodeDescription.size(), device.nodeDescription.begin());
  std::copy(device.nodeDescription.begin(), device.nodeDescription.end(), call.out.data());
  return {};
}

// But for the health poll the figures that the stock driver has of its own (.../mlx5/core/lib/tout.c).
CommandResult defaultTimeouts(const CommandDevice& device, const RegisterCall& call) {
  using Register = wire::DefaultTimeoutsRegister;
  if (call.isWrite) return kReadOnly;
  const auto word = [](std::int64_t span) { return wire::DriverTimeout::word(milliseconds(span)); };
  Register::PcieToggle::set(call.out, word(2'000));
  Register::HealthPoll::set(call.out, wire::DriverTimeout::word(device.config.healthPoll));
  Register::FullDump::set(call.out, word(60'000));
  Register::FirmwareReset::set(call.out, word(60'000));
  Register::FlushOnError::set(call.out, word(2'000));
  Register::PciSyncUpdate::set(call.out, word(5'000));
  Register::Teardown::set(call.out, word(3'000));
  Register::Reactivate::set(call.out, word(5'000));
  Register::ReclaimPages::set(call.out, word(5'000));
  Register::ReclaimVirtualPages::set(call.out, word(120'000));
  return {};
}

void fillMtu(const PortIdentity& port, MutableByteView out) {
  using Register = wire::PortMtuRegister;
  Register::MaxMtu::set(out, port.mtu);
  Register::AdminMtu::set(out, port.mtu);
  Register::OperationalMtu::set(out, port.mtu);
}

void fillTypeSpeed(const PortIdentity& port, MutableByteView out) {
  using Register = wire::PortTypeSpeedRegister;
  Register::ProtocolMask::set(out, kInfiniBandProtocol);
  Register::IbWidthCapability::set(out, port.widthCode);
  Register::IbWidthAdmin::set(out, port.widthCode);
  Register::IbProtocolCapability::set(out, port.speedCode);
  Register::IbProtocolAdmin::set(out, port.speedCode);
  if (!port.active) return;
  Register::IbWidthOperational::set(out, port.widthCode);
  Register::IbProtocolOperational::set(out, port.speedCode);
}

void fillVirtualLanes(const PortIdentity& port, MutableByteView out) {
  using Register = wire::PortVirtualLanesRegister;
  Register::HardwareCapability::set(out, port.virtualLanes);
  Register::Admin::set(out, port.virtualLanes);
  Register::Operational::set(out, port.virtualLanes);
}

void fillAdministration(const PortIdentity& port, MutableByteView out) {
  using Register = wire::PortAdministrationRegister;
  Register::AdminStatus::set(out, kUp);
  Register::OperationalStatus::set(out, port.active ? kUp : kDown);
}

using PortFiller = void (*)(const PortIdentity&, MutableByteView);

/// All port registers have the port number in the same place, and the model lets none of them be written.
CommandResult portRegister(const CommandDevice& device, const RegisterCall& call, PortFiller fill) {
  using LocalPort = wire::PortMtuRegister::LocalPort;
  const std::uint32_t port = LocalPort::get(call.in);
  if (port == 0 || port > device.identity.ports.size()) {
    return {CommandStatus::kBadIndex, Syndrome::kUnknownPort};
  }
  if (call.isWrite) return kReadOnly;
  LocalPort::set(call.out, port);
  fill(device.identity.ports[port - 1], call.out);
  return {};
}

std::size_t registerSize(RegisterId id) {
  switch (id) {
    case RegisterId::kHostEndianness:
      return wire::HostEndiannessRegister::kSize;
    case RegisterId::kNodeDescription:
      return wire::NodeDescriptionRegister::kSize;
    case RegisterId::kDefaultTimeouts:
      return wire::DefaultTimeoutsRegister::kSize;
    case RegisterId::kPortMtu:
      return wire::PortMtuRegister::kSize;
    case RegisterId::kPortTypeSpeed:
      return wire::PortTypeSpeedRegister::kSize;
    case RegisterId::kPortVirtualLanes:
      return wire::PortVirtualLanesRegister::kSize;
    case RegisterId::kPortAdministration:
      return wire::PortAdministrationRegister::kSize;
    default:
      return 0;
  }
}

CommandResult dispatch(CommandDevice& device, RegisterId id, const RegisterCall& call) {
  switch (id) {
    case RegisterId::kHostEndianness:
      return hostEndianness(device, call);
    case RegisterId::kNodeDescription:
      return nodeDescription(device, call);
    case RegisterId::kDefaultTimeouts:
      return defaultTimeouts(device, call);
    case RegisterId::kPortMtu:
      return portRegister(device, call, fillMtu);
    case RegisterId::kPortTypeSpeed:
      return portRegister(device, call, fillTypeSpeed);
    case RegisterId::kPortVirtualLanes:
      return portRegister(device, call, fillVirtualLanes);
    default:
      return portRegister(device, call, fillAdministration);
  }
}

}  // namespace

CommandResult accessRegister(CommandDevice& device, const CommandCall& call) {
  const auto id = static_cast<RegisterId>(wire::AccessRegisterInput::Register::get(call.input));
  const std::size_t size = registerSize(id);
  if (size == 0) return {CommandStatus::kBadParameter, Syndrome::kUnknownRegister};
  const bool isWrite = call.modifier() == static_cast<std::uint32_t>(RegisterAccess::kWrite);
  if (!isWrite && call.modifier() != static_cast<std::uint32_t>(RegisterAccess::kRead)) {
    return {CommandStatus::kBadParameter, Syndrome::kUnknownOperationModifier};
  }
  if (call.input.size() < wire::AccessRegisterInput::kData + size) {
    return {CommandStatus::kBadInputLength, Syndrome::kInputTooShort};
  }
  if (call.output.size() < wire::AccessRegisterOutput::kData + size) {
    return {CommandStatus::kBadOutputLength, Syndrome::kOutputTooShort};
  }
  return dispatch(device, id,
                  {isWrite, call.input.subview(wire::AccessRegisterInput::kData, size),
                   call.output.subview(wire::AccessRegisterOutput::kData, size)});
}

}  // namespace hca::adapter::commands
