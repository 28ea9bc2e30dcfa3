// Registers of the adapter and its ports, port queries.
#include "tests/models/adapter/command/command_fixture.h"

namespace hca::adapter::test {
namespace {

using wire::CommandOpcode;

class PortCommandsTest : public CommandFixture {
 protected:
  using CommandFixture::CommandFixture;
  Reply accessRegister(wire::RegisterId id, std::vector<std::uint8_t> data, bool isWrite) {
    auto input = makeInput(CommandOpcode::kAccessRegister, 16, isWrite ? 0 : 1);
    wire::AccessRegisterInput::Register::set(input, static_cast<std::uint32_t>(id));
    input.insert(input.end(), data.begin(), data.end());
    return issue(input, 16 + data.size());
  }
  std::vector<std::uint8_t> portRegister(std::size_t size, std::uint8_t port = 1) {
    std::vector<std::uint8_t> data(size);
    data[1] = port;
    return data;
  }
  Reply queryPort(CommandOpcode opcode, std::uint32_t port, std::uint32_t index, std::size_t outputLength) {
    auto input = makeInput(opcode);
    wire::HcaVportInput::Port::set(input, port);
    wire::HcaVportInput::Index::set(input, index);
    return issue(input, outputLength);
  }
};

// ---- registers

TEST_F(PortCommandsTest, HostEndianness) {
  enable();
  std::vector<std::uint8_t> data(16);
  EXPECT_TRUE(accessRegister(wire::RegisterId::kHostEndianness, data, true).ok());
  data[0] = 0x80;
  expectRefusal(accessRegister(wire::RegisterId::kHostEndianness, data, true), CommandStatus::kBadParameter,
                Syndrome::kHostEndiannessUnsupported);
}

TEST_F(PortCommandsTest, NodeDescriptionIsKept) {
  enable();
  std::vector<std::uint8_t> text(64);
  Reply reply = accessRegister(wire::RegisterId::kNodeDescription, text, false);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(reply.output.data()) + 16), "hcasim adapter");
  text = {'n', 'o', 'd', 'e'};
  text.resize(64);
  ASSERT_TRUE(accessRegister(wire::RegisterId::kNodeDescription, text, true).ok());
  reply = accessRegister(wire::RegisterId::kNodeDescription, std::vector<std::uint8_t>(64), false);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(reply.output.data()) + 16), "node");
}

TEST_F(PortCommandsTest, PortRegisters) {
  enable();
  Reply reply = accessRegister(wire::RegisterId::kPortMtu, portRegister(16), false);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(wire::loadBigEndian<std::uint16_t>(reply.output.data() + 16 + 0x04), 4096) << "max_mtu";
  EXPECT_EQ(wire::loadBigEndian<std::uint16_t>(reply.output.data() + 16 + 0x0C), 4096) << "oper_mtu";
  reply = accessRegister(wire::RegisterId::kPortTypeSpeed, portRegister(64), false);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(wire::loadBigEndian<std::uint16_t>(reply.output.data() + 16 + 0x28), 4) << "ib_link_width_oper";
  EXPECT_EQ(wire::loadBigEndian<std::uint16_t>(reply.output.data() + 16 + 0x2A), 0x20) << "ib_proto_oper";
  reply = accessRegister(wire::RegisterId::kPortVirtualLanes, portRegister(16), false);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply.output[16 + 0x07], 4) << "vl_hw_cap";
  processor_.setPortActive(1, false);
  reply = accessRegister(wire::RegisterId::kPortTypeSpeed, portRegister(64), false);
  EXPECT_EQ(wire::loadBigEndian<std::uint32_t>(reply.output.data() + 16 + 0x28), 0U) << "no link";
  reply = accessRegister(wire::RegisterId::kPortAdministration, portRegister(16), false);
  EXPECT_EQ(reply.output[16 + 3], 2) << "down";
}

TEST_F(PortCommandsTest, RegistersRefuse) {
  enable();
  expectRefusal(accessRegister(static_cast<wire::RegisterId>(0x1234), portRegister(64), false),
                CommandStatus::kBadParameter, Syndrome::kUnknownRegister);
  for (const std::uint8_t port : {std::uint8_t{0}, std::uint8_t{2}, std::uint8_t{255}}) {
    expectRefusal(accessRegister(wire::RegisterId::kPortMtu, portRegister(16, port), false), CommandStatus::kBadIndex,
                  Syndrome::kUnknownPort);
  }
  expectRefusal(accessRegister(wire::RegisterId::kPortMtu, portRegister(16), true), CommandStatus::kBadParameter,
                Syndrome::kRegisterReadOnly);
  expectRefusal(accessRegister(wire::RegisterId::kPortMtu, portRegister(15), false), CommandStatus::kBadInputLength,
                Syndrome::kInputTooShort);
  auto input = makeInput(CommandOpcode::kAccessRegister, 32, 1);
  wire::AccessRegisterInput::Register::set(input, 0x7004);
  expectRefusal(issue(input, 31), CommandStatus::kBadOutputLength, Syndrome::kOutputTooShort);
  input = makeInput(CommandOpcode::kAccessRegister, 32, 2);
  wire::AccessRegisterInput::Register::set(input, 0x7004);
  expectRefusal(issue(input, 32), CommandStatus::kBadParameter, Syndrome::kUnknownOperationModifier);
}

// ---- ports

TEST_F(PortCommandsTest, PortContext) {
  bringUp();
  const Reply reply = queryPort(CommandOpcode::kQueryHcaVportContext, 1, 0, 0x210);
  ASSERT_TRUE(reply.ok());
  const ByteView context = wire::HcaVportContextOutput::Context::view(reply.output);
  EXPECT_EQ(wire::HcaVportContext::Lid::get(context), 7U);
  EXPECT_EQ(wire::HcaVportContext::SmLid::get(context), 1U);
  EXPECT_EQ(wire::HcaVportContext::VportState::get(context), 4U);
  EXPECT_EQ(wire::HcaVportContext::PortPhysicalState::get(context), 5U);
  EXPECT_EQ(wire::HcaVportContext::PortGuid::get(context), identity().ports[0].guid);
  EXPECT_EQ(wire::HcaVportContext::NodeGuid::get(context), identity().nodeGuid);
  EXPECT_TRUE(queryPort(CommandOpcode::kQueryHcaVportContext, 0, 0, 0x210).ok()) << "the only port needs no number";
  EXPECT_EQ(wire::VportStateOutput::State::get(queryPort(CommandOpcode::kQueryVportState, 1, 0, 16).output), 1U);
  processor_.setPortActive(1, false);
  const Reply down = queryPort(CommandOpcode::kQueryHcaVportContext, 1, 0, 0x210);
  EXPECT_EQ(wire::HcaVportContext::VportState::get(wire::HcaVportContextOutput::Context::view(down.output)), 1U);
}

TEST_F(PortCommandsTest, GidTable) {
  bringUp();
  Reply reply = queryPort(CommandOpcode::kQueryHcaVportGid, 1, 0, 32);
  ASSERT_TRUE(reply.ok());
  EXPECT_TRUE(std::equal(reply.output.begin() + 16, reply.output.end(), identity().ports[0].gids[0].begin()));
  reply = queryPort(CommandOpcode::kQueryHcaVportGid, 1, 7, 32);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(std::count(reply.output.begin() + 16, reply.output.end(), 0), 16) << "an empty entry";
  expectRefusal(queryPort(CommandOpcode::kQueryHcaVportGid, 1, 8, 32), CommandStatus::kBadIndex,
                Syndrome::kGidIndexOutOfRange);
  expectRefusal(queryPort(CommandOpcode::kQueryHcaVportGid, 1, 0, 31), CommandStatus::kBadOutputLength,
                Syndrome::kOutputTooShort);
  reply = queryPort(CommandOpcode::kQueryHcaVportGid, 1, 0xFFFF, 16 + 8 * 16);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(wire::HcaVportGidOutput::Count::get(reply.output), 8U);
}

TEST_F(PortCommandsTest, PkeyTable) {
  bringUp();
  Reply reply = queryPort(CommandOpcode::kQueryHcaVportPkey, 1, 0, 20);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(wire::loadBigEndian<std::uint32_t>(reply.output.data() + 16), 0xFFFFU);
  reply = queryPort(CommandOpcode::kQueryHcaVportPkey, 1, 127, 20);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(wire::loadBigEndian<std::uint32_t>(reply.output.data() + 16), 0U);
  expectRefusal(queryPort(CommandOpcode::kQueryHcaVportPkey, 1, 128, 20), CommandStatus::kBadIndex,
                Syndrome::kPkeyIndexOutOfRange);
  EXPECT_TRUE(queryPort(CommandOpcode::kQueryHcaVportPkey, 1, 0xFFFF, 16 + 128 * 4).ok());
  expectRefusal(queryPort(CommandOpcode::kQueryHcaVportPkey, 1, 0xFFFF, 16 + 128 * 4 - 1),
                CommandStatus::kBadOutputLength, Syndrome::kOutputTooShort);
}

TEST_F(PortCommandsTest, PortContextCountsViolatedKeys) {
  bringUp();
  PortViolations violations;
  for (int i = 0; i < 3; ++i) violations.countPartition();
  violations.countQueueKey();
  processor_.setViolations([&](std::uint8_t port) { return port == 1 ? violations : PortViolations(); });
  const Reply reply = queryPort(CommandOpcode::kQueryHcaVportContext, 1, 0, 0x210);
  ASSERT_TRUE(reply.ok());
  const ByteView context = wire::HcaVportContextOutput::Context::view(reply.output);
  EXPECT_EQ(wire::HcaVportContext::PkeyViolations::get(context), 3U);
  EXPECT_EQ(wire::HcaVportContext::QkeyViolations::get(context), 1U);
}

TEST_F(PortCommandsTest, UnknownPorts) {
  bringUp();
  for (const CommandOpcode opcode : {CommandOpcode::kQueryHcaVportContext, CommandOpcode::kQueryHcaVportGid,
                                     CommandOpcode::kQueryHcaVportPkey, CommandOpcode::kQueryVportState}) {
    expectRefusal(queryPort(opcode, 2, 0, 0x210), CommandStatus::kBadIndex, Syndrome::kUnknownPort);
    auto other = makeInput(opcode);
    wire::HcaVportInput::OtherVport::set(other, true);
    wire::HcaVportInput::Port::set(other, 1);
    expectRefusal(issue(other, 0x210), CommandStatus::kBadIndex, Syndrome::kUnknownPort);
  }
}

// ---- two ports

class TwoPortCommandsTest : public PortCommandsTest {
 protected:
  TwoPortCommandsTest() : PortCommandsTest(twoPorts()) {}
  static AdapterIdentity twoPorts() {
    AdapterIdentity two = identity();
    PortIdentity second = two.ports[0];
    second.guid += 1;
    second.lid = Lid(8);
    second.mtu = 2048;
    second.gids[0][15] = 2;
    second.pkeys = {0x8001};
    two.ports.push_back(second);
    return two;
  }
  std::uint32_t lidOf(std::uint32_t port) {
    const Reply reply = queryPort(CommandOpcode::kQueryHcaVportContext, port, 0, 0x210);
    EXPECT_TRUE(reply.ok());
    return wire::HcaVportContext::Lid::get(wire::HcaVportContextOutput::Context::view(reply.output));
  }
};

TEST_F(TwoPortCommandsTest, EachPortAnswersForItself) {
  bringUp();
  EXPECT_EQ(lidOf(1), 7U);
  EXPECT_EQ(lidOf(2), 8U);
  const Reply gid = queryPort(CommandOpcode::kQueryHcaVportGid, 2, 0, 32);
  ASSERT_TRUE(gid.ok());
  EXPECT_EQ(gid.output[16 + 15], 2);
  const Reply pkey = queryPort(CommandOpcode::kQueryHcaVportPkey, 2, 0, 20);
  ASSERT_TRUE(pkey.ok());
  EXPECT_EQ(wire::loadBigEndian<std::uint32_t>(pkey.output.data() + 16), 0x8001U);
  const Reply mtu = accessRegister(wire::RegisterId::kPortMtu, portRegister(16, 2), false);
  ASSERT_TRUE(mtu.ok());
  EXPECT_EQ(wire::loadBigEndian<std::uint16_t>(mtu.output.data() + 16 + 0x04), 2048);
}

TEST_F(TwoPortCommandsTest, CommandsMustNameOneOfThem) {
  bringUp();
  for (const std::uint32_t port : {0U, 3U}) {
    for (const CommandOpcode opcode : {CommandOpcode::kQueryHcaVportContext, CommandOpcode::kQueryHcaVportGid,
                                       CommandOpcode::kQueryHcaVportPkey, CommandOpcode::kQueryVportState}) {
      expectRefusal(queryPort(opcode, port, 0, 0x210), CommandStatus::kBadIndex, Syndrome::kUnknownPort);
    }
    expectRefusal(accessRegister(wire::RegisterId::kPortMtu, portRegister(16, static_cast<std::uint8_t>(port)), false),
                  CommandStatus::kBadIndex, Syndrome::kUnknownPort);
  }
}

TEST_F(TwoPortCommandsTest, OneMayBeDownWhileTheOtherIsUp) {
  bringUp();
  processor_.setPortActive(2, false);
  const auto state = [this](std::uint32_t port) {
    return wire::VportStateOutput::State::get(queryPort(CommandOpcode::kQueryVportState, port, 0, 16).output);
  };
  EXPECT_EQ(state(1), 1U);
  EXPECT_EQ(state(2), 0U);
}

TEST_F(TwoPortCommandsTest, CapabilitiesCountThem) {
  enable();
  const Reply reply = issue(makeInput(CommandOpcode::kQueryHcaCapabilities, 16, 1), wire::QueryHcaCapOutput::kSize);
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(wire::HcaCapabilities::NumPorts::get(wire::QueryHcaCapOutput::General::view(reply.output)), 2U);
}

}  // namespace
}  // namespace hca::adapter::test
