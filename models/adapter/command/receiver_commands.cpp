// Transport interfaces of raw packets and indirection tables: TIR, TIS, RQT.
#include "models/adapter/command/command_handlers.h"
#include "models/wire/ethernet_commands.h"
#include "models/wire/queue_commands.h"

namespace hca::adapter::commands {
namespace {

using wire::CreateRqtInput;
using wire::CreateTirInput;
using wire::CreateTisInput;
using wire::ObjectCommand;

constexpr CommandResult kNoMoreObjects{CommandStatus::kNoResources, Syndrome::kEthernetObjectLimit};
constexpr CommandResult kNoSuchDomain{CommandStatus::kBadResource, Syndrome::kUnknownTransportDomain};
constexpr CommandResult kNoSuchRqt{CommandStatus::kBadResource, Syndrome::kUnknownRqt};

bool isReceiveQueue(const CommandDevice& device, QpNumber queue) {
  QpAttributes qp;
  return device.targets.qps.query(queue, qp).ok() && qp.service == QpService::kRaw && !qp.hasSendQueue;
}

// The queues that an RQT command lists.
CommandResult readQueues(const CommandDevice& device, ByteView input, std::vector<QpNumber>& queues) {
  const std::uint32_t size = CreateRqtInput::ActualSize::get(input);
  constexpr std::uint32_t kMost = 1U << EthernetObjects::kLogMaxSpread;
  if (size == 0 || size > kMost || (size & (size - 1)) != 0 || size > CreateRqtInput::MaxSize::get(input) ||
      input.size() < CreateRqtInput::kQueues + 4 * size) {
    return {CommandStatus::kBadParameter, Syndrome::kRqtSizeOutOfRange};
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    const ByteView entry = input.subview(4 * std::size_t{i}, input.size() - 4 * std::size_t{i});
    queues.emplace_back(CreateRqtInput::FirstQueue::get(entry));
    if (!isReceiveQueue(device, queues.back())) return {CommandStatus::kBadResource, Syndrome::kUnknownQp};
  }
  return {};
}

CommandResult readHash(ByteView input, ReceiveHash& hash) {
  const std::uint32_t function = CreateTirInput::HashFunction::get(input);
  if (function > static_cast<std::uint32_t>(ReceiveHash::Function::kToeplitz)) {
    return {CommandStatus::kBadParameter, Syndrome::kTirDispatchUnsupported};
  }
  hash.function = static_cast<ReceiveHash::Function>(function);
  hash.symmetric = CreateTirInput::HashSymmetric::get(input);
  hash.ipv6 = CreateTirInput::HashIpv6::get(input);
  hash.udp = CreateTirInput::HashUdp::get(input);
  hash.fields = CreateTirInput::HashFields::get(input);
  const ByteView key = CreateTirInput::HashKey::view(input);
  std::copy(key.begin(), key.end(), hash.key.begin());
  // What else could be hashed (a security association) isn't found in frames.
  constexpr std::uint32_t kKnown = ReceiveHash::kSource | ReceiveHash::kDestination | ReceiveHash::kPorts;
  if ((hash.fields & ~kKnown) != 0) return {CommandStatus::kBadParameter, Syndrome::kTirDispatchUnsupported};
  return {};
}

// Queue or table that the receiver leads to.
CommandResult readDestination(CommandDevice& device, ByteView input, EthernetObjects::Receiver& receiver,
                              FlowTarget& target) {
  constexpr std::uint32_t kDirect = 0, kIndirect = 1;
  const std::uint32_t dispatch = CreateTirInput::Dispatch::get(input);
  if (dispatch == kDirect) {
    const QpNumber queue(CreateTirInput::ReceiveQueue::get(input));
    if (!isReceiveQueue(device, queue)) return {CommandStatus::kBadResource, Syndrome::kUnknownQp};
    target.queues = std::make_shared<const std::vector<QpNumber>>(1, queue);
    return {};
  }
  if (dispatch != kIndirect) return {CommandStatus::kBadParameter, Syndrome::kTirDispatchUnsupported};
  receiver.spread = CreateTirInput::IndirectionTable::get(input);
  const auto spread = device.ethernet.spreads.find(receiver.spread);
  if (spread == device.ethernet.spreads.end()) return kNoSuchRqt;
  target.queues = spread->second.queues;
  return readHash(input, target.hash);
}

}  // namespace

CommandResult createTir(CommandDevice& device, const CommandCall& call) {
  FlowTarget target;
  EthernetObjects::Receiver receiver;
  if (const CommandResult result = readDestination(device, call.input, receiver, target); !result.ok()) return result;
  const std::uint32_t own = CreateTirInput::OwnFrames::get(call.input);
  target.takesOwnUnicast = (own & CreateTirInput::kOwnUnicast) != 0;
  target.takesOwnMulticast = (own & CreateTirInput::kOwnMulticast) != 0;
  target.domain = TransportDomainNumber(CreateTirInput::TransportDomain::get(call.input));
  if (!device.transportDomains.hold(target.domain)) return kNoSuchDomain;
  const auto number = device.ethernet.receiverNumbers.allocate();
  if (!number) {
    device.transportDomains.drop(target.domain);
    return kNoMoreObjects;
  }
  if (receiver.spread != 0) ++device.ethernet.spreads.at(receiver.spread).receivers;
  receiver.target = std::make_shared<const FlowTarget>(target);
  device.ethernet.receivers[*number] = receiver;
  ObjectCommand::Number::set(call.output, *number);
  return {};
}

CommandResult destroyTir(CommandDevice& device, const CommandCall& call) {
  const auto found = device.ethernet.receivers.find(ObjectCommand::Number::get(call.input));
  if (found == device.ethernet.receivers.end()) return {CommandStatus::kBadResource, Syndrome::kUnknownTir};
  if (found->second.rules != 0) return {CommandStatus::kResourceBusy, Syndrome::kTirInUse};
  if (found->second.spread != 0) --device.ethernet.spreads.at(found->second.spread).receivers;
  device.transportDomains.drop(found->second.target->domain);
  device.ethernet.receiverNumbers.release(found->first);
  device.ethernet.receivers.erase(found);
  return {};
}

CommandResult createTis(CommandDevice& device, const CommandCall& call) {
  const TransportDomainNumber domain(CreateTisInput::TransportDomain::get(call.input));
  if (!device.transportDomains.hold(domain)) return kNoSuchDomain;
  const auto number = device.ethernet.senderNumbers.allocate();
  if (!number) {
    device.transportDomains.drop(domain);
    return kNoMoreObjects;
  }
  device.ethernet.senders.emplace(*number, domain);
  ObjectCommand::Number::set(call.output, *number);
  return {};
}

CommandResult destroyTis(CommandDevice& device, const CommandCall& call) {
  const auto found = device.ethernet.senders.find(ObjectCommand::Number::get(call.input));
  if (found == device.ethernet.senders.end()) return {CommandStatus::kBadResource, Syndrome::kUnknownTis};
  for (const auto& [queue, sender] : device.ethernet.sendQueues) {
    if (sender == found->first) return {CommandStatus::kResourceBusy, Syndrome::kTisInUse};
  }
  device.transportDomains.drop(found->second);
  device.ethernet.senderNumbers.release(found->first);
  device.ethernet.senders.erase(found);
  return {};
}

CommandResult createRqt(CommandDevice& device, const CommandCall& call) {
  auto queues = std::make_shared<std::vector<QpNumber>>();
  if (const CommandResult result = readQueues(device, call.input, *queues); !result.ok()) return result;
  const auto number = device.ethernet.spreadNumbers.allocate();
  if (!number) return kNoMoreObjects;
  device.ethernet.spreads[*number] = {queues, 0};
  ObjectCommand::Number::set(call.output, *number);
  return {};
}

// Frames that come from now on are spread by the new list.
CommandResult modifyRqt(CommandDevice& device, const CommandCall& call) {
  const auto found = device.ethernet.spreads.find(ObjectCommand::Number::get(call.input));
  if (found == device.ethernet.spreads.end()) return kNoSuchRqt;
  std::vector<QpNumber> queues;
  if (const CommandResult result = readQueues(device, call.input, queues); !result.ok()) return result;
  *found->second.queues = queues;
  return {};
}

CommandResult destroyRqt(CommandDevice& device, const CommandCall& call) {
  const auto found = device.ethernet.spreads.find(ObjectCommand::Number::get(call.input));
  if (found == device.ethernet.spreads.end()) return kNoSuchRqt;
  if (found->second.receivers != 0) return {CommandStatus::kResourceBusy, Syndrome::kRqtInUse};
  device.ethernet.spreadNumbers.release(found->first);
  device.ethernet.spreads.erase(found);
  return {};
}

}  // namespace hca::adapter::commands
