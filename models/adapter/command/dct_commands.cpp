// Targets of dynamic connections.
#include "models/adapter/command/command_handlers.h"
#include "models/adapter/command/dct_codec.h"
#include "models/wire/dct_context.h"

namespace hca::adapter::commands {
namespace {

using wire::ObjectCommand;

QpNumber targetOf(const CommandCall& call) {
  const QpNumber number(ObjectCommand::Number::get(call.input));
  return number;
}

CommandResult findTarget(CommandDevice& device, QpNumber number, QpAttributes& target) {
  const bool isThere = device.targets.qps.query(number, target).ok() && target.service == QpService::kDct;
  return isThere ? CommandResult{} : CommandResult{CommandStatus::kBadResource, Syndrome::kUnknownDct};
}

}  // namespace

CommandResult createDct(CommandDevice& device, const CommandCall& call) {
  const QpAttributes target = decodeDctContext(wire::CreateDctInput::Context::view(call.input));
  if (!device.targets.pds.hold(target.pd)) return {CommandStatus::kBadResource, Syndrome::kQpPdUnknown};
  QpNumber number;
  if (const CommandResult result = device.targets.qps.create(target, number); !result.ok()) {
    device.targets.pds.drop(target.pd);
    return result;
  }
  ObjectCommand::Number::set(call.output, number.value());
  return {};
}

CommandResult destroyDct(CommandDevice& device, const CommandCall& call) {
  const QpNumber number = targetOf(call);
  QpAttributes target;
  if (const CommandResult result = findTarget(device, number, target); !result.ok()) return result;
  if (const CommandResult result = device.targets.qps.destroy(number); !result.ok()) return result;
  device.targets.pds.drop(target.pd);
  return {};
}

CommandResult drainDct(CommandDevice& device, const CommandCall& call) {
  const QpNumber number = targetOf(call);
  QpAttributes target;
  if (const CommandResult result = findTarget(device, number, target); !result.ok()) return result;
  return device.targets.qps.drainTarget(number);
}

CommandResult queryDct(CommandDevice& device, const CommandCall& call) {
  QpAttributes target;
  if (const CommandResult result = findTarget(device, targetOf(call), target); !result.ok()) return result;
  encodeDctContext(target, wire::QueryDctOutput::Context::mutableView(call.output));
  return {};
}

}  // namespace hca::adapter::commands
