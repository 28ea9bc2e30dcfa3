// Management datagrams that the driver passes on.
#include "models/adapter/command/command_handlers.h"
#include "models/adapter/command/subnet_agent.h"
#include "models/wire/management_datagram.h"
#include "models/wire/port_commands.h"

namespace hca::adapter::commands {

// The operation modifier asks not to check M_Key and B_Key; there are none that could be wrong.
CommandResult answerMad(CommandDevice& device, const CommandCall& call) {
  constexpr std::uint32_t kIgnoreKeys = 3;
  const std::uint32_t port = wire::MadInput::Port::get(call.input);
  const ByteView request = wire::MadInput::Mad::view(call.input);
  if ((call.modifier() & ~kIgnoreKeys) != 0) {
    return {CommandStatus::kBadParameter, Syndrome::kUnknownOperationModifier};
  }
  if (port == 0 || port > device.identity.ports.size()) return {CommandStatus::kBadIndex, Syndrome::kUnknownPort};
  const MutableByteView response = wire::MadOutput::Mad::mutableView(call.output);
  SubnetAgent(device).answer(request, static_cast<std::uint8_t>(port), response);
  return {};
}

}  // namespace hca::adapter::commands
