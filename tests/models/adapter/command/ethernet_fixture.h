// Raw packet queues and flow tables, as a driver makes them.
#pragma once

#include "models/wire/ethernet_commands.h"
#include "tests/models/adapter/command/command_fixture.h"

namespace hca::adapter::test {

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

}  // namespace hca::adapter::test
