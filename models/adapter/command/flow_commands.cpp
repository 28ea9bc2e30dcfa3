// Flow tables: which frames a receive queue of raw packets gets.
#include <algorithm>

#include "models/adapter/command/command_handlers.h"
#include "models/wire/ethernet_commands.h"
#include "models/wire/queue_commands.h"

namespace hca::adapter::commands {
namespace {

using wire::CreateFlowGroupInput;
using wire::CreateFlowTableInput;
using wire::FlowEntryInput;
using wire::FlowMatch;
using wire::FlowTableInput;
using wire::ObjectCommand;

constexpr CommandResult kLimit{CommandStatus::kNoResources, Syndrome::kEthernetObjectLimit};
constexpr CommandResult kNoTable{CommandStatus::kBadResource, Syndrome::kUnknownFlowTable};
constexpr CommandResult kNoMatch{CommandStatus::kBadParameter, Syndrome::kFlowMatchUnsupported};
constexpr CommandResult kNoAction{CommandStatus::kBadParameter, Syndrome::kFlowActionUnsupported};

EthernetObjects::Table* tableOf(CommandDevice& device, const CommandCall& call) {
  if (FlowTableInput::Type::get(call.input) != FlowTableInput::kReceive) return nullptr;
  const auto found = device.ethernet.tables.find(FlowTableInput::Table::get(call.input));
  return found == device.ethernet.tables.end() ? nullptr : &found->second;
}

/// Of a group's mask what its criteria say, outer headers and the part behind them. False if more is asked than
/// adapters find in a frame.
bool readMask(ByteView match, std::uint32_t criteria, FlowKey& mask) {
  if ((criteria & ~(FlowMatch::kOuterHeaders | FlowMatch::kMiscellaneous)) != 0) return false;
  constexpr std::size_t kPart = 0x40;
  const FlowKey& known = knownFlowFields();
  for (std::size_t i = 0; i < match.size(); ++i) {
    const std::uint32_t part = i < kPart ? FlowMatch::kOuterHeaders : FlowMatch::kMiscellaneous;
    if (i >= mask.size() || (criteria & part) == 0) continue;
    if ((match[i] & ~known[i]) != 0) return false;
    mask[i] = match[i];
  }
  return true;
}

CommandResult removeEntry(CommandDevice& device, EthernetObjects::Table& table, std::uint32_t index) {
  const auto found = table.entries.find(index);
  if (found == table.entries.end()) return {CommandStatus::kBadResource, Syndrome::kUnknownFlow};
  for (const std::uint32_t number : found->second.receivers) --device.ethernet.receivers.at(number).rules;
  const CommandResult result = device.targets.qps.removeFlow(found->second.rule);
  table.entries.erase(found);
  return result;
}

// Where the rule's frames go.
CommandResult readAction(CommandDevice& device, ByteView input, const EthernetObjects::Table& table, FlowRule& rule,
                         std::vector<std::uint32_t>& receivers) {
  const std::uint32_t action = FlowEntryInput::Action::get(input);
  if (action == FlowEntryInput::kDrop) return {};
  if (action != FlowEntryInput::kForward) return kNoAction;
  const std::size_t count = FlowEntryInput::Destinations::get(input);
  if (count == 0 || input.size() < FlowEntryInput::kDestinations + count * FlowEntryInput::kDestinationSize) {
    return kNoAction;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i * FlowEntryInput::kDestinationSize;
    const ByteView place = input.subview(at, input.size() - at);
    const std::uint32_t number = FlowEntryInput::Destination::get(place);
    const std::uint32_t type = FlowEntryInput::DestinationType::get(place);
    if (type == FlowEntryInput::kToTable) {
      const auto next = device.ethernet.tables.find(number);
      if (next == device.ethernet.tables.end()) return kNoTable;
      if (next->second.level <= table.level) return kNoAction;
      rule.continues = true;
      continue;
    }
    if (type != FlowEntryInput::kToReceiver) return kNoAction;
    const auto receiver = device.ethernet.receivers.find(number);
    if (receiver == device.ethernet.receivers.end()) return {CommandStatus::kBadResource, Syndrome::kUnknownTir};
    rule.targets.push_back(receiver->second.target);
    receivers.push_back(number);
  }
  return {};
}

// The entry stays what it is, but that its frames go to other receivers.
CommandResult modifyFlowEntry(CommandDevice& device, const CommandCall& call, EthernetObjects::Table& table) {
  const auto found = table.entries.find(FlowEntryInput::Index::get(call.input));
  if (found == table.entries.end()) return {CommandStatus::kBadResource, Syndrome::kUnknownFlow};
  if (FlowEntryInput::ModifyMask::get(call.input) != FlowEntryInput::kModifyDestinations) return kNoAction;
  EthernetObjects::Entry& entry = found->second;
  FlowRule rule = entry.description;
  rule.targets.clear();
  rule.continues = false;
  std::vector<std::uint32_t> receivers;
  if (const CommandResult result = readAction(device, call.input, table, rule, receivers); !result.ok()) return result;
  std::uint64_t name = 0;
  if (const CommandResult result = device.targets.qps.addFlow(rule, name); !result.ok()) return result;
  if (const CommandResult result = device.targets.qps.removeFlow(entry.rule); !result.ok()) return result;
  for (const std::uint32_t number : receivers) ++device.ethernet.receivers.at(number).rules;
  for (const std::uint32_t number : entry.receivers) --device.ethernet.receivers.at(number).rules;
  entry.rule = name;
  entry.receivers = receivers;
  entry.description = rule;
  return {};
}

}  // namespace

CommandResult createFlowTable(CommandDevice& device, const CommandCall& call) {
  if (FlowTableInput::Type::get(call.input) != FlowTableInput::kReceive) {
    return kNoAction;
  }
  const auto number = device.ethernet.tableNumbers.allocate();
  if (!number) return kLimit;
  EthernetObjects::Table& table = device.ethernet.tables[*number];
  table.level = CreateFlowTableInput::Level::get(call.input);
  table.size = std::uint64_t{1} << std::min(CreateFlowTableInput::LogSize::get(call.input), 32U);
  ObjectCommand::Number::set(call.output, *number);
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
  EthernetObjects::Group group;
  group.first = first;
  group.last = last;
  const std::uint32_t criteria = CreateFlowGroupInput::Criteria::get(call.input);
  if (!readMask(CreateFlowGroupInput::Match::view(call.input), criteria, group.mask)) return kNoMatch;
  const auto number = device.ethernet.groupNumbers.allocate();
  if (!number) return kLimit;
  table->groups[*number] = group;
  ObjectCommand::Number::set(call.output, *number);
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
  if (call.modifier() == FlowEntryInput::kModify) return modifyFlowEntry(device, call, *table);
  const std::uint32_t index = FlowEntryInput::Index::get(call.input);
  const std::uint32_t groupNumber = FlowEntryInput::Group::get(call.input);
  const auto group = table->groups.find(groupNumber);
  if (group == table->groups.end()) return {CommandStatus::kBadResource, Syndrome::kUnknownFlowGroup};
  if (index < group->second.first || index > group->second.last || table->entries.count(index) != 0) {
    return {CommandStatus::kBadParameter, Syndrome::kFlowIndexOutOfRange};
  }
  FlowRule rule;
  EthernetObjects::Entry entry;
  entry.group = groupNumber;
  if (const CommandResult result = readAction(device, call.input, *table, rule, entry.receivers); !result.ok()) {
    return result;
  }
  rule.mask = group->second.mask;
  std::copy_n(FlowEntryInput::Value::view(call.input).begin(), rule.value.size(), rule.value.begin());
  rule.order = std::uint64_t{table->level} << 32 | index;
  rule.flowTag = FlowEntryInput::FlowTag::get(call.input);
  if (const CommandResult result = device.targets.qps.addFlow(rule, entry.rule); !result.ok()) return result;
  entry.description = rule;
  for (const std::uint32_t number : entry.receivers) ++device.ethernet.receivers.at(number).rules;
  table->entries.emplace(index, entry);
  return {};
}

CommandResult deleteFlowEntry(CommandDevice& device, const CommandCall& call) {
  EthernetObjects::Table* table = tableOf(device, call);
  return table == nullptr ? kNoTable : removeEntry(device, *table, FlowEntryInput::Index::get(call.input));
}

}  // namespace hca::adapter::commands
