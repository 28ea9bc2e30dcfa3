// Transport interfaces and flow tables: which frames a receive queue of raw packets gets.
#include <algorithm>
#include <optional>

#include "models/adapter/command/command_handlers.h"
#include "models/wire/ethernet_commands.h"
#include "models/wire/queue_commands.h"

namespace hca::adapter::commands {
namespace {

using wire::CreateFlowGroupInput;
using wire::CreateFlowTableInput;
using wire::CreateTirInput;
using wire::CreateTisInput;
using wire::FlowEntryInput;
using wire::FlowMatch;
using wire::FlowTableInput;
using wire::ObjectCommand;

constexpr CommandResult kLimit{CommandStatus::kNoResources, Syndrome::kEthernetObjectLimit};
constexpr CommandResult kNoDomain{CommandStatus::kBadResource, Syndrome::kUnknownTransportDomain};
constexpr CommandResult kNoTable{CommandStatus::kBadResource, Syndrome::kUnknownFlowTable};
constexpr CommandResult kNoMatch{CommandStatus::kBadParameter, Syndrome::kFlowMatchUnsupported};

EthernetObjects::Table* tableOf(CommandDevice& device, const CommandCall& call) {
  if (FlowTableInput::Type::get(call.input) != FlowTableInput::kReceive) return nullptr;
  const auto found = device.ethernet.tables.find(FlowTableInput::Table::get(call.input));
  return found == device.ethernet.tables.end() ? nullptr : &found->second;
}

/// The fields that can be matched, whole or not at all.
struct Mask {
  std::array<std::uint8_t, 0x40> bytes{};
  explicit Mask(bool full) {
    if (!full) return;
    FlowMatch::SourceHigh::set(view(), FlowMatch::SourceHigh::kMax);
    FlowMatch::SourceLow::set(view(), FlowMatch::SourceLow::kMax);
    FlowMatch::Type::set(view(), FlowMatch::Type::kMax);
    FlowMatch::DestinationHigh::set(view(), FlowMatch::DestinationHigh::kMax);
    FlowMatch::DestinationLow::set(view(), FlowMatch::DestinationLow::kMax);
    FlowMatch::Vlan::set(view(), FlowMatch::Vlan::kMax);
    FlowMatch::Tagged::set(view(), true);
    FlowMatch::IpVersion::set(view(), FlowMatch::IpVersion::kMax);
  }
  MutableByteView view() { return {bytes.data(), bytes.size()}; }
};

template <class Field>
bool isWhole(ByteView mask) {
  const auto value = static_cast<std::uint32_t>(Field::get(mask));
  return value == 0 || value == Field::kMax;
}

bool isSupported(ByteView mask) {
  const Mask known(true);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if ((mask[i] & ~(i < known.bytes.size() ? known.bytes[i] : 0)) != 0) return false;
  }
  const bool addresses = (FlowMatch::SourceHigh::get(mask) == 0) == (FlowMatch::SourceLow::get(mask) == 0) &&
                         (FlowMatch::DestinationHigh::get(mask) == 0) == (FlowMatch::DestinationLow::get(mask) == 0);
  return addresses && isWhole<FlowMatch::SourceHigh>(mask) && isWhole<FlowMatch::SourceLow>(mask) &&
         isWhole<FlowMatch::DestinationHigh>(mask) && isWhole<FlowMatch::DestinationLow>(mask) &&
         isWhole<FlowMatch::Type>(mask) && isWhole<FlowMatch::Vlan>(mask) && isWhole<FlowMatch::IpVersion>(mask);
}

std::array<std::uint8_t, 6> macOf(std::uint32_t high, std::uint32_t low) {
  return {static_cast<std::uint8_t>(high >> 24), static_cast<std::uint8_t>(high >> 16),
          static_cast<std::uint8_t>(high >> 8),  static_cast<std::uint8_t>(high),
          static_cast<std::uint8_t>(low >> 8),   static_cast<std::uint8_t>(low)};
}

/// Empty if the value asks for what no frame has.
std::optional<FlowRule> ruleOf(ByteView mask, ByteView value) {
  constexpr std::uint16_t kIpv4Type = 0x0800, kIpv6Type = 0x86DD;
  FlowRule rule;
  if (FlowMatch::SourceHigh::get(mask) != 0) {
    rule.source = macOf(FlowMatch::SourceHigh::get(value), FlowMatch::SourceLow::get(value));
  }
  if (FlowMatch::DestinationHigh::get(mask) != 0) {
    rule.destination = macOf(FlowMatch::DestinationHigh::get(value), FlowMatch::DestinationLow::get(value));
  }
  if (FlowMatch::Type::get(mask) != 0) rule.type = static_cast<std::uint16_t>(FlowMatch::Type::get(value));
  if (FlowMatch::IpVersion::get(mask) != 0) {
    const std::uint32_t version = FlowMatch::IpVersion::get(value);
    const std::uint16_t type = version == 4 ? kIpv4Type : kIpv6Type;
    if ((version != 4 && version != 6) || (rule.type && *rule.type != type)) return std::nullopt;
    rule.type = type;
  }
  if (FlowMatch::Tagged::get(mask)) rule.tagged = FlowMatch::Tagged::get(value);
  if (FlowMatch::Vlan::get(mask) != 0) rule.vlan = static_cast<std::uint16_t>(FlowMatch::Vlan::get(value));
  return rule;
}

CommandResult removeEntry(CommandDevice& device, EthernetObjects::Table& table, std::uint32_t index) {
  const auto found = table.entries.find(index);
  if (found == table.entries.end()) return {CommandStatus::kBadResource, Syndrome::kUnknownFlow};
  const auto receiver = device.ethernet.receivers.find(found->second.receiver);
  if (receiver != device.ethernet.receivers.end()) --receiver->second.rules;
  const CommandResult result = device.targets.qps.removeFlow(found->second.rule);
  table.entries.erase(found);
  return result;
}

}  // namespace

CommandResult createTir(CommandDevice& device, const CommandCall& call) {
  const QpNumber queue(CreateTirInput::ReceiveQueue::get(call.input));
  const TransportDomainNumber domain(CreateTirInput::TransportDomain::get(call.input));
  if (CreateTirInput::Dispatch::get(call.input) != 0) {
    return {CommandStatus::kBadParameter, Syndrome::kTirDispatchUnsupported};
  }
  QpAttributes qp;
  const bool isRq = device.targets.qps.query(queue, qp).ok() && qp.service == QpService::kRaw && !qp.hasSendQueue;
  if (!isRq) return {CommandStatus::kBadResource, Syndrome::kUnknownQp};
  if (!device.transportDomains.hold(domain)) return kNoDomain;
  const auto number = device.ethernet.receiverNumbers.allocate();
  if (!number) {
    device.transportDomains.drop(domain);
    return kLimit;
  }
  device.ethernet.receivers[*number] = {queue, domain, 0};
  ObjectCommand::Number::set(call.output, *number);
  call.note("tirn", *number);
  return {};
}

CommandResult destroyTir(CommandDevice& device, const CommandCall& call) {
  const auto found = device.ethernet.receivers.find(ObjectCommand::Number::get(call.input));
  if (found == device.ethernet.receivers.end()) return {CommandStatus::kBadResource, Syndrome::kUnknownTir};
  if (found->second.rules != 0) return {CommandStatus::kResourceBusy, Syndrome::kTirInUse};
  device.transportDomains.drop(found->second.domain);
  device.ethernet.receiverNumbers.release(found->first);
  device.ethernet.receivers.erase(found);
  return {};
}

CommandResult createTis(CommandDevice& device, const CommandCall& call) {
  const TransportDomainNumber domain(CreateTisInput::TransportDomain::get(call.input));
  if (!device.transportDomains.hold(domain)) return kNoDomain;
  const auto number = device.ethernet.senderNumbers.allocate();
  if (!number) {
    device.transportDomains.drop(domain);
    return kLimit;
  }
  device.ethernet.senders.emplace(*number, domain);
  ObjectCommand::Number::set(call.output, *number);
  call.note("tisn", *number);
  return {};
}

CommandResult destroyTis(CommandDevice& device, const CommandCall& call) {
  const auto found = device.ethernet.senders.find(ObjectCommand::Number::get(call.input));
  if (found == device.ethernet.senders.end()) return {CommandStatus::kBadResource, Syndrome::kUnknownTis};
  device.transportDomains.drop(found->second);
  device.ethernet.senderNumbers.release(found->first);
  device.ethernet.senders.erase(found);
  return {};
}

CommandResult createFlowTable(CommandDevice& device, const CommandCall& call) {
  if (FlowTableInput::Type::get(call.input) != FlowTableInput::kReceive) {
    return {CommandStatus::kBadParameter, Syndrome::kFlowActionUnsupported};
  }
  const auto number = device.ethernet.tableNumbers.allocate();
  if (!number) return kLimit;
  EthernetObjects::Table& table = device.ethernet.tables[*number];
  table.level = CreateFlowTableInput::Level::get(call.input);
  table.size = std::uint64_t{1} << std::min(CreateFlowTableInput::LogSize::get(call.input), 32U);
  ObjectCommand::Number::set(call.output, *number);
  call.note("table_id", *number);
  return {};
}

CommandResult destroyFlowTable(CommandDevice& device, const CommandCall& call) {
  EthernetObjects::Table* table = tableOf(device, call);
  if (table == nullptr) return kNoTable;
  if (!table->groups.empty()) return {CommandStatus::kResourceBusy, Syndrome::kFlowTableInUse};
  const std::uint32_t number = FlowTableInput::Table::get(call.input);
  device.ethernet.tables.erase(number);
  device.ethernet.tableNumbers.release(number);
  return {};
}

CommandResult createFlowGroup(CommandDevice& device, const CommandCall& call) {
  EthernetObjects::Table* table = tableOf(device, call);
  if (table == nullptr) return kNoTable;
  const std::uint32_t first = CreateFlowGroupInput::FirstIndex::get(call.input);
  const std::uint32_t last = CreateFlowGroupInput::LastIndex::get(call.input);
  if (first > last || last >= table->size) return {CommandStatus::kBadParameter, Syndrome::kFlowIndexOutOfRange};
  const ByteView mask = CreateFlowGroupInput::Match::view(call.input);
  const bool outerOnly = (CreateFlowGroupInput::Criteria::get(call.input) & ~1U) == 0;
  if (!outerOnly || !isSupported(mask)) return kNoMatch;
  const auto number = device.ethernet.groupNumbers.allocate();
  if (!number) return kLimit;
  EthernetObjects::Group& group = table->groups[*number];
  group.first = first;
  group.last = last;
  if (CreateFlowGroupInput::Criteria::get(call.input) != 0) {
    std::copy_n(mask.begin(), group.mask.size(), group.mask.begin());
  }
  ObjectCommand::Number::set(call.output, *number);
  call.note("group_id", *number);
  return {};
}

CommandResult destroyFlowGroup(CommandDevice& device, const CommandCall& call) {
  EthernetObjects::Table* table = tableOf(device, call);
  if (table == nullptr) return kNoTable;
  const std::uint32_t number = FlowTableInput::Group::get(call.input);
  if (table->groups.count(number) == 0) return {CommandStatus::kBadResource, Syndrome::kUnknownFlowGroup};
  for (const auto& [index, entry] : table->entries) {
    if (entry.group == number) return {CommandStatus::kResourceBusy, Syndrome::kFlowGroupInUse};
  }
  table->groups.erase(number);
  device.ethernet.groupNumbers.release(number);
  return {};
}

CommandResult setFlowEntry(CommandDevice& device, const CommandCall& call) {
  EthernetObjects::Table* table = tableOf(device, call);
  if (table == nullptr) return kNoTable;
  const std::uint32_t index = FlowEntryInput::Index::get(call.input);
  const std::uint32_t groupNumber = FlowEntryInput::Group::get(call.input);
  const auto group = table->groups.find(groupNumber);
  if (group == table->groups.end()) return {CommandStatus::kBadResource, Syndrome::kUnknownFlowGroup};
  if (index < group->second.first || index > group->second.last || table->entries.count(index) != 0) {
    return {CommandStatus::kBadParameter, Syndrome::kFlowIndexOutOfRange};
  }
  const bool forwards = FlowEntryInput::Action::get(call.input) == FlowEntryInput::kForward &&
                        FlowEntryInput::Destinations::get(call.input) == 1 &&
                        FlowEntryInput::DestinationType::get(call.input) == FlowEntryInput::kToReceiver;
  if (!forwards) return {CommandStatus::kBadParameter, Syndrome::kFlowActionUnsupported};
  const auto receiver = device.ethernet.receivers.find(FlowEntryInput::Destination::get(call.input));
  if (receiver == device.ethernet.receivers.end()) return {CommandStatus::kBadResource, Syndrome::kUnknownTir};
  std::optional<FlowRule> rule =
      ruleOf({group->second.mask.data(), group->second.mask.size()}, FlowEntryInput::Value::view(call.input));
  if (!rule) return kNoMatch;
  rule->order = std::uint64_t{table->level} << 32 | index;
  rule->queue = receiver->second.queue;
  rule->flowTag = FlowEntryInput::FlowTag::get(call.input);
  call.note("flow_index", index);
  call.note("flow_tag", rule->flowTag);
  EthernetObjects::Entry entry{0, receiver->first, groupNumber};
  if (const CommandResult result = device.targets.qps.addFlow(*rule, entry.rule); !result.ok()) return result;
  ++receiver->second.rules;
  table->entries.emplace(index, entry);
  return {};
}

CommandResult deleteFlowEntry(CommandDevice& device, const CommandCall& call) {
  EthernetObjects::Table* table = tableOf(device, call);
  return table == nullptr ? kNoTable : removeEntry(device, *table, FlowEntryInput::Index::get(call.input));
}

}  // namespace hca::adapter::commands
