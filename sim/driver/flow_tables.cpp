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

CommandBytes FlowTables::groupCommand(const Rule& rule, const FlowAttributes& flow) const {
  using Input = wire::CreateFlowGroupInput;
  CommandBytes input = plainCommand(CommandOpcode::kCreateFlowGroup, Input::kSize);
  FlowTableInput::Table::set(input, tables_.at(rule.level).number);
  Input::FirstIndex::set(input, rule.index);
  Input::LastIndex::set(input, rule.index);
  Input::Criteria::set(input, criteriaOf(flow.mask));
  std::copy(flow.mask.begin(), flow.mask.end(), Input::Match::mutableView(input).data());
  return input;
}

CommandBytes FlowTables::entryCommand(const Rule& rule, const FlowAttributes& flow) const {
  const std::size_t count = flow.receivers.size() + (flow.continues ? 1 : 0);
  CommandBytes input =
      plainCommand(CommandOpcode::kSetFlowTableEntry,
                   FlowEntryInput::kDestinations + std::max<std::size_t>(count, 1) * FlowEntryInput::kDestinationSize);
  FlowTableInput::Table::set(input, tables_.at(rule.level).number);
  FlowEntryInput::Index::set(input, rule.index);
  FlowEntryInput::Group::set(input, rule.group);
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

CommandBytes FlowTables::onRule(CommandOpcode opcode, const Rule& rule) const {
  CommandBytes input = plainCommand(opcode, wire::CreateFlowTableInput::kSize);
  FlowTableInput::Table::set(input, tables_.at(rule.level).number);
  if (opcode == CommandOpcode::kDestroyFlowGroup) {
    FlowTableInput::Group::set(input, rule.group);
  } else {
    FlowEntryInput::Index::set(input, rule.index);
  }
  return input;
}

void FlowTables::dropGroup(const Rule& rule, const Sequence::Next& next) {
  tables_.at(rule.level).entries.release(rule.index);
  if (rule.group == 0) return next({});
  run(onRule(CommandOpcode::kDestroyFlowGroup, rule), next);
}

void FlowTables::add(const FlowAttributes& flow, Done<std::uint32_t> done) {
  using Next = Sequence::Next;
  const auto rule = std::make_shared<Rule>();
  rule->level = std::min(flow.priority, kLastLevel - 1);
  const auto hasPlace = std::make_shared<bool>(false);
  Sequence::run({[=](const Next& next) { ensureTable(rule->level, next); },
                 [=](const Next& next) { flow.continues ? ensureTable(kLastLevel, next) : next({}); },
                 [=](const Next& next) {
                   const auto index = tables_.at(rule->level).entries.allocate();
                   if (!index) return next(kTableFull);
                   *hasPlace = true;
                   rule->index = *index;
                   runForNumber(groupCommand(*rule, flow), rule->group, [rule, next](CommandResult result) {
                     next(result);
                   });
                 },
                 [=](const Next& next) { run(entryCommand(*rule, flow), next); }},
                [this, rule, hasPlace, done = std::move(done)](CommandResult result) {
                  if (!result.ok()) {
                    if (!*hasPlace) return done({result});
                    return dropGroup(*rule, [result, done](CommandResult) { done({result}); });
                  }
                  rules_[++lastRule_] = *rule;
                  done({result, lastRule_});
                });
}

void FlowTables::remove(std::uint32_t number, Done<int> done) {
  const auto found = rules_.find(number);
  if (found == rules_.end()) return done({kNoRule});
  const Rule rule = found->second;
  run(onRule(CommandOpcode::kDeleteFlowTableEntry, rule),
      [this, number, rule, done = std::move(done)](CommandResult result) {
        if (!result.ok()) return done({result});
        rules_.erase(number);
        dropGroup(rule, [done](CommandResult dropped) { done({dropped}); });
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
