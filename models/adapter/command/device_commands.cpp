// Bringing the adapter up and down.
#include <algorithm>

#include "models/adapter/command/command_handlers.h"
#include "models/wire/device_commands.h"

namespace hca::adapter::commands {
namespace {

constexpr std::uint32_t kSupportedRevisions = 0b11;  // ISSI 0 and 1
constexpr std::uint32_t kGracefulTeardown = 0;
constexpr std::uint32_t kScatterListTerminator = 0x100;
constexpr std::uint32_t kIeeeVendorId = 0x02C9;
constexpr std::size_t kTerminatorOffset = 0x14;  // behind the null key in QUERY_SPECIAL_CONTEXTS output
constexpr CommandResult kUnknownFunction{CommandStatus::kBadParameter, Syndrome::kUnknownFunction};

}  // namespace

CommandResult enableHca(CommandDevice& device, const CommandCall& call) {
  if (wire::EnableHcaInput::Function::get(call.input) != 0) return kUnknownFunction;
  device.state = DeviceState::kEnabled;
  return {};
}

CommandResult disableHca(CommandDevice& device, const CommandCall& call) {
  if (wire::EnableHcaInput::Function::get(call.input) != 0) return kUnknownFunction;
  if (device.pages.held() != 0) return {CommandStatus::kResourceBusy, Syndrome::kPagesHeld};
  device.powerOn();
  return {};
}

CommandResult queryIssi(CommandDevice& device, const CommandCall& call) {
  wire::QueryIssiOutput::Current::set(call.output, device.interfaceRevision);
  wire::QueryIssiOutput::SupportedLow::set(call.output, kSupportedRevisions);
  return {};
}

CommandResult setIssi(CommandDevice& device, const CommandCall& call) {
  const std::uint32_t revision = wire::SetIssiInput::Current::get(call.input);
  const bool supported = revision < 32 && ((kSupportedRevisions >> revision) & 1) != 0;
  if (!supported) return {CommandStatus::kBadParameter, Syndrome::kUnknownInterfaceRevision};
  device.interfaceRevision = revision;
  return {};
}

CommandResult initHca(CommandDevice& device, const CommandCall&) {
  if (device.pages.missingForInit() != 0) return {CommandStatus::kNoResources, Syndrome::kPagesMissing};
  device.pages.setInUse(true);
  device.state = DeviceState::kInitialized;
  return {};
}

CommandResult teardownHca(CommandDevice& device, const CommandCall& call) {
  const std::uint32_t profile = wire::TeardownHcaInput::Profile::get(call.input);
  if (profile != kGracefulTeardown) return {CommandStatus::kBadParameter, Syndrome::kUnknownTeardownProfile};
  device.destroyObjects(GenerationEnd::kTeardown);
  device.state = DeviceState::kEnabled;
  return {};
}

CommandResult queryAdapter(CommandDevice& device, const CommandCall& call) {
  wire::QueryAdapterOutput::IeeeVendorId::set(call.output, kIeeeVendorId);
  const MutableByteView text = wire::QueryAdapterOutput::BoardId::mutableView(call.output);
  const std::string& board = device.identity.boardId;
  std::copy_n(board.begin(), std::min(board.size(), text.size()), text.data());
  return {};
}

CommandResult querySpecialContexts(CommandDevice&, const CommandCall& call) {
  // No reserved, null or dump-fill key is offered (their capability bits are clear), so those fields stay zero, which
  // no memory key equals.
  wire::storeBigEndian(call.output.data() + kTerminatorOffset, kScatterListTerminator);
  return {};
}

CommandResult setDriverVersion(CommandDevice& device, const CommandCall& call) {
  const ByteView text = wire::SetDriverVersionInput::Text::view(call.input);
  const auto* const end = std::find(text.begin(), text.end(), std::uint8_t{0});
  if (end == text.end()) return {CommandStatus::kBadParameter, Syndrome::kDriverVersionUnterminated};
  device.driverVersion.assign(text.begin(), end);
  return {};
}

CommandResult nop(CommandDevice&, const CommandCall&) { return {}; }

}  // namespace hca::adapter::commands
