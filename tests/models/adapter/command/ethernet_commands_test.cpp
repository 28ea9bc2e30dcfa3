// Raw packet queues and flow tables, command by command.
#include "tests/models/adapter/command/ethernet_fixture.h"

namespace hca::adapter::test {
namespace {

TEST_F(EthernetCommandsTest, SendQueueIsAQueuePairThatOnlySends) {
  const std::uint32_t sq = create(queueInput(CommandOpcode::kCreateSq, createTis()));
  const QpAttributes& qp = qps_.table.at(QpNumber(sq));
  EXPECT_EQ(qp.service, QpService::kRaw);
  EXPECT_TRUE(qp.hasSendQueue);
  EXPECT_EQ(qp.receiveQueueType, RqType::kNone);
  EXPECT_EQ(qp.logSendQueueSize, 5);
  EXPECT_EQ(qp.userIndex, 0x77u);
  EXPECT_EQ(qp.sendCq, CqNumber(0x81));
  EXPECT_EQ(qp.doorbellRecord, BusAddress(0x5000));
  EXPECT_EQ(qp.buffer.pages, std::vector<BusAddress>{BusAddress(0x9000)});
  EXPECT_TRUE(destroy(CommandOpcode::kDestroySq, sq).ok());
  EXPECT_TRUE(destroy(CommandOpcode::kDeallocPd, pd_).ok()) << "nothing holds it any more";
}

TEST_F(EthernetCommandsTest, ReceiveQueueStripsVlanTagsUnlessToldNotTo) {
  const std::uint32_t rq = createRq();
  EXPECT_TRUE(qps_.table.at(QpNumber(rq)).stripVlan);
  EXPECT_FALSE(qps_.table.at(QpNumber(rq)).hasSendQueue);
  EXPECT_EQ(qps_.table.at(QpNumber(rq)).logReceiveStride, 6);
  auto input = queueInput(CommandOpcode::kCreateRq);
  EthernetQueueContext::VlanStripDisable::set(wire::CreateEthernetQueueInput::Context::mutableView(input), true);
  EXPECT_FALSE(qps_.table.at(QpNumber(create(input))).stripVlan);
}

TEST_F(EthernetCommandsTest, ReceiveQueueMayHaveStrides) {
  using Queue = wire::WorkQueueContext;
  auto input = queueInput(CommandOpcode::kCreateRq);
  const MutableByteView queue =
      EthernetQueueContext::WorkQueue::mutableView(wire::CreateEthernetQueueInput::Context::mutableView(input));
  Queue::Type::set(queue, Queue::kCyclicStriding);
  Queue::LogStrideCount::set(queue, 3);
  Queue::LogStrideSize::set(queue, 5);
  Queue::TwoByteShift::set(queue, 1);
  const std::uint32_t rq = create(input);
  const StridingLayout& layout = qps_.table.at(QpNumber(rq)).striding;
  EXPECT_TRUE(layout.isOn);
  EXPECT_TRUE(layout.shifts);
  EXPECT_EQ(layout.logCount, 12);
  EXPECT_EQ(layout.logSize, 11);
  auto ask = makeInput(CommandOpcode::kQueryRq);
  wire::ObjectCommand::Number::set(ask, rq);
  const Reply reply = issue(ask, 0x110);
  const ByteView answer =
      EthernetQueueContext::WorkQueue::view(wire::QueryEthernetQueueOutput::Context::view(reply.output));
  EXPECT_EQ(Queue::Type::get(answer), Queue::kCyclicStriding);
  EXPECT_EQ(Queue::LogStrideCount::get(answer), 3U);
  EXPECT_EQ(Queue::LogStrideSize::get(answer), 5U);
  EXPECT_EQ(Queue::TwoByteShift::get(answer), 1U);
}

TEST_F(EthernetCommandsTest, SendQueueNeedsATis) {
  expectRefusal(issue(queueInput(CommandOpcode::kCreateSq, 9)), CommandStatus::kBadResource, Syndrome::kUnknownTis);
}

TEST_F(EthernetCommandsTest, ReadyIsAllStepsAtOnceAndOnlyFromReset) {
  const std::uint32_t rq = createRq();
  expectRefusal(modify(CommandOpcode::kModifyRq, rq, 1, 3), CommandStatus::kBadQpState, Syndrome::kQpTransitionIllegal);
  EXPECT_TRUE(modify(CommandOpcode::kModifyRq, rq, 0, 1).ok());
  EXPECT_EQ(qps_.last.transition, QpTransition::kReadyToReceiveToReadyToSend);
  qps_.table.at(QpNumber(rq)).state = QpState::kReadyToSend;
  EXPECT_TRUE(modify(CommandOpcode::kModifyRq, rq, 1, 3).ok());
  EXPECT_EQ(qps_.last.transition, QpTransition::kToError);
  expectRefusal(modify(CommandOpcode::kModifySq, rq, 0, 1), CommandStatus::kBadResource, Syndrome::kUnknownQp);
}

TEST_F(EthernetCommandsTest, QueryTellsTheState) {
  const std::uint32_t rq = createRq();
  auto input = makeInput(CommandOpcode::kQueryRq);
  wire::ObjectCommand::Number::set(input, rq);
  const auto state = [&] {
    const Reply reply = issue(input, 0x110);
    EXPECT_TRUE(reply.ok());
    return EthernetQueueContext::State::get(wire::QueryEthernetQueueOutput::Context::view(reply.output));
  };
  EXPECT_EQ(state(), 0u);
  qps_.table.at(QpNumber(rq)).state = QpState::kReadyToSend;
  EXPECT_EQ(state(), 1u);
  qps_.table.at(QpNumber(rq)).state = QpState::kError;
  EXPECT_EQ(state(), 3u);
  qps_.table.at(QpNumber(rq)).state = QpState::kSendQueueError;
  EXPECT_EQ(state(), 3u);
}

TEST_F(EthernetCommandsTest, EntryOfAFlowTableBecomesARule) {
  const std::uint32_t rq = createRq(), tir = createTir(rq), table = createTable();
  const std::uint32_t group = create(groupInput(table));
  ASSERT_TRUE(issue(entryInput(table, group, 2, tir)).ok());
  ASSERT_EQ(qps_.flows.size(), 1u);
  const FlowRule& rule = qps_.flows.begin()->second;
  ASSERT_EQ(rule.targets.size(), 1u);
  EXPECT_EQ(*rule.targets[0]->queues, std::vector<QpNumber>{QpNumber(rq)});
  EXPECT_EQ(rule.flowTag, 0xABCDEu);
  const ByteView mask{rule.mask.data(), rule.mask.size()}, value{rule.value.data(), rule.value.size()};
  EXPECT_EQ(FlowMatch::DestinationHigh::get(mask), 0xFFFFFFFFu);
  EXPECT_EQ(FlowMatch::DestinationHigh::get(value), 0x02000001u);
  EXPECT_EQ(FlowMatch::Vlan::get(value), 5u);
  EXPECT_EQ(FlowMatch::Type::get(mask), 0u) << "the group does not ask for it";
  EXPECT_EQ(rule.order, std::uint64_t{3} << 32 | 2);
}

TEST_F(EthernetCommandsTest, WhatIsInUseStays) {
  const std::uint32_t rq = createRq(), tir = createTir(rq), table = createTable();
  const std::uint32_t group = create(groupInput(table));
  ASSERT_TRUE(issue(entryInput(table, group, 5, tir)).ok());
  const auto busy = CommandStatus::kResourceBusy;
  expectRefusal(destroy(CommandOpcode::kDestroyRq, rq), busy, Syndrome::kQpHasFlows);
  expectRefusal(destroy(CommandOpcode::kDestroyTir, tir), busy, Syndrome::kTirInUse);
  expectRefusal(onTable(CommandOpcode::kDestroyFlowTable, table), busy, Syndrome::kFlowTableInUse);
  expectRefusal(onTable(CommandOpcode::kDestroyFlowGroup, table, group), busy, Syndrome::kFlowGroupInUse);
  EXPECT_TRUE(onTable(CommandOpcode::kDeleteFlowTableEntry, table, 0, 5).ok());
  EXPECT_TRUE(qps_.flows.empty());
  EXPECT_TRUE(onTable(CommandOpcode::kDestroyFlowGroup, table, group).ok());
  EXPECT_TRUE(onTable(CommandOpcode::kDestroyFlowTable, table).ok());
  EXPECT_TRUE(destroy(CommandOpcode::kDestroyTir, tir).ok());
  EXPECT_TRUE(destroy(CommandOpcode::kDestroyRq, rq).ok());
  EXPECT_TRUE(destroy(CommandOpcode::kDeallocTransportDomain, domain_).ok());
}

TEST_F(EthernetCommandsTest, RefusesWhatItCanNotMatchOrDo) {
  const std::uint32_t rq = createRq(), tir = createTir(rq), table = createTable();
  const std::uint32_t group = create(groupInput(table));
  const auto bad = CommandStatus::kBadParameter;
  auto input = groupInput(table);
  wire::CreateFlowGroupInput::Match::mutableView(input)[0x1A] = 1;  // a field that is not looked at
  expectRefusal(issue(input), bad, Syndrome::kFlowMatchUnsupported);
  input = groupInput(table);
  wire::CreateFlowGroupInput::LastIndex::set(input, 16);
  expectRefusal(issue(input), bad, Syndrome::kFlowIndexOutOfRange);
  expectRefusal(issue(entryInput(table, group, 6, tir)), bad, Syndrome::kFlowIndexOutOfRange);
  expectRefusal(issue(entryInput(table, group + 1, 2, tir)), CommandStatus::kBadResource, Syndrome::kUnknownFlowGroup);
  expectRefusal(issue(entryInput(table + 1, group, 2, tir)), CommandStatus::kBadResource, Syndrome::kUnknownFlowTable);
  expectRefusal(issue(entryInput(table, group, 2, tir + 1)), CommandStatus::kBadResource, Syndrome::kUnknownTir);
  input = entryInput(table, group, 2, tir);
  FlowEntryInput::Action::set(input, 8);  // count
  expectRefusal(issue(input), bad, Syndrome::kFlowActionUnsupported);
  expectRefusal(onTable(CommandOpcode::kDeleteFlowTableEntry, table, 0, 2), CommandStatus::kBadResource,
                Syndrome::kUnknownFlow);
  input = makeInput(CommandOpcode::kCreateTir, wire::CreateTirInput::kSize);
  wire::CreateTirInput::Dispatch::set(input, 2);
  expectRefusal(issue(input), bad, Syndrome::kTirDispatchUnsupported);
  EXPECT_TRUE(qps_.flows.empty());
}

TEST_F(EthernetCommandsTest, OptionsOfAReceiveQueueChangeAtAnyTime) {
  using Input = wire::ModifyEthernetQueueInput;
  const std::uint32_t rq = createRq();
  auto input = makeInput(CommandOpcode::kModifyRq, Input::kSize);
  Input::Number::set(input, rq);
  Input::Mask::set(input, Input::kVlanStripDisable | Input::kScatterFcs);
  EthernetQueueContext::VlanStripDisable::set(Input::Context::mutableView(input), true);
  EthernetQueueContext::ScatterFcs::set(Input::Context::mutableView(input), true);
  EXPECT_TRUE(issue(input).ok());
  EXPECT_FALSE(qps_.table.at(QpNumber(rq)).stripVlan);
  EXPECT_TRUE(qps_.table.at(QpNumber(rq)).scatterFcs);
  Input::Mask::set(input, Input::kVlanStripDisable);
  EthernetQueueContext::VlanStripDisable::set(Input::Context::mutableView(input), false);
  EthernetQueueContext::ScatterFcs::set(Input::Context::mutableView(input), false);
  EXPECT_TRUE(issue(input).ok());
  EXPECT_TRUE(qps_.table.at(QpNumber(rq)).stripVlan);
  EXPECT_TRUE(qps_.table.at(QpNumber(rq)).scatterFcs) << "not in the mask";
}

TEST_F(EthernetCommandsTest, TisOfASendQueueStays) {
  const std::uint32_t tis = createTis(), sq = create(queueInput(CommandOpcode::kCreateSq, tis));
  expectRefusal(destroy(CommandOpcode::kDestroyTis, tis), CommandStatus::kResourceBusy, Syndrome::kTisInUse);
  EXPECT_TRUE(destroy(CommandOpcode::kDestroySq, sq).ok());
  EXPECT_TRUE(destroy(CommandOpcode::kDestroyTis, tis).ok());
}

TEST_F(EthernetCommandsTest, SendQueueIsOfTheTransportDomainOfItsTis) {
  const std::uint32_t sq = create(queueInput(CommandOpcode::kCreateSq, createTis()));
  EXPECT_EQ(qps_.table.at(QpNumber(sq)).transportDomain, domain_);
}

TEST_F(EthernetCommandsTest, EntriesDropOrLetGoOn) {
  const std::uint32_t rq = createRq(), tir = createTir(rq), table = createTable(), group = create(groupInput(table));
  auto input = entryInput(table, group, 2, tir);
  FlowEntryInput::Action::set(input, FlowEntryInput::kDrop);
  FlowEntryInput::Destinations::set(input, 0);
  ASSERT_TRUE(issue(input).ok());
  EXPECT_TRUE(qps_.flows.at(1).targets.empty());
  auto higher = makeInput(CommandOpcode::kCreateFlowTable, wire::CreateFlowTableInput::kSize);
  wire::CreateFlowTableInput::Level::set(higher, 4);
  const std::uint32_t next = create(higher);
  input = entryInput(table, group, 3, tir);
  input.resize(FlowEntryInput::kDestinations + 2 * FlowEntryInput::kDestinationSize);
  FlowEntryInput::Destinations::set(input, 2);
  const MutableByteView second = MutableByteView(input).subview(8, input.size() - 8);
  FlowEntryInput::DestinationType::set(second, FlowEntryInput::kToTable);
  FlowEntryInput::Destination::set(second, table);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kFlowActionUnsupported);  // never back
  FlowEntryInput::Destination::set(second, next);
  ASSERT_TRUE(issue(input).ok());
  EXPECT_TRUE(qps_.flows.at(2).continues);
  EXPECT_EQ(qps_.flows.at(2).targets.size(), 1u);
}

TEST_F(EthernetCommandsTest, AnEntryGetsOtherReceivers) {
  const std::uint32_t rq = createRq(), tir = createTir(rq), other = createTir(rq), table = createTable();
  const std::uint32_t group = create(groupInput(table));
  ASSERT_TRUE(issue(entryInput(table, group, 2, tir)).ok());
  auto input = entryInput(table, group, 2, other);
  wire::CommandInput::begin(input, CommandOpcode::kSetFlowTableEntry, FlowEntryInput::kModify);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kFlowActionUnsupported);  // of which nothing
  FlowEntryInput::ModifyMask::set(input, FlowEntryInput::kModifyDestinations);
  ASSERT_TRUE(issue(input).ok());
  ASSERT_EQ(qps_.flows.size(), 1u);
  EXPECT_EQ(qps_.flows.begin()->second.targets.size(), 1u);
  EXPECT_TRUE(destroy(CommandOpcode::kDestroyTir, tir).ok()) << "nothing leads to it any more";
  expectRefusal(destroy(CommandOpcode::kDestroyTir, other), CommandStatus::kResourceBusy, Syndrome::kTirInUse);
  FlowEntryInput::Index::set(input, 3);
  expectRefusal(issue(input), CommandStatus::kBadResource, Syndrome::kUnknownFlow);
}

TEST_F(EthernetCommandsTest, TheFlowLabelIsMatchedAmongTheMiscellaneous) {
  const std::uint32_t rq = createRq(), tir = createTir(rq), table = createTable();
  auto input = groupInput(table);
  const MutableByteView mask = wire::CreateFlowGroupInput::Match::mutableView(input);
  FlowMatch::FlowLabel::set(mask, 0xFFFFF);
  const std::uint32_t without = create(input);
  ASSERT_TRUE(issue(entryInput(table, without, 2, tir)).ok());
  const FlowRule& rule = qps_.flows.at(1);
  EXPECT_EQ(FlowMatch::FlowLabel::get({rule.mask.data(), rule.mask.size()}), 0u) << "not in the criteria";
  wire::CreateFlowGroupInput::Criteria::set(input, 3);
  const std::uint32_t with = create(input);
  ASSERT_TRUE(issue(entryInput(table, with, 3, tir)).ok());
  const FlowRule& other = qps_.flows.at(2);
  EXPECT_EQ(FlowMatch::FlowLabel::get({other.mask.data(), other.mask.size()}), 0xFFFFFu);
  mask[0x40] = 1;  // of the source queue
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kFlowMatchUnsupported);
}

}  // namespace
}  // namespace hca::adapter::test
