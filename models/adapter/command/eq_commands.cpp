// Event queues.
#include "models/adapter/command/command_handlers.h"
#include "models/adapter/command/context_codec.h"
#include "models/adapter/command/page_words.h"
#include "models/wire/queue_commands.h"

namespace hca::adapter::commands {
namespace {
using wire::CreateEqInput;
using wire::EqCommand;
}  // namespace

CommandResult createEq(CommandDevice& device, const CommandCall& call) {
  EqAttributes eq = decodeEqContext(CreateEqInput::Context::view(call.input));
  if (eq.ring.logPageSize > kLargestLogPage) return {CommandStatus::kBadParameter, Syndrome::kEqPagesWrong};
  eq.ring.pages = readPages<CreateEqInput::Pages>(call.input);
  for (std::size_t n = 0; n < eq.eventBitmap.size(); ++n) {
    eq.eventBitmap[n] = CreateEqInput::EventMask::get(call.input, n);
  }
  call.note("log_size", eq.logSize);
  call.note("vector", eq.vector.value());
  call.note("events", eq.eventBitmap[0]);
  if (!device.targets.uars.hold(eq.uar)) return {CommandStatus::kBadResource, Syndrome::kUnknownUar};
  EqNumber number;
  if (const CommandResult result = device.targets.eqs.create(eq, number); !result.ok()) {
    device.targets.uars.drop(eq.uar);
    return result;
  }
  EqCommand::Number::set(call.output, number.value());
  call.note("eqn", number.value());
  return {};
}

CommandResult destroyEq(CommandDevice& device, const CommandCall& call) {
  const EqNumber number(EqCommand::Number::get(call.input));
  call.note("eqn", number.value());
  EqAttributes eq;
  if (const CommandResult result = device.targets.eqs.query(number, eq); !result.ok()) return result;
  if (const CommandResult result = device.targets.eqs.destroy(number); !result.ok()) return result;
  device.targets.uars.drop(eq.uar);
  return {};
}

CommandResult queryEq(CommandDevice& device, const CommandCall& call) {
  const EqNumber number(EqCommand::Number::get(call.input));
  call.note("eqn", number.value());
  EqAttributes eq;
  if (const CommandResult result = device.targets.eqs.query(number, eq); !result.ok()) return result;
  encodeEqContext(eq, wire::QueryEqOutput::Context::mutableView(call.output));
  for (std::size_t n = 0; n < eq.eventBitmap.size(); ++n) {
    wire::QueryEqOutput::EventMask::set(call.output, n, eq.eventBitmap[n]);
  }
  writePages<wire::QueryEqOutput::Pages>(eq.ring.pages, call.output);
  return {};
}

}  // namespace hca::adapter::commands
