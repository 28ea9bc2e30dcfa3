// Completion queues.
#include <functional>
#include <utility>

#include "models/adapter/command/command_handlers.h"
#include "models/adapter/command/context_codec.h"
#include "models/adapter/command/page_words.h"
#include "models/wire/queue_commands.h"

namespace hca::adapter::commands {
namespace {

using wire::CreateCqInput;
using wire::ModifyCqInput;
using wire::ObjectCommand;

constexpr std::uint32_t kKnownSelects =
    ModifyCqInput::kSelectPeriod | ModifyCqInput::kSelectCount | ModifyCqInput::kSelectOverrun;
// A new ring is described whole.
constexpr std::uint32_t kResizeSelects =
    ModifyCqInput::kResizeLogSize | ModifyCqInput::kResizePageOffset | ModifyCqInput::kResizePageSize;

bool isResize(ByteView input) {
  return wire::CommandInput::Modifier::get(input) == static_cast<std::uint32_t>(wire::ModifyCqOperation::kResize);
}

CommandResult resize(CommandDevice& device, const CommandCall& call, CqNumber number) {
  if (ModifyCqInput::Select::get(call.input) != kResizeSelects) {
    return {CommandStatus::kBadParameter, Syndrome::kUnknownFieldSelect};
  }
  if (ModifyCqInput::UmemValid::get(call.input)) {
    return {CommandStatus::kBadParameter, Syndrome::kUserMemoryUnsupported};
  }
  const CqAttributes wanted = decodeCqContext(ModifyCqInput::Context::view(call.input));
  if (wanted.ring.logPageSize > kLargestLogPage) return {CommandStatus::kBadParameter, Syndrome::kCqPagesWrong};
  CqRing ring{wanted.stride, wanted.logSize, wanted.ring};
  ring.pages.pages = readPages<ModifyCqInput::Pages>(call.input);
  return device.targets.cqs.resize(number, ring);
}

}  // namespace

CommandResult createCq(CommandDevice& device, const CommandCall& call) {
  const ByteView context = CreateCqInput::Context::view(call.input);
  const bool userMemory =
      CreateCqInput::UmemValid::get(call.input) || wire::CompletionQueueContext::DoorbellUmemValid::get(context);
  if (userMemory) return {CommandStatus::kBadParameter, Syndrome::kUserMemoryUnsupported};
  CqAttributes cq = decodeCqContext(context);
  if (cq.ring.logPageSize > kLargestLogPage) return {CommandStatus::kBadParameter, Syndrome::kCqPagesWrong};
  cq.ring.pages = readPages<CreateCqInput::Pages>(call.input);
  if (!device.targets.uars.contains(cq.uar)) return {CommandStatus::kBadResource, Syndrome::kCqUarUnknown};
  CqNumber number;
  if (const CommandResult result = device.targets.cqs.create(cq, number); !result.ok()) return result;
  ObjectCommand::Number::set(call.output, number.value());
  return {};
}

CommandResult destroyCq(CommandDevice& device, const CommandCall& call) {
  return device.targets.cqs.destroy(CqNumber(ObjectCommand::Number::get(call.input)));
}

CommandResult queryCq(CommandDevice& device, const CommandCall& call) {
  const CqNumber number(ObjectCommand::Number::get(call.input));
  CqAttributes cq;
  if (const CommandResult result = device.targets.cqs.query(number, cq); !result.ok()) return result;
  encodeCqContext(cq, wire::QueryCqOutput::Context::mutableView(call.output));
  writePages<wire::QueryCqOutput::Pages>(cq.ring.pages, call.output);
  return {};
}

void prepareModifyCq(CommandDevice& device, ByteView input, std::function<void()> ready) {
  if (!isResize(input)) return ready();
  device.targets.cqs.refreshConsumerIndex(CqNumber(ModifyCqInput::Number::get(input)), std::move(ready));
}

CommandResult modifyCq(CommandDevice& device, const CommandCall& call) {
  const CqNumber number(ModifyCqInput::Number::get(call.input));
  const std::uint32_t select = ModifyCqInput::Select::get(call.input);
  if (isResize(call.input)) return resize(device, call, number);
  if (call.modifier() != static_cast<std::uint32_t>(wire::ModifyCqOperation::kModify)) {
    return {CommandStatus::kBadParameter, Syndrome::kUnknownOperationModifier};
  }
  if ((select & ~kKnownSelects) != 0) return {CommandStatus::kBadParameter, Syndrome::kUnknownFieldSelect};
  const CqAttributes wanted = decodeCqContext(ModifyCqInput::Context::view(call.input));
  CqModeration change;
  if ((select & ModifyCqInput::kSelectPeriod) != 0) change.period = wanted.moderationPeriod;
  if ((select & ModifyCqInput::kSelectCount) != 0) change.count = wanted.moderationCount;
  if ((select & ModifyCqInput::kSelectOverrun) != 0) change.ignoreOverrun = wanted.ignoreOverrun;
  return device.targets.cqs.modifyModeration(number, change);
}

}  // namespace hca::adapter::commands
