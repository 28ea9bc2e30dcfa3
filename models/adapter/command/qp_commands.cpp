// Queue pairs.
#include <algorithm>

#include "models/adapter/command/command_handlers.h"
#include "models/adapter/command/context_codec.h"
#include "models/adapter/command/page_words.h"
#include "models/wire/queue_commands.h"

namespace hca::adapter::commands {
namespace {

using wire::CreateQpInput;
using wire::ModifyQpInput;
using wire::ObjectCommand;

QpTransition transitionOf(const CommandCall& call) {
  return static_cast<QpTransition>(wire::CommandInput::opcode(call.input));
}

bool isXrc(const QpAttributes& qp) { return qp.service == QpService::kXrc; }
/// The target of XRC has no doorbells, and the stock driver names no page for it.
bool hasDoorbells(const QpAttributes& qp) { return qp.hasSendQueue || !isXrc(qp); }

/// The stock driver names no domain for its own queue pair of UMRs, whose requests are for keys of every one.
bool hasDomain(const QpAttributes& qp) { return qp.service != QpService::kRegisteredUmr; }
void dropDomain(CommandDevice& device, const QpAttributes& qp) {
  if (hasDomain(qp)) device.targets.pds.drop(qp.pd);
}

/// Takes the protection domain and the XRC domain that a queue pair refers to, both or none.
CommandResult holdReferences(CommandDevice& device, const QpAttributes& qp) {
  if (hasDoorbells(qp) && !device.targets.uars.contains(qp.uar)) {
    return {CommandStatus::kBadResource, Syndrome::kQpUarUnknown};
  }
  if (hasDomain(qp) && !device.targets.pds.hold(qp.pd)) return {CommandStatus::kBadResource, Syndrome::kQpPdUnknown};
  if (!isXrc(qp) || device.xrcds.hold(qp.domain)) return {};
  dropDomain(device, qp);
  return {CommandStatus::kBadResource, Syndrome::kQpDomainUnknown};
}

void dropReferences(CommandDevice& device, const QpAttributes& qp) {
  dropDomain(device, qp);
  if (isXrc(qp)) device.xrcds.drop(qp.domain);
}

QpNumber memberOf(const CommandCall& call) {
  const QpNumber number(wire::MulticastInput::QpNumber::get(call.input));
  return number;
}

network::Gid groupOf(const CommandCall& call) {
  const ByteView bytes = wire::MulticastInput::Group::view(call.input);
  network::Gid group{};
  std::copy(bytes.begin(), bytes.end(), group.begin());
  return group;
}

}  // namespace

CommandResult createQp(CommandDevice& device, const CommandCall& call) {
  if (CreateQpInput::UmemValid::get(call.input)) {
    return {CommandStatus::kBadParameter, Syndrome::kUserMemoryUnsupported};
  }
  QpAttributes qp = decodeQpContext(CreateQpInput::Context::view(call.input));
  if (qp.service == QpService::kDct || qp.service == QpService::kDcResponder) {
    return {CommandStatus::kBadParameter, Syndrome::kQpServiceUnsupported};
  }
  if (qp.buffer.logPageSize > kLargestLogPage) return {CommandStatus::kBadParameter, Syndrome::kQpPagesWrong};
  qp.buffer.pages = readPages<CreateQpInput::Pages>(call.input);
  if (const CommandResult result = holdReferences(device, qp); !result.ok()) return result;
  QpNumber number;
  if (const CommandResult result = device.targets.qps.create(qp, number); !result.ok()) {
    dropReferences(device, qp);
    return result;
  }
  ObjectCommand::Number::set(call.output, number.value());
  return {};
}

CommandResult destroyQp(CommandDevice& device, const CommandCall& call) {
  const QpNumber number(ObjectCommand::Number::get(call.input));
  QpAttributes qp;
  if (const CommandResult result = device.targets.qps.query(number, qp); !result.ok()) return result;
  if (qp.service == QpService::kDct) return {CommandStatus::kBadResource, Syndrome::kUnknownQp};
  if (const CommandResult result = device.targets.qps.destroy(number); !result.ok()) return result;
  dropReferences(device, qp);
  return {};
}

CommandResult queryQp(CommandDevice& device, const CommandCall& call) {
  const QpNumber number(ObjectCommand::Number::get(call.input));
  QpAttributes qp;
  if (const CommandResult result = device.targets.qps.query(number, qp); !result.ok()) return result;
  if (qp.service == QpService::kDct) return {CommandStatus::kBadResource, Syndrome::kUnknownQp};
  encodeQpContext(qp, wire::QueryQpOutput::Context::mutableView(call.output));
  writePages<wire::QueryQpOutput::Pages>(qp.buffer.pages, call.output);
  return {};
}

CommandResult modifyQp(CommandDevice& device, const CommandCall& call) {
  const QpNumber number(ModifyQpInput::Number::get(call.input));
  const std::uint32_t mask = ModifyQpInput::OptionalMask::get(call.input);
  QpAttributes wanted = decodeQpContext(ModifyQpInput::Context::view(call.input));
  wanted.notifyWhenDrained = ModifyQpInput::DrainedEvent::get(call.input);
  return device.targets.qps.modify(number, transitionOf(call), mask, wanted);
}

CommandResult stopQp(CommandDevice& device, const CommandCall& call) {
  const QpNumber number(ObjectCommand::Number::get(call.input));
  return device.targets.qps.modify(number, transitionOf(call), 0, QpAttributes{});
}

CommandResult attachMulticast(CommandDevice& device, const CommandCall& call) {
  return device.targets.qps.attachMulticast(memberOf(call), groupOf(call));
}

CommandResult detachMulticast(CommandDevice& device, const CommandCall& call) {
  return device.targets.qps.detachMulticast(memberOf(call), groupOf(call));
}

}  // namespace hca::adapter::commands
