// Which commands exist, what each demands, and who executes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "models/adapter/command/command_call.h"
#include "models/adapter/command/command_device.h"
#include "models/base/units.h"
#include "models/wire/opcode.h"

namespace hca::adapter {

/// What a command costs (CommandConfig).
enum class CommandClass : std::uint8_t { kQuery, kObject, kTransition, kDevice };

/// Executes one command. A refused command must leave everything as it was.
using CommandHandler = CommandResult (*)(CommandDevice& device, const CommandCall& call);
/// Gets what the handler needs from host memory; `ready` is called once, also if there is nothing to get. It must not
/// change what software can see.
using CommandPreparation = void (*)(CommandDevice& device, ByteView input, std::function<void()> ready);

struct CommandEntryPoint {
  wire::CommandOpcode opcode;
  std::uint8_t states;  ///< bit n: allowed in enumerator n of DeviceState
  CommandClass costClass;
  std::size_t minimumInput;   ///< bytes
  std::size_t minimumOutput;  ///< bytes
  CommandHandler handler;
  CommandPreparation preparation = nullptr;
};

/// nullptr for an opcode that the adapter doesn't know.
[[nodiscard]] const CommandEntryPoint* findCommand(wire::CommandOpcode opcode);

/// Calls `ready` when the command in `input` can be executed: at once, unless it needs something from host memory. A
/// command that will be refused for its opcode, lengths or the device's state needs nothing.
void prepareCommand(CommandDevice& device, ByteView input, std::size_t outputSize, std::function<void()> ready);

/// Executes the command in `input` (at least wire::CommandInput::kMinimumSize bytes): checks opcode, state and lengths,
/// calls the handler, writes status and syndrome into `output` (at least wire::CommandOutput::kMinimumSize bytes, all
/// zero). A refused command returns nothing else.
CommandResult executeCommand(CommandDevice& device, ByteView input, MutableByteView output);

/// Time that the execution of `input` takes.
[[nodiscard]] Time executionTime(const CommandConfig& config, ByteView input);

}  // namespace hca::adapter
