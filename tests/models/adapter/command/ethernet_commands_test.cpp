// Raw packet queues and flow tables, command by command.
#include "models/wire/ethernet_commands.h"
#include "tests/models/adapter/command/command_fixture.h"

namespace hca::adapter::test {
namespace {

using wire::CommandOpcode;
using wire::EthernetQueueContext;
using wire::FlowEntryInput;
using wire::FlowMatch;
using wire::FlowTableInput;

class EthernetCommandsTest : public CommandFixture {
 protected:
  EthernetCommandsTest() {
    bringUp();
    pd_ = allocate(CommandOpcode::kAllocPd);
    uar_ = allocate(CommandOpcode::kAllocUar);
    domain_ = allocate(CommandOpcode::kAllocTransportDomain);
  }
  std::vector<std::uint8_t> queueInput(CommandOpcode opcode, std::uint32_t tis = 0) {
    auto input = makeInput(opcode, 0x118);
    const MutableByteView context = wire::CreateEthernetQueueInput::Context::mutableView(input);
    EthernetQueueContext::UserIndex::set(context, 0x77);
    EthernetQueueContext::Cq::set(context, 0x81);
    EthernetQueueContext::Tis::set(context, tis);
    const MutableByteView queue = EthernetQueueContext::WorkQueue::mutableView(context);
    wire::WorkQueueContext::ProtectionDomain::set(queue, pd_);
    wire::WorkQueueContext::UarPage::set(queue, uar_);
    wire::WorkQueueContext::LogSize::set(queue, 5);
    wire::WorkQueueContext::LogStride::set(queue, 6);
    wire::WorkQueueContext::DoorbellRecord::set(queue, 0x5000);
    wire::CreateEthernetQueueInput::Pages::set(input, 0, 0x9000);
    return input;
  }
  std::uint32_t create(const std::vector<std::uint8_t>& input) {
    const Reply reply = issue(input);
    EXPECT_TRUE(reply.ok()) << static_cast<std::uint32_t>(reply.syndrome);
    return reply.number();
  }
  std::uint32_t createTis() {
    auto input = makeInput(CommandOpcode::kCreateTis, wire::CreateTisInput::kSize);
    wire::CreateTisInput::TransportDomain::set(input, domain_);
    return create(input);
  }
  std::uint32_t createRq() { return create(queueInput(CommandOpcode::kCreateRq)); }
  std::uint32_t createTir(std::uint32_t rq) {
    auto input = makeInput(CommandOpcode::kCreateTir, wire::CreateTirInput::kSize);
    wire::CreateTirInput::ReceiveQueue::set(input, rq);
    wire::CreateTirInput::TransportDomain::set(input, domain_);
    return create(input);
  }
  std::uint32_t createTable() {
    auto input = makeInput(CommandOpcode::kCreateFlowTable, wire::CreateFlowTableInput::kSize);
    wire::CreateFlowTableInput::LogSize::set(input, 4);
    wire::CreateFlowTableInput::Level::set(input, 3);
    return create(input);
  }
  /// Entries 2 to 5 match destination address and VLAN.
  std::vector<std::uint8_t> groupInput(std::uint32_t table) {
    auto input = makeInput(CommandOpcode::kCreateFlowGroup, wire::CreateFlowGroupInput::kSize);
    FlowTableInput::Table::set(input, table);
    wire::CreateFlowGroupInput::FirstIndex::set(input, 2);
    wire::CreateFlowGroupInput::LastIndex::set(input, 5);
    wire::CreateFlowGroupInput::Criteria::set(input, 1);
    const MutableByteView mask = wire::CreateFlowGroupInput::Match::mutableView(input);
    FlowMatch::DestinationHigh::set(mask, 0xFFFFFFFF);
    FlowMatch::DestinationLow::set(mask, 0xFFFF);
    FlowMatch::Vlan::set(mask, 0xFFF);
    return input;
  }
  std::vector<std::uint8_t> entryInput(std::uint32_t table, std::uint32_t group, std::uint32_t index,
                                       std::uint32_t tir) {
    auto input = makeInput(CommandOpcode::kSetFlowTableEntry, FlowEntryInput::kSize);
    FlowTableInput::Table::set(input, table);
    FlowEntryInput::Index::set(input, index);
    FlowEntryInput::Group::set(input, group);
    FlowEntryInput::FlowTag::set(input, 0xABCDE);
    FlowEntryInput::Action::set(input, FlowEntryInput::kForward);
    FlowEntryInput::Destinations::set(input, 1);
    FlowEntryInput::DestinationType::set(input, FlowEntryInput::kToReceiver);
    FlowEntryInput::Destination::set(input, tir);
    const MutableByteView value = FlowEntryInput::Value::mutableView(input);
    FlowMatch::DestinationHigh::set(value, 0x02000001);
    FlowMatch::DestinationLow::set(value, 0x0203);
    FlowMatch::Vlan::set(value, 5);
    FlowMatch::Type::set(value, 0x1234);  // not in the group's criteria
    return input;
  }
  Reply modify(CommandOpcode opcode, std::uint32_t number, std::uint32_t from, std::uint32_t to) {
    auto input = makeInput(opcode, 0x110);
    wire::ModifyEthernetQueueInput::Number::set(input, number);
    wire::ModifyEthernetQueueInput::State::set(input, from);
    EthernetQueueContext::State::set(wire::ModifyEthernetQueueInput::Context::mutableView(input), to);
    return issue(input);
  }
  Reply destroy(CommandOpcode opcode, std::uint32_t number) {
    auto input = makeInput(opcode);
    wire::ObjectCommand::Number::set(input, number);
    return issue(input);
  }
  Reply onTable(CommandOpcode opcode, std::uint32_t table, std::uint32_t group = 0, std::uint32_t index = 0) {
    auto input = makeInput(opcode, 0x40);
    FlowTableInput::Table::set(input, table);
    FlowTableInput::Group::set(input, group);
    FlowEntryInput::Index::set(input, index);
    return issue(input);
  }
  std::uint32_t pd_ = 0, uar_ = 0, domain_ = 0;
};

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
}

TEST_F(EthernetCommandsTest, EntryOfAFlowTableBecomesARule) {
  const std::uint32_t rq = createRq(), tir = createTir(rq), table = createTable();
  const std::uint32_t group = create(groupInput(table));
  ASSERT_TRUE(issue(entryInput(table, group, 2, tir)).ok());
  ASSERT_EQ(qps_.flows.size(), 1u);
  const FlowRule& rule = qps_.flows.begin()->second;
  EXPECT_EQ(rule.queue, QpNumber(rq));
  EXPECT_EQ(rule.flowTag, 0xABCDEu);
  EXPECT_EQ(rule.destination, (std::array<std::uint8_t, 6>{0x02, 0, 0, 1, 2, 3}));
  EXPECT_EQ(rule.vlan, 5);
  EXPECT_FALSE(rule.type.has_value()) << "the group does not ask for it";
  EXPECT_FALSE(rule.source.has_value());
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
  FlowMatch::Vlan::set(wire::CreateFlowGroupInput::Match::mutableView(input), 0x0FF);
  expectRefusal(issue(input), bad, Syndrome::kFlowMatchUnsupported);
  input = groupInput(table);
  wire::CreateFlowGroupInput::Match::mutableView(input)[0x11] = 1;  // a field that is not looked at
  expectRefusal(issue(input), bad, Syndrome::kFlowMatchUnsupported);
  input = groupInput(table);
  wire::CreateFlowGroupInput::LastIndex::set(input, 16);
  expectRefusal(issue(input), bad, Syndrome::kFlowIndexOutOfRange);
  expectRefusal(issue(entryInput(table, group, 6, tir)), bad, Syndrome::kFlowIndexOutOfRange);
  expectRefusal(issue(entryInput(table, group + 1, 2, tir)), CommandStatus::kBadResource, Syndrome::kUnknownFlowGroup);
  expectRefusal(issue(entryInput(table + 1, group, 2, tir)), CommandStatus::kBadResource, Syndrome::kUnknownFlowTable);
  expectRefusal(issue(entryInput(table, group, 2, tir + 1)), CommandStatus::kBadResource, Syndrome::kUnknownTir);
  input = entryInput(table, group, 2, tir);
  FlowEntryInput::Action::set(input, 2);  // drop
  expectRefusal(issue(input), bad, Syndrome::kFlowActionUnsupported);
  expectRefusal(onTable(CommandOpcode::kDeleteFlowTableEntry, table, 0, 2), CommandStatus::kBadResource,
                Syndrome::kUnknownFlow);
  input = makeInput(CommandOpcode::kCreateTir, wire::CreateTirInput::kSize);
  wire::CreateTirInput::Dispatch::set(input, 1);
  expectRefusal(issue(input), bad, Syndrome::kTirDispatchUnsupported);
  EXPECT_TRUE(qps_.flows.empty());
}

}  // namespace
}  // namespace hca::adapter::test
