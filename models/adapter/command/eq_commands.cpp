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
  if (!device.targets.uars.contains(eq.uar)) return {CommandStatus::kBadResource, Syndrome::kUnknownUar};
  EqNumber number;
  if (const CommandResult result = device.targets.eqs.create(eq, number); !result.ok()) return result;
  EqCommand::Number::set(call.output, number.value());
  return {};
}

CommandResult destroyEq(CommandDevice& device, const CommandCall& call) {
  return device.targets.eqs.destroy(EqNumber(EqCommand::Number::get(call.input)));
}

CommandResult queryEq(CommandDevice& device, const CommandCall& call) {
  const EqNumber number(EqCommand::Number::get(call.input));
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
