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

TEST_F(EthernetCommandsTest, SendQueueIsOfTheTransportDomainOfItsTis) {
  const std::uint32_t sq = create(queueInput(CommandOpcode::kCreateSq, createTis()));
  EXPECT_EQ(qps_.table.at(QpNumber(sq)).transportDomain, domain_);
}

class IndirectionTest : public EthernetCommandsTest {
 protected:
  std::vector<std::uint8_t> rqtInput(CommandOpcode opcode, const std::vector<std::uint32_t>& queues) {
    using Input = wire::CreateRqtInput;
    auto input = makeInput(opcode, Input::kQueues + 4 * queues.size());
    Input::MaxSize::set(input, 8);
    Input::ActualSize::set(input, static_cast<std::uint32_t>(queues.size()));
    for (std::size_t i = 0; i < queues.size(); ++i) {
      Input::FirstQueue::set(MutableByteView(input).subview(4 * i, input.size() - 4 * i), queues[i]);
    }
    return input;
  }
  std::vector<std::uint8_t> tirInput(std::uint32_t rqt) {
    using Input = wire::CreateTirInput;
    auto input = makeInput(CommandOpcode::kCreateTir, Input::kSize);
    Input::Dispatch::set(input, 1);
    Input::IndirectionTable::set(input, rqt);
    Input::TransportDomain::set(input, domain_);
    Input::HashFunction::set(input, 2);
    Input::HashFields::set(input, 0xF);
    Input::HashUdp::set(input, true);
    Input::HashKey::mutableView(input)[39] = 0x77;
    Input::OwnFrames::set(input, Input::kOwnMulticast);
    return input;
  }
};

TEST_F(IndirectionTest, TableAndHashReachTheRule) {
  const std::uint32_t first = createRq(), second = createRq(), table = createTable(), group = create(groupInput(table));
  const std::uint32_t rqt = create(rqtInput(CommandOpcode::kCreateRqt, {first, second}));
  const std::uint32_t tir = create(tirInput(rqt));
  ASSERT_TRUE(issue(entryInput(table, group, 2, tir)).ok());
  const FlowTarget& target = *qps_.flows.begin()->second.targets[0];
  EXPECT_EQ(*target.queues, (std::vector<QpNumber>{QpNumber(first), QpNumber(second)}));
  EXPECT_EQ(target.hash.function, ReceiveHash::Function::kToeplitz);
  EXPECT_TRUE(target.hash.udp);
  EXPECT_FALSE(target.hash.ipv6);
  EXPECT_EQ(target.hash.key[39], 0x77);
  EXPECT_TRUE(target.takesOwnMulticast);
  EXPECT_FALSE(target.takesOwnUnicast);
  EXPECT_EQ(target.domain.value(), domain_);
  auto changed = rqtInput(CommandOpcode::kModifyRqt, {second, second, second, first});
  wire::ObjectCommand::Number::set(changed, rqt);
  EXPECT_TRUE(issue(changed).ok());
  EXPECT_EQ(target.queues->size(), 4u) << "frames that come from now on";
}

TEST_F(IndirectionTest, WhatIsInUseStays) {
  const std::uint32_t rq = createRq(), rqt = create(rqtInput(CommandOpcode::kCreateRqt, {rq}));
  const std::uint32_t tir = create(tirInput(rqt));
  expectRefusal(destroy(CommandOpcode::kDestroyRqt, rqt), CommandStatus::kResourceBusy, Syndrome::kRqtInUse);
  EXPECT_TRUE(destroy(CommandOpcode::kDestroyTir, tir).ok());
  expectRefusal(destroy(CommandOpcode::kDestroyRq, rq), CommandStatus::kResourceBusy, Syndrome::kQpHasFlows);
  EXPECT_TRUE(destroy(CommandOpcode::kDestroyRqt, rqt).ok());
  EXPECT_TRUE(destroy(CommandOpcode::kDestroyRq, rq).ok());
}

TEST_F(IndirectionTest, RefusesWhatIsNoTable) {
  const std::uint32_t rq = createRq();
  const auto bad = CommandStatus::kBadParameter;
  const auto create = CommandOpcode::kCreateRqt;
  expectRefusal(issue(rqtInput(create, {rq, rq, rq})), bad, Syndrome::kRqtSizeOutOfRange);
  expectRefusal(issue(rqtInput(create, std::vector<std::uint32_t>(16, rq))), bad, Syndrome::kRqtSizeOutOfRange);
  expectRefusal(issue(rqtInput(create, {rq, rq + 1})), CommandStatus::kBadResource, Syndrome::kUnknownQp);
  expectRefusal(issue(tirInput(9)), CommandStatus::kBadResource, Syndrome::kUnknownRqt);
  expectRefusal(destroy(CommandOpcode::kDestroyRqt, 9), CommandStatus::kBadResource, Syndrome::kUnknownRqt);
  auto input = tirInput(IndirectionTest::create(rqtInput(create, {rq})));
  wire::CreateTirInput::HashFields::set(input, 16);
  expectRefusal(issue(input), bad, Syndrome::kTirDispatchUnsupported);
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

class EthernetCapabilitiesTest : public CommandFixture {
 protected:
  static AdapterIdentity ethernet() {
    AdapterIdentity who = identity();
    who.linkLayer = network::LinkLayer::kRoceV2;
    return who;
  }
  EthernetCapabilitiesTest() : CommandFixture(ethernet()) { bringUp(); }
};

TEST_F(EthernetCapabilitiesTest, SayWhatQueuesOffer) {
  using Caps = wire::EthernetCapabilities;
  const Reply reply = issue(makeInput(CommandOpcode::kQueryHcaCapabilities, 16, 1U << 1 | 1), 0x10 + 0x1000);
  ASSERT_TRUE(reply.ok());
  const ByteView set = wire::QueryHcaCapOutput::General::view(reply.output);
  EXPECT_TRUE(Caps::Checksums::get(set));
  EXPECT_TRUE(Caps::VlanStripping::get(set));
  EXPECT_TRUE(Caps::ScatterFcs::get(set));
  EXPECT_EQ(Caps::InlineMode::get(set), Caps::kNoInline);
  EXPECT_EQ(Caps::LogMaxSpread::get(set), 9u);
}

TEST_F(EthernetCommandsTest, InfiniBandPortsHaveNoEthernetCapabilities) {
  expectRefusal(issue(makeInput(CommandOpcode::kQueryHcaCapabilities, 16, 1U << 1 | 1), 0x10 + 0x1000),
                CommandStatus::kBadParameter, Syndrome::kUnsupportedCapabilityType);
}

}  // namespace
}  // namespace hca::adapter::test
