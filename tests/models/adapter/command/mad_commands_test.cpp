// MAD_IFC: what the adapter's subnet management agent answers. Offsets are by hand: those that
// drivers/infiniband/hw/mlx5/mad.c of Linux reads behind the 64 bytes of a datagram's headers.
#include "tests/models/adapter/command/command_fixture.h"

namespace hca::adapter::test {
namespace {

using wire::CommandOpcode;

constexpr std::uint8_t kGet = 1, kSet = 2, kTrapRepress = 7, kGetResponse = 0x81;
constexpr std::uint8_t kSubnet = 1, kPerformance = 4, kDirected = 0x81;
constexpr std::uint16_t kNodeDescription = 0x10, kNodeInfo = 0x11, kGuidInfo = 0x14, kPortInfo = 0x15, kKeys = 0x16;
constexpr std::uint16_t kOk = 0, kBadVersion = 4, kMethod = 8, kAttribute = 0xC, kBadValue = 0x1C;

AdapterIdentity withTables(bool two) {
  AdapterIdentity identity = CommandFixture::identity();
  PortIdentity port = identity.ports.front();
  port.lmc = 2;
  port.gids.push_back({0xFE, 0x80, 0, 0, 0, 0, 0, 0, 9});
  port.pkeys.assign(34, 0x8001);
  port.pkeys[0] = 0xFFFF;
  port.pkeys[33] = 0x1234;
  identity.ports = {port};
  if (!two) return identity;
  port.guid += 1;
  port.lid = Lid(8);
  port.mtu = 2048;
  identity.ports.push_back(port);
  return identity;
}

class MadCommandsTest : public CommandFixture {
 protected:
  explicit MadCommandsTest(bool twoPorts = false) : CommandFixture(withTables(twoPorts)) { bringUp(); }

  struct Mad {
    std::uint16_t attribute = kNodeInfo;
    std::uint32_t modifier = 0;
    std::uint8_t method = kGet;
    std::uint8_t managementClass = kSubnet;
    std::uint8_t baseVersion = 1, classVersion = 1;
    std::uint8_t filling = 0;  // of the 64 bytes of data
  };
  static std::vector<std::uint8_t> inputOf(const Mad& mad, std::uint8_t port = 1, std::uint32_t operation = 3) {
    auto input = makeInput(CommandOpcode::kMadInterface, 0x110, operation);
    input[0x0B] = port;
    std::uint8_t* bytes = input.data() + 0x10;
    bytes[0] = mad.baseVersion;
    bytes[1] = mad.managementClass;
    bytes[2] = mad.classVersion;
    bytes[3] = mad.method;
    wire::storeBigEndian(bytes + 8, std::uint64_t{0x1122334455667788});  // transaction
    wire::storeBigEndian(bytes + 16, mad.attribute);
    wire::storeBigEndian(bytes + 20, mad.modifier);
    std::fill_n(bytes + 64, 64, mad.filling);
    return input;
  }
  /// The datagram that comes back.
  std::vector<std::uint8_t> answer(const Mad& mad, std::uint8_t port = 1) {
    const Reply reply = issue(inputOf(mad, port), 0x110);
    EXPECT_TRUE(reply.ok());
    return {reply.output.begin() + 0x10, reply.output.end()};
  }
  std::uint16_t statusOf(const Mad& mad, std::uint8_t port = 1) {
    const std::vector<std::uint8_t> response = answer(mad, port);
    EXPECT_EQ(response[3], kGetResponse);
    return wire::loadBigEndian<std::uint16_t>(response.data() + 4);
  }
  std::vector<std::uint8_t> dataOf(const Mad& mad, std::uint8_t port = 1) {
    const std::vector<std::uint8_t> response = answer(mad, port);
    EXPECT_EQ(wire::loadBigEndian<std::uint16_t>(response.data() + 4), kOk);
    return {response.begin() + 64, response.begin() + 128};
  }
  template <class Value>
  static Value at(const std::vector<std::uint8_t>& data, std::size_t offset) {
    return wire::loadBigEndian<Value>(data.data() + offset);
  }
};

class TwoPortMadTest : public MadCommandsTest {
 protected:
  TwoPortMadTest() : MadCommandsTest(true) {}
};

TEST_F(MadCommandsTest, NodeInfo) {
  const auto data = dataOf({kNodeInfo, 0, kGet, kSubnet, 1, 1, 0xEE});
  EXPECT_EQ(data[2], 1) << "channel adapter";
  EXPECT_EQ(data[3], 1) << "ports";
  EXPECT_EQ(at<std::uint64_t>(data, 4), identity_.systemImageGuid);
  EXPECT_EQ(at<std::uint64_t>(data, 12), identity_.nodeGuid);
  EXPECT_EQ(at<std::uint64_t>(data, 20), identity_.ports[0].guid);
  EXPECT_EQ(at<std::uint16_t>(data, 28), 128) << "partition keys";
  EXPECT_EQ(at<std::uint32_t>(data, 36), 0x010002C9U) << "port and vendor";
  EXPECT_EQ(data[63], 0) << "of the request's data nothing stays";
}

TEST_F(MadCommandsTest, HeadersOfTheRequestComeBack) {
  for (const std::uint8_t managementClass : {kSubnet, kDirected}) {
    const auto response = answer({kNodeInfo, 5, kGet, managementClass});
    EXPECT_EQ(response[1], managementClass);
    EXPECT_EQ(response[3], kGetResponse);
    EXPECT_EQ(at<std::uint64_t>(response, 8), 0x1122334455667788U);
    EXPECT_EQ(at<std::uint16_t>(response, 16), kNodeInfo);
    EXPECT_EQ(at<std::uint32_t>(response, 20), 5U);
  }
}

TEST_F(MadCommandsTest, NodeDescriptionIsTheRegisters) {
  const auto data = dataOf({kNodeDescription});
  EXPECT_EQ(std::string(data.begin(), data.begin() + 14), "hcasim adapter");
}

TEST_F(MadCommandsTest, PortInfoOfAPortThatIsUp) {
  const auto data = dataOf({kPortInfo, 1});
  EXPECT_EQ(at<std::uint64_t>(data, 8), 0xFE80'0000'0000'0000U);
  EXPECT_EQ(at<std::uint16_t>(data, 16), 7) << "lid";
  EXPECT_EQ(at<std::uint16_t>(data, 18), 1) << "sm_lid";
  EXPECT_EQ(data[31] & 0xF, identity_.ports[0].widthCode);
  EXPECT_EQ(data[32] & 0xF, 4) << "active";
  EXPECT_EQ(data[33] >> 4, 5) << "LinkUp";
  EXPECT_EQ(data[34] & 7, 2) << "lmc";
  EXPECT_EQ(data[32] >> 4, 7) << "SDR to QDR are supported";
  EXPECT_EQ(data[35], 0x47) << "QDR beside the extended speed, all enabled";
  EXPECT_EQ(data[36] >> 4, 5) << "4096 bytes";
  EXPECT_EQ(data[41] & 0xF, 5);
  EXPECT_EQ(data[37] >> 4, 3) << "VL0-3";
  EXPECT_EQ(data[50], 8) << "GIDs";
  EXPECT_EQ(data[51] & 0x1F, 18) << "subnet timeout";
  EXPECT_EQ(data[62] >> 4, 2) << "EDR";
  EXPECT_EQ(at<std::uint32_t>(data, 20) & (1U << 14), 1U << 14) << "has extended speeds";
}

TEST_F(MadCommandsTest, PortInfoOfAPortThatIsDown) {
  processor_.setPortActive(1, false);
  const auto data = dataOf({kPortInfo, 0});
  EXPECT_EQ(data[31], 0) << "no width";
  EXPECT_EQ(data[32] & 0xF, 1) << "down";
  EXPECT_EQ(data[33] >> 4, 2) << "Polling";
  EXPECT_EQ(data[35] >> 4, 0) << "no speed";
  EXPECT_EQ(data[62] >> 4, 0);
  EXPECT_EQ(data[62] & 0xF, 2) << "could be EDR";
}

TEST_F(MadCommandsTest, PortInfoCountsViolatedKeys) {
  PortViolations violations;
  for (int n = 0; n < 3; ++n) violations.countPartition();
  violations.countQueueKey();
  processor_.setViolations([&](std::uint8_t) { return violations; });
  const auto data = dataOf({kPortInfo, 1});
  EXPECT_EQ(at<std::uint16_t>(data, 46), 3);
  EXPECT_EQ(at<std::uint16_t>(data, 48), 1);
}

TEST_F(MadCommandsTest, GuidsComeInBlocksOfEight) {
  const auto data = dataOf({kGuidInfo, 0});
  EXPECT_EQ(at<std::uint64_t>(data, 0), 0x0002'C903'0001'0001U);
  EXPECT_EQ(at<std::uint64_t>(data, 8), 0x0900'0000'0000'0000U);
  EXPECT_EQ(at<std::uint64_t>(data, 56), 0U) << "an empty entry";
  EXPECT_EQ(statusOf({kGuidInfo, 1}), kBadValue);
}

TEST_F(MadCommandsTest, PartitionKeysComeInBlocksOfThirtyTwo) {
  EXPECT_EQ(at<std::uint16_t>(dataOf({kKeys, 0}), 0), 0xFFFF);
  const auto second = dataOf({kKeys, 1});
  EXPECT_EQ(at<std::uint16_t>(second, 2), 0x1234);
  EXPECT_EQ(at<std::uint16_t>(second, 4), 0) << "an empty entry";
  EXPECT_EQ(at<std::uint16_t>(dataOf({kKeys, 3}), 0), 0);
  EXPECT_EQ(statusOf({kKeys, 4}), kBadValue);
}

TEST_F(MadCommandsTest, WhatIsWrongWithADatagramIsInItsAnswer) {
  EXPECT_EQ(statusOf({0x12}), kAttribute) << "SwitchInfo";
  EXPECT_EQ(statusOf({kPortInfo, 2}), kBadValue);
  EXPECT_EQ(statusOf({kNodeInfo, 0, kTrapRepress}), kMethod);
  EXPECT_EQ(statusOf({kNodeInfo, 0, 0x55}), kMethod);
  EXPECT_EQ(statusOf({kNodeInfo, 0, kGet, kPerformance}), kBadVersion);
  EXPECT_EQ(statusOf({kNodeInfo, 0, kGet, kSubnet, 2, 1}), kBadVersion);
  EXPECT_EQ(statusOf({kNodeInfo, 0, kGet, kSubnet, 1, 2}), kBadVersion);
}

TEST_F(MadCommandsTest, NothingCanBeSet) {
  for (const std::uint16_t attribute : {kNodeDescription, kNodeInfo, kGuidInfo, kPortInfo, kKeys}) {
    const auto before = dataOf({attribute});
    EXPECT_EQ(statusOf({attribute, 0, kSet, kSubnet, 1, 1, 0xEE}), kAttribute) << attribute;
    EXPECT_EQ(dataOf({attribute}), before) << attribute;
  }
}

TEST_F(MadCommandsTest, CommandsThatAreWrongAreRefused) {
  for (const std::uint8_t port : {std::uint8_t{0}, std::uint8_t{2}, std::uint8_t{255}}) {
    expectRefusal(issue(inputOf({}, port), 0x110), CommandStatus::kBadIndex, Syndrome::kUnknownPort);
  }
  for (const std::uint32_t operation : {0U, 1U, 2U, 3U}) EXPECT_TRUE(issue(inputOf({}, 1, operation), 0x110).ok());
  expectRefusal(issue(inputOf({}, 1, 4), 0x110), CommandStatus::kBadParameter, Syndrome::kUnknownOperationModifier);
  auto cut = inputOf({});
  cut.pop_back();
  expectRefusal(issue(cut, 0x110), CommandStatus::kBadInputLength, Syndrome::kInputTooShort);
  expectRefusal(issue(inputOf({}), 0x10F), CommandStatus::kBadOutputLength, Syndrome::kOutputTooShort);
}

TEST_F(TwoPortMadTest, EachPortAnswersForItselfUnlessAnotherIsNamed) {
  EXPECT_EQ(dataOf({kNodeInfo}, 2)[3], 2) << "ports";
  EXPECT_EQ(at<std::uint64_t>(dataOf({kNodeInfo}, 2), 20), identity_.ports[1].guid);
  EXPECT_EQ(at<std::uint32_t>(dataOf({kNodeInfo}, 2), 36), 0x020002C9U);
  EXPECT_EQ(at<std::uint16_t>(dataOf({kPortInfo, 0}, 2), 16), 8);
  EXPECT_EQ(at<std::uint16_t>(dataOf({kPortInfo, 1}, 2), 16), 7);
  EXPECT_EQ(at<std::uint16_t>(dataOf({kPortInfo, 2}, 1), 16), 8);
  EXPECT_EQ(dataOf({kPortInfo, 2}, 1)[36] >> 4, 4) << "2048 bytes";
  EXPECT_EQ(statusOf({kPortInfo, 3}), kBadValue);
}

// ---- MODIFY_HCA_VPORT_CONTEXT

constexpr std::uint32_t kConnectionManagement = 1U << 16;
constexpr std::uint32_t kSubnetManager = 1U << 1;

class ModifyPortTest : public TwoPortMadTest {
 protected:
  Reply modify(std::uint32_t port, std::uint32_t value, std::uint32_t select, std::uint32_t fields = 0,
               std::uint32_t secondSelect = 0) {
    using Input = wire::HcaVportInput;
    using Context = wire::HcaVportContext;
    auto input = makeInput(CommandOpcode::kModifyHcaVportContext, Input::kModifySize);
    Input::Port::set(input, port);
    const MutableByteView context = Input::Context::mutableView(input);
    Context::FieldSelect::set(context, fields);
    Context::CapabilityMask1::set(context, value);
    Context::CapabilityMask1Select::set(context, select);
    Context::CapabilityMask2Select::set(context, secondSelect);
    return issue(input);
  }
  std::uint32_t capabilities(std::uint32_t port) {
    auto input = makeInput(CommandOpcode::kQueryHcaVportContext);
    wire::HcaVportInput::Port::set(input, port);
    const Reply reply = issue(input, 0x210);
    EXPECT_TRUE(reply.ok());
    const ByteView context = wire::HcaVportContextOutput::Context::view(reply.output);
    EXPECT_EQ(wire::HcaVportContext::CapabilityMask1Select::get(context) & (kConnectionManagement | kSubnetManager),
              kConnectionManagement | kSubnetManager)
        << "what may be set";
    return wire::HcaVportContext::CapabilityMask1::get(context);
  }
};

TEST_F(ModifyPortTest, SetsAndClearsWhatIsSelectedOfThatPort) {
  const std::uint32_t before = capabilities(1);
  EXPECT_EQ(before & kConnectionManagement, 0U);
  ASSERT_TRUE(modify(1, kConnectionManagement | kSubnetManager, kConnectionManagement).ok());
  EXPECT_EQ(capabilities(1), before | kConnectionManagement) << "the other bit was not selected";
  EXPECT_EQ(at<std::uint32_t>(dataOf({kPortInfo, 1}), 20), before | kConnectionManagement);
  EXPECT_EQ(capabilities(2), before);
  ASSERT_TRUE(modify(1, kSubnetManager, kSubnetManager).ok());
  EXPECT_EQ(capabilities(1), before | kConnectionManagement | kSubnetManager);
  ASSERT_TRUE(modify(1, 0, kConnectionManagement).ok());
  EXPECT_EQ(capabilities(1), before | kSubnetManager);
  ASSERT_TRUE(modify(1, 0, 0).ok()) << "nothing selected";
  EXPECT_EQ(capabilities(1), before | kSubnetManager);
}

TEST_F(ModifyPortTest, ResetForgetsThem) {
  const std::uint32_t before = capabilities(1);
  ASSERT_TRUE(modify(1, kSubnetManager, kSubnetManager).ok());
  processor_.reset();
  calendar_.runUntil(calendar_.now() + config_.bootTime);
  bringUp();
  EXPECT_EQ(capabilities(1), before);
}

TEST_F(ModifyPortTest, RefusesWhatItCantChange) {
  constexpr std::uint32_t kMigration = 1U << 5;
  const std::uint32_t before = capabilities(1);
  const auto expectFixed = [this](const Reply& reply) {
    expectRefusal(reply, CommandStatus::kBadParameter, Syndrome::kPortFieldNotModifiable);
  };
  expectFixed(modify(1, kMigration, kMigration));
  expectFixed(modify(1, 0, kSubnetManager | kMigration));
  for (const std::uint32_t field : {1U, 2U, 4U}) expectFixed(modify(1, kSubnetManager, kSubnetManager, field));
  expectFixed(modify(1, kSubnetManager, kSubnetManager, 0, 1));
  for (const std::uint32_t port : {0U, 3U}) {
    expectRefusal(modify(port, 0, 0), CommandStatus::kBadIndex, Syndrome::kUnknownPort);
  }
  EXPECT_EQ(capabilities(1), before);
}

}  // namespace
}  // namespace hca::adapter::test
