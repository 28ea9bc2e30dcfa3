// InfiniBand ports: state, LID, GUID, GID and partition key tables.
#include <algorithm>

#include "models/adapter/command/command_handlers.h"
#include "models/adapter/command/port_report.h"
#include "models/wire/port_commands.h"

namespace hca::adapter::commands {
namespace {

using wire::HcaVportInput;

/// The port that the input names; nullptr if there is none, or if it belongs to another function.
const PortIdentity* findPort(const CommandDevice& device, const CommandCall& call) {
  const std::uint32_t number = HcaVportInput::Port::get(call.input);
  const std::size_t ports = device.identity.ports.size();
  if (HcaVportInput::OtherVport::get(call.input) || HcaVportInput::Vport::get(call.input) != 0) return nullptr;
  if (number > ports || ports == 0 || (number == 0 && ports != 1)) return nullptr;
  return &device.identity.ports[number == 0 ? 0 : number - 1];
}

constexpr CommandResult kUnknownPort{CommandStatus::kBadIndex, Syndrome::kUnknownPort};

/// Which entries of a table a query wants.
struct TableRange {
  std::size_t first;
  std::size_t count;
};

TableRange wantedRange(const CommandCall& call, std::size_t tableSize) {
  const std::uint32_t index = HcaVportInput::Index::get(call.input);
  if (index == HcaVportInput::kAllEntries) return {0, tableSize};
  return {index, index < tableSize ? std::size_t{1} : std::size_t{0}};
}

}  // namespace

CommandResult queryVportContext(CommandDevice& device, const CommandCall& call) {
  using Context = wire::HcaVportContext;
  const PortIdentity* port = findPort(device, call);
  if (port == nullptr) return kUnknownPort;
  const MutableByteView out = wire::HcaVportContextOutput::Context::mutableView(call.output);
  const auto number = static_cast<std::uint8_t>(port - device.identity.ports.data() + 1);
  Context::HasSmi::set(out, device.identity.linkLayer == network::LinkLayer::kInfiniBand);
  Context::PortPhysicalState::set(out, static_cast<std::uint32_t>(physicalStateOf(*port)));
  Context::PortState::set(out, static_cast<std::uint32_t>(stateOf(*port)));
  Context::VportState::set(out, static_cast<std::uint32_t>(stateOf(*port)));
  Context::CapabilityMask1::set(out, capabilityMaskOf(device, number - 1U));
  Context::CapabilityMask1Select::set(out, settablePortCapabilities());
  Context::CapabilityMask2::set(out, capabilityMask2Of(*port));
  Context::SystemImageGuid::set(out, device.identity.systemImageGuid);
  Context::PortGuid::set(out, port->guid);
  Context::NodeGuid::set(out, device.identity.nodeGuid);
  Context::Lid::set(out, port->lid.value());
  Context::Lmc::set(out, port->lmc);
  Context::SubnetTimeout::set(out, kSubnetTimeout);
  Context::SmLid::set(out, port->subnetManagerLid.value());
  const PortViolations violations = device.violations(number);
  Context::PkeyViolations::set(out, violations.partition());
  Context::QkeyViolations::set(out, violations.queueKey());
  return {};
}

CommandResult queryVportGid(CommandDevice& device, const CommandCall& call) {
  using Output = wire::HcaVportGidOutput;
  const PortIdentity* port = findPort(device, call);
  if (port == nullptr) return kUnknownPort;
  const TableRange range = wantedRange(call, gidTableSize(device));
  if (range.count == 0) return {CommandStatus::kBadIndex, Syndrome::kGidIndexOutOfRange};
  if (call.output.size() < Output::kTable + range.count * Output::kEntrySize) {
    return {CommandStatus::kBadOutputLength, Syndrome::kOutputTooShort};
  }
  Output::Count::set(call.output, static_cast<std::uint32_t>(range.count));
  std::uint8_t* entry = call.output.data() + Output::kTable;
  for (std::size_t n = range.first; n < range.first + range.count; ++n, entry += Output::kEntrySize) {
    if (n < port->gids.size()) std::copy(port->gids[n].begin(), port->gids[n].end(), entry);
  }
  return {};
}

CommandResult queryVportPkey(CommandDevice& device, const CommandCall& call) {
  using Output = wire::HcaVportPkeyOutput;
  const PortIdentity* port = findPort(device, call);
  if (port == nullptr) return kUnknownPort;
  const TableRange range = wantedRange(call, pkeyTableSize(device));
  if (range.count == 0) return {CommandStatus::kBadIndex, Syndrome::kPkeyIndexOutOfRange};
  if (call.output.size() < Output::kTable + range.count * Output::kEntrySize) {
    return {CommandStatus::kBadOutputLength, Syndrome::kOutputTooShort};
  }
  std::uint8_t* entry = call.output.data() + Output::kTable;
  for (std::size_t n = range.first; n < range.first + range.count; ++n, entry += Output::kEntrySize) {
    wire::storeBigEndian(entry, n < port->pkeys.size() ? std::uint32_t{port->pkeys[n]} : 0U);
  }
  return {};
}

CommandResult queryVportState(CommandDevice& device, const CommandCall& call) {
  const PortIdentity* port = findPort(device, call);
  if (port == nullptr) return kUnknownPort;
  wire::VportStateOutput::AdminState::set(call.output, 1);
  wire::VportStateOutput::State::set(call.output, port->active ? 1 : 0);
  return {};
}

// GUIDs and the state's policy are a group manager's to give to other functions, and there is none.
CommandResult modifyVportContext(CommandDevice& device, const CommandCall& call) {
  using Context = wire::HcaVportContext;
  const PortIdentity* port = findPort(device, call);
  if (port == nullptr) return kUnknownPort;
  const ByteView wanted = HcaVportInput::Context::view(call.input);
  const std::uint32_t select = Context::CapabilityMask1Select::get(wanted);
  const bool settable = Context::FieldSelect::get(wanted) == 0 && Context::CapabilityMask2Select::get(wanted) == 0 &&
                        (select & ~settablePortCapabilities()) == 0;
  if (!settable) return {CommandStatus::kBadParameter, Syndrome::kPortFieldNotModifiable};
  std::uint32_t& present = device.portCapabilities[static_cast<std::size_t>(port - device.identity.ports.data())];
  present = (present & ~select) | (Context::CapabilityMask1::get(wanted) & select);
  return {};
}

}  // namespace hca::adapter::commands
