#include "sim/driver/flow_tables.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "models/wire/queue_commands.h"

namespace hca::driver {
namespace {

using adapter::CommandResult;
using adapter::CommandStatus;
using wire::CommandOpcode;
using wire::FlowEntryInput;
using wire::FlowMatch;
using wire::FlowTableInput;

constexpr CommandResult kTableFull{CommandStatus::kNoResources, adapter::Syndrome::kEthernetObjectLimit};
constexpr CommandResult kConflict{CommandStatus::kBadParameter, adapter::Syndrome::kFlowConflict};
constexpr CommandResult kNoRule{CommandStatus::kBadResource, adapter::Syndrome::kUnknownFlow};

// Which parts of the match count.
std::uint32_t criteriaOf(const adapter::FlowKey& mask) {
  constexpr std::size_t kPart = 0x40;
  const auto isSet = [](std::uint8_t byte) { return byte != 0; };
  const bool outer = std::any_of(mask.begin(), mask.begin() + kPart, isSet);
  const bool more = std::any_of(mask.begin() + kPart, mask.end(), isSet);
  return (outer ? FlowMatch::kOuterHeaders : 0) | (more ? FlowMatch::kMiscellaneous : 0);
}

}  // namespace

void FlowTables::run(CommandBytes input, const Sequence::Next& next) {
  execute_(std::move(input), wire::ObjectCommand::kSize, [next](const CommandReply& reply) { next(reply.result); });
}

void FlowTables::runForNumber(CommandBytes input, std::uint32_t& number, const Sequence::Next& next) {
  execute_(std::move(input), wire::ObjectCommand::kSize, [&number, next](const CommandReply& reply) {
    if (reply.result.ok()) number = wire::ObjectCommand::Number::get(reply.output);
    next(reply.result);
  });
}

void FlowTables::ensureTable(std::uint32_t level, const Sequence::Next& next) {
  const auto [at, isNew] = tables_.try_emplace(level);
  Table& table = at->second;
  if (table.number != 0) return next({});
  table.waiting.push_back(next);
  if (!isNew) return;
  CommandBytes input = plainCommand(CommandOpcode::kCreateFlowTable, wire::CreateFlowTableInput::kSize);
  wire::CreateFlowTableInput::Level::set(input, level);
  wire::CreateFlowTableInput::LogSize::set(input, kLogSize);
  runForNumber(std::move(input), table.number, [this, level](CommandResult result) {
    const std::vector<Sequence::Next> waiting = std::move(tables_.at(level).waiting);
    if (!result.ok()) tables_.erase(level);
    for (const Sequence::Next& each : waiting) each(result);
  });
}

CommandBytes FlowTables::groupCommand(const Entry& entry) const {
  using Input = wire::CreateFlowGroupInput;
  CommandBytes input = plainCommand(CommandOpcode::kCreateFlowGroup, Input::kSize);
  FlowTableInput::Table::set(input, tables_.at(entry.level).number);
  Input::FirstIndex::set(input, entry.index);
  Input::LastIndex::set(input, entry.index);
  Input::Criteria::set(input, criteriaOf(entry.flow.mask));
  std::copy(entry.flow.mask.begin(), entry.flow.mask.end(), Input::Match::mutableView(input).data());
  return input;
}

CommandBytes FlowTables::entryCommand(const Entry& entry, bool changes) const {
  const FlowAttributes& flow = entry.flow;
  const std::size_t count = flow.receivers.size() + (flow.continues ? 1 : 0);
  CommandBytes input =
      plainCommand(CommandOpcode::kSetFlowTableEntry,
                   FlowEntryInput::kDestinations + std::max<std::size_t>(count, 1) * FlowEntryInput::kDestinationSize,
                   changes ? FlowEntryInput::kModify : 0);
  FlowTableInput::Table::set(input, tables_.at(entry.level).number);
  if (changes) FlowEntryInput::ModifyMask::set(input, FlowEntryInput::kModifyDestinations);
  FlowEntryInput::Index::set(input, entry.index);
  FlowEntryInput::Group::set(input, entry.group);
  FlowEntryInput::FlowTag::set(input, flow.flowTag);
  FlowEntryInput::Action::set(input, count == 0 ? FlowEntryInput::kDrop : FlowEntryInput::kForward);
  FlowEntryInput::Destinations::set(input, static_cast<std::uint32_t>(count));
  std::copy(flow.value.begin(), flow.value.end(), FlowEntryInput::Value::mutableView(input).data());
  for (std::size_t i = 0; i < count; ++i) {
    const bool toReceiver = i < flow.receivers.size();
    const std::size_t at = i * FlowEntryInput::kDestinationSize;
    const MutableByteView place = MutableByteView(input).subview(at, input.size() - at);
    FlowEntryInput::DestinationType::set(place, toReceiver ? FlowEntryInput::kToReceiver : FlowEntryInput::kToTable);
    FlowEntryInput::Destination::set(place, toReceiver ? flow.receivers[i] : tables_.at(kLastLevel).number);
  }
  return input;
}

CommandBytes FlowTables::onEntry(CommandOpcode opcode, const Entry& entry) const {
  CommandBytes input = plainCommand(opcode, wire::CreateFlowTableInput::kSize);
  FlowTableInput::Table::set(input, tables_.at(entry.level).number);
  if (opcode == CommandOpcode::kDestroyFlowGroup) {
    FlowTableInput::Group::set(input, entry.group);
  } else {
    FlowEntryInput::Index::set(input, entry.index);
  }
  return input;
}

void FlowTables::dropGroup(const Entry& entry, const Sequence::Next& next) {
  tables_.at(entry.level).entries.release(entry.index);
  if (entry.group == 0) return next({});
  run(onEntry(CommandOpcode::kDestroyFlowGroup, entry), next);
}

// Bits that don't count may differ.
std::shared_ptr<FlowTables::Entry> FlowTables::find(std::uint32_t level, const FlowAttributes& flow) const {
  for (const auto& [number, rule] : rules_) {
    const FlowAttributes& other = rule.entry->flow;
    bool isSame = rule.entry->level == level && other.mask == flow.mask && other.continues == flow.continues;
    for (std::size_t i = 0; i < flow.mask.size(); ++i) {
      isSame = isSame && ((flow.value[i] ^ other.value[i]) & flow.mask[i]) == 0;
    }
    if (isSame) return rule.entry;
  }
  return nullptr;
}

std::uint32_t FlowTables::remember(const std::shared_ptr<Entry>& entry, const FlowAttributes& flow) {
  rules_[++lastRule_] = {entry, flow.receivers};
  return lastRule_;
}

void FlowTables::join(const std::shared_ptr<Entry>& entry, const FlowAttributes& flow, Done<std::uint32_t> done) {
  if (entry->flow.flowTag != flow.flowTag || entry->flow.receivers.empty() || flow.receivers.empty()) {
    return done({kConflict});
  }
  std::vector<std::uint32_t>& receivers = entry->flow.receivers;
  receivers.insert(receivers.end(), flow.receivers.begin(), flow.receivers.end());
  const std::uint32_t number = remember(entry, flow);
  run(entryCommand(*entry, true), [this, number, done = std::move(done)](CommandResult result) {
    if (!result.ok()) forget(number);
    done({result, number});
  });
}

// The receivers of one rule leave its entry.
void FlowTables::forget(std::uint32_t number) {
  const Rule rule = rules_.at(number);
  std::vector<std::uint32_t>& receivers = rule.entry->flow.receivers;
  for (const std::uint32_t receiver : rule.receivers) {
    const auto at = std::find(receivers.begin(), receivers.end(), receiver);
    if (at != receivers.end()) receivers.erase(at);
  }
  rules_.erase(number);
}

void FlowTables::add(const FlowAttributes& flow, Done<std::uint32_t> done) {
  using Next = Sequence::Next;
  const std::uint32_t level = std::min(flow.priority, kLastLevel - 1);
  if (const auto known = find(level, flow)) return join(known, flow, std::move(done));
  const auto entry = std::make_shared<Entry>();
  entry->level = level;
  entry->flow = flow;
  const auto hasPlace = std::make_shared<bool>(false);
  Sequence::run({[=](const Next& next) { ensureTable(level, next); },
                 [=](const Next& next) { flow.continues ? ensureTable(kLastLevel, next) : next({}); },
                 [=](const Next& next) {
                   const auto index = tables_.at(level).entries.allocate();
                   if (!index) return next(kTableFull);
                   *hasPlace = true;
                   entry->index = *index;
                   runForNumber(groupCommand(*entry), entry->group,
                                [entry, next](CommandResult result) { next(result); });
                 },
                 [=](const Next& next) { run(entryCommand(*entry, false), next); }},
                [this, entry, hasPlace, flow, done = std::move(done)](CommandResult result) {
                  if (result.ok()) return done({result, remember(entry, flow)});
                  if (!*hasPlace) return done({result});
                  dropGroup(*entry, [result, done](CommandResult) { done({result}); });
                });
}

void FlowTables::remove(std::uint32_t number, Done<int> done) {
  const auto found = rules_.find(number);
  if (found == rules_.end()) return done({kNoRule});
  const std::shared_ptr<Entry> entry = found->second.entry;
  forget(number);
  const bool isShared =
      std::any_of(rules_.begin(), rules_.end(), [&entry](const auto& each) { return each.second.entry == entry; });
  if (isShared) {
    return run(entryCommand(*entry, true), [done = std::move(done)](CommandResult result) { done({result}); });
  }
  run(onEntry(CommandOpcode::kDeleteFlowTableEntry, *entry),
      [this, entry, done = std::move(done)](CommandResult result) {
        if (!result.ok()) return done({result});
        dropGroup(*entry, [done](CommandResult dropped) { done({dropped}); });
      });
}

void FlowTables::release(std::function<void()> done) {
  if (tables_.empty()) return done();
  const std::uint32_t level = tables_.begin()->first;
  CommandBytes input = plainCommand(CommandOpcode::kDestroyFlowTable, wire::CreateFlowTableInput::kSize);
  FlowTableInput::Table::set(input, tables_.begin()->second.number);
  run(std::move(input), [this, level, done = std::move(done)](CommandResult) {
    tables_.erase(level);
    release(done);
  });
}

}  // namespace hca::driver
