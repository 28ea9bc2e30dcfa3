// Send and receive queues of raw packets: each is a queue pair with one side.
#include <algorithm>

#include "models/adapter/command/command_handlers.h"
#include "models/adapter/command/context_codec.h"
#include "models/adapter/command/page_words.h"
#include "models/wire/ethernet_commands.h"
#include "models/wire/queue_commands.h"

namespace hca::adapter::commands {
namespace {

using wire::CreateEthernetQueueInput;
using wire::EthernetQueueContext;
using wire::ModifyEthernetQueueInput;
using wire::ObjectCommand;
using wire::WorkQueueState;

constexpr CommandResult kUnknown{CommandStatus::kBadResource, Syndrome::kUnknownQp};

bool isRaw(const QpAttributes& qp, bool sends) { return qp.service == QpService::kRaw && qp.hasSendQueue == sends; }

/// A receive queue has no doorbell register.
CommandResult holdReferences(CommandDevice& device, const QpAttributes& qp) {
  if (qp.hasSendQueue && !device.targets.uars.contains(qp.uar)) {
    return {CommandStatus::kBadResource, Syndrome::kQpUarUnknown};
  }
  if (!device.targets.pds.hold(qp.pd)) return {CommandStatus::kBadResource, Syndrome::kQpPdUnknown};
  return {};
}

void dropReferences(CommandDevice& device, const QpAttributes& qp) { device.targets.pds.drop(qp.pd); }

CommandResult create(CommandDevice& device, const CommandCall& call, bool sends) {
  QpAttributes qp = decodeEthernetQueueContext(CreateEthernetQueueInput::Context::view(call.input));
  qp.hasSendQueue = sends;
  qp.receiveQueueType = sends ? RqType::kNone : RqType::kOwn;
  if (sends) {
    qp.stripVlan = qp.scatterFcs = false;
    const auto tis = EthernetQueueContext::Tis::get(CreateEthernetQueueInput::Context::view(call.input));
    qp.transportDomain = device.ethernet.senders.at(tis).value();
  }
  if (qp.buffer.logPageSize > kLargestLogPage) return {CommandStatus::kBadParameter, Syndrome::kQpPagesWrong};
  qp.buffer.pages = readPages<CreateEthernetQueueInput::Pages>(call.input);
  if (const CommandResult result = holdReferences(device, qp); !result.ok()) return result;
  QpNumber number;
  if (const CommandResult result = device.targets.qps.create(qp, number); !result.ok()) {
    dropReferences(device, qp);
    return result;
  }
  if (sends) {
    const ByteView context = CreateEthernetQueueInput::Context::view(call.input);
    device.ethernet.sendQueues[number] = EthernetQueueContext::Tis::get(context);
  }
  ObjectCommand::Number::set(call.output, number.value());
  return {};
}

CommandResult destroy(CommandDevice& device, const CommandCall& call, bool sends) {
  const QpNumber number(ObjectCommand::Number::get(call.input));
  QpAttributes qp;
  if (!device.targets.qps.query(number, qp).ok() || !isRaw(qp, sends)) return kUnknown;
  if (const CommandResult result = device.targets.qps.destroy(number); !result.ok()) return result;
  dropReferences(device, qp);
  if (sends) device.ethernet.sendQueues.erase(number);
  return {};
}

/// Such a queue knows neither peer nor sequence: three steps of a queue pair are one of its.
CommandResult makeReady(CommandDevice& device, QpNumber number) {
  for (const QpTransition step :
       {QpTransition::kResetToInit, QpTransition::kInitToReadyToReceive, QpTransition::kReadyToReceiveToReadyToSend}) {
    const CommandResult result = device.targets.qps.modify(number, step, 0, QpAttributes{});
    if (!result.ok()) return result;
  }
  return {};
}

// What may change at any time. Frames see it from then on.
CommandResult setOptions(CommandDevice& device, QpNumber number, ByteView context, std::uint64_t mask) {
  using Input = ModifyEthernetQueueInput;
  QpAttributes qp;
  if (!device.targets.qps.query(number, qp).ok()) return kUnknown;
  bool strips = qp.stripVlan, keepsFcs = qp.scatterFcs;
  if ((mask & Input::kVlanStripDisable) != 0) strips = !EthernetQueueContext::VlanStripDisable::get(context);
  if ((mask & Input::kScatterFcs) != 0) keepsFcs = EthernetQueueContext::ScatterFcs::get(context);
  return device.targets.qps.setFrameOptions(number, strips, keepsFcs);
}

CommandResult modify(CommandDevice& device, const CommandCall& call, bool sends) {
  const QpNumber number(ModifyEthernetQueueInput::Number::get(call.input));
  const auto from = static_cast<WorkQueueState>(ModifyEthernetQueueInput::State::get(call.input));
  const ByteView context = ModifyEthernetQueueInput::Context::view(call.input);
  const auto to = static_cast<WorkQueueState>(EthernetQueueContext::State::get(context));
  QpAttributes qp;
  if (!device.targets.qps.query(number, qp).ok() || !isRaw(qp, sends)) return kUnknown;
  const WorkQueueState present = workQueueState(qp.state);
  if (from != present) return {CommandStatus::kBadQpState, Syndrome::kQpTransitionIllegal};
  const std::uint64_t mask = sends ? 0 : ModifyEthernetQueueInput::Mask::get(call.input);
  if (mask != 0) {
    if (const CommandResult result = setOptions(device, number, context, mask); !result.ok()) return result;
  }
  if (to == present) return {};
  if (to == WorkQueueState::kReady && present == WorkQueueState::kReset) return makeReady(device, number);
  if (to == WorkQueueState::kError) {
    return device.targets.qps.modify(number, QpTransition::kToError, 0, QpAttributes{});
  }
  if (to == WorkQueueState::kReset) {
    return device.targets.qps.modify(number, QpTransition::kToReset, 0, QpAttributes{});
  }
  return {CommandStatus::kBadQpState, Syndrome::kQpTransitionIllegal};
}

}  // namespace

CommandResult createSq(CommandDevice& device, const CommandCall& call) {
  const ByteView context = CreateEthernetQueueInput::Context::view(call.input);
  if (device.ethernet.senders.count(EthernetQueueContext::Tis::get(context)) == 0) {
    return {CommandStatus::kBadResource, Syndrome::kUnknownTis};
  }
  return create(device, call, true);
}
CommandResult createRq(CommandDevice& device, const CommandCall& call) { return create(device, call, false); }
CommandResult modifySq(CommandDevice& device, const CommandCall& call) { return modify(device, call, true); }
CommandResult modifyRq(CommandDevice& device, const CommandCall& call) { return modify(device, call, false); }
CommandResult destroySq(CommandDevice& device, const CommandCall& call) { return destroy(device, call, true); }

CommandResult destroyRq(CommandDevice& device, const CommandCall& call) {
  const QpNumber number(ObjectCommand::Number::get(call.input));
  const auto has = [number](const std::vector<QpNumber>& queues) {
    return std::find(queues.begin(), queues.end(), number) != queues.end();
  };
  for (const auto& [tir, receiver] : device.ethernet.receivers) {
    if (has(*receiver.target->queues)) return {CommandStatus::kResourceBusy, Syndrome::kQpHasFlows};
  }
  for (const auto& [rqt, spread] : device.ethernet.spreads) {
    if (has(*spread.queues)) return {CommandStatus::kResourceBusy, Syndrome::kQpHasFlows};
  }
  return destroy(device, call, false);
}

CommandResult queryEthernetQueue(CommandDevice& device, const CommandCall& call) {
  const QpNumber number(ObjectCommand::Number::get(call.input));
  const bool sends = wire::CommandInput::opcode(call.input) == wire::CommandOpcode::kQuerySq;
  QpAttributes qp;
  if (!device.targets.qps.query(number, qp).ok() || !isRaw(qp, sends)) return kUnknown;
  encodeEthernetQueueContext(qp, wire::QueryEthernetQueueOutput::Context::mutableView(call.output));
  return {};
}

}  // namespace hca::adapter::commands
