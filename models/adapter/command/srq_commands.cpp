// Shared receive queues: basic ones, those of XRC, receive memory pools, which is what the stock driver makes of a
// basic one (Linux drivers/infiniband/hw/mlx5/srq_cmd.c, create_srq_split), and those that match tags.
#include "models/adapter/command/command_handlers.h"
#include "models/adapter/command/context_codec.h"
#include "models/adapter/command/page_words.h"
#include "models/wire/queue_commands.h"

namespace hca::adapter::commands {
namespace {

using wire::ArmSrqInput;
using wire::CommandOpcode;
using wire::CreateRmpInput;
using wire::CreateSrqInput;
using wire::CreateXrqInput;
using wire::ModifyRmpInput;
using wire::ObjectCommand;

SrqKind kindOf(const CommandCall& call) {
  switch (wire::CommandInput::opcode(call.input)) {
    case CommandOpcode::kCreateXrcSrq:
    case CommandOpcode::kDestroyXrcSrq:
    case CommandOpcode::kQueryXrcSrq:
    case CommandOpcode::kArmXrcSrq:
      return SrqKind::kXrc;
    case CommandOpcode::kDestroyRmp:
      return SrqKind::kMemoryPool;
    case CommandOpcode::kDestroyXrq:
      return SrqKind::kTagMatching;
    default:
      return SrqKind::kBasic;
  }
}

/// Takes the protection domain and, of an XRC queue, the XRC domain that it refers to; all or none.
CommandResult holdReferences(CommandDevice& device, const SrqAttributes& srq) {
  if (!device.targets.pds.hold(srq.pd)) return {CommandStatus::kBadResource, Syndrome::kSrqPdUnknown};
  if (srq.kind != SrqKind::kXrc || device.xrcds.hold(srq.domain)) return {};
  device.targets.pds.drop(srq.pd);
  return {CommandStatus::kBadResource, Syndrome::kSrqDomainUnknown};
}

void dropReferences(CommandDevice& device, const SrqAttributes& srq) {
  device.targets.pds.drop(srq.pd);
  if (srq.kind == SrqKind::kXrc) device.xrcds.drop(srq.domain);
}

CommandResult create(CommandDevice& device, const CommandCall& call, const SrqAttributes& srq) {
  if (const CommandResult result = holdReferences(device, srq); !result.ok()) return result;
  SrqNumber number;
  if (const CommandResult result = device.targets.srqs.create(srq, number); !result.ok()) {
    dropReferences(device, srq);
    return result;
  }
  ObjectCommand::Number::set(call.output, number.value());
  return {};
}

}  // namespace

CommandResult createSrq(CommandDevice& device, const CommandCall& call) {
  SrqAttributes srq = decodeSrqContext(CreateSrqInput::Context::view(call.input));
  srq.kind = kindOf(call);
  if (srq.buffer.logPageSize > kLargestLogPage) return {CommandStatus::kBadParameter, Syndrome::kSrqPagesWrong};
  srq.buffer.pages = readPages<CreateSrqInput::Pages>(call.input);
  if (srq.kind == SrqKind::kXrc) {
  }
  return create(device, call, srq);
}

CommandResult createRmp(CommandDevice& device, const CommandCall& call) {
  SrqAttributes srq = decodeRmpContext(CreateRmpInput::Context::view(call.input));
  if (srq.buffer.logPageSize > kLargestLogPage) return {CommandStatus::kBadParameter, Syndrome::kSrqPagesWrong};
  srq.buffer.pages = readPages<CreateRmpInput::Pages>(call.input);
  return create(device, call, srq);
}

CommandResult createXrq(CommandDevice& device, const CommandCall& call) {
  SrqAttributes srq = decodeXrqContext(CreateXrqInput::Context::view(call.input));
  if (srq.buffer.logPageSize > kLargestLogPage) return {CommandStatus::kBadParameter, Syndrome::kSrqPagesWrong};
  srq.buffer.pages = readPages<CreateXrqInput::Pages>(call.input);
  if (!device.matchesTags()) return {CommandStatus::kBadParameter, Syndrome::kSrqFormatUnsupported};
  return create(device, call, srq);
}

CommandResult destroySrq(CommandDevice& device, const CommandCall& call) {
  const SrqNumber number(ObjectCommand::Number::get(call.input));
  const SrqKind kind = kindOf(call);
  SrqAttributes srq;
  if (const CommandResult result = device.targets.srqs.query(kind, number, srq); !result.ok()) return result;
  if (const CommandResult result = device.targets.srqs.destroy(kind, number); !result.ok()) return result;
  dropReferences(device, srq);
  return {};
}

CommandResult querySrq(CommandDevice& device, const CommandCall& call) {
  const SrqNumber number(ObjectCommand::Number::get(call.input));
  SrqAttributes srq;
  if (const CommandResult result = device.targets.srqs.query(kindOf(call), number, srq); !result.ok()) return result;
  encodeSrqContext(srq, wire::QuerySrqOutput::Context::mutableView(call.output));
  return {};
}

CommandResult queryRmp(CommandDevice& device, const CommandCall& call) {
  const SrqNumber number(ObjectCommand::Number::get(call.input));
  SrqAttributes srq;
  const CommandResult result = device.targets.srqs.query(SrqKind::kMemoryPool, number, srq);
  if (!result.ok()) return result;
  encodeRmpContext(srq, wire::QueryRmpOutput::Context::mutableView(call.output));
  return {};
}

CommandResult queryXrq(CommandDevice& device, const CommandCall& call) {
  const SrqNumber number(ObjectCommand::Number::get(call.input));
  SrqAttributes srq;
  const CommandResult result = device.targets.srqs.query(SrqKind::kTagMatching, number, srq);
  if (!result.ok()) return result;
  encodeXrqContext(srq, wire::QueryXrqOutput::Context::mutableView(call.output));
  return {};
}

CommandResult armSrq(CommandDevice& device, const CommandCall& call) {
  const SrqNumber number(ArmSrqInput::Number::get(call.input));
  const auto limit = static_cast<std::uint16_t>(ArmSrqInput::LowWaterMark::get(call.input));
  SrqKind kind = kindOf(call);
  if (kind == SrqKind::kBasic && call.modifier() == ArmSrqInput::kTagMatchingQueue) {
    kind = SrqKind::kTagMatching;
  } else if (call.modifier() != ArmSrqInput::kSharedReceiveQueue) {
    return {CommandStatus::kBadParameter, Syndrome::kUnknownOperationModifier};
  }
  return device.targets.srqs.arm(kind, number, limit);
}

CommandResult modifyRmp(CommandDevice& device, const CommandCall& call) {
  const SrqNumber number(ModifyRmpInput::Number::get(call.input));
  const SrqAttributes wanted = decodeRmpContext(ModifyRmpInput::Context::view(call.input));
  if (ModifyRmpInput::State::get(call.input) != wire::ReceiveMemoryPoolContext::kReady) {
    return {CommandStatus::kBadParameter, Syndrome::kUnknownOperationModifier};
  }
  if (ModifyRmpInput::Mask::get(call.input) != ModifyRmpInput::kSelectLowWaterMark) {
    return {CommandStatus::kBadParameter, Syndrome::kUnknownFieldSelect};
  }
  return device.targets.srqs.arm(SrqKind::kMemoryPool, number, wanted.limit);
}

}  // namespace hca::adapter::commands
