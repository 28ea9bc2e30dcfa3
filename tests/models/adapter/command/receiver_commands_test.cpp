// Indirection tables and what spreads frames over them; what Ethernet ports offer.
#include "tests/models/adapter/command/ethernet_fixture.h"

namespace hca::adapter::test {
namespace {

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
