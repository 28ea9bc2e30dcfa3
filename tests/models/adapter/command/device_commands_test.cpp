// Bring-up, pages, capabilities.
#include "tests/models/adapter/command/command_fixture.h"

namespace hca::adapter::test {
namespace {

using wire::CommandOpcode;
using wire::PagesKind;

class DeviceCommandsTest : public CommandFixture {
 protected:
  Reply take(std::uint32_t entries, std::size_t room) {
    auto input = makeInput(CommandOpcode::kManagePages, 16, static_cast<std::uint32_t>(wire::PagesOperation::kTake));
    wire::ManagePagesInput::Entries::set(input, entries);
    return issue(input, 16 + room * 8);
  }
  Reply queryCaps(bool current) {
    return issue(makeInput(CommandOpcode::kQueryHcaCapabilities, 16, current ? 1 : 0), wire::QueryHcaCapOutput::kSize);
  }
  Reply accessRegister(wire::RegisterId id, std::vector<std::uint8_t> data, bool isWrite) {
    auto input = makeInput(CommandOpcode::kAccessRegister, 16, isWrite ? 0 : 1);
    wire::AccessRegisterInput::Register::set(input, static_cast<std::uint32_t>(id));
    input.insert(input.end(), data.begin(), data.end());
    return issue(input, 16 + data.size());
  }
};

// The order of the stock driver on an InfiniBand port.
TEST_F(DeviceCommandsTest, BringUpInOrder) {
  setQueue();
  std::vector<std::string> names;
  probes_.command.attach([&](const observe::CommandEvent& event) {
    const CommandRecord& record = *event.record;
    EXPECT_TRUE(record.result.ok()) << record.name;
    if (names.empty() || names.back() != record.name) names.emplace_back(record.name);
  });
  enable();
  const Reply issi = issue(makeInput(CommandOpcode::kQueryIssi), wire::QueryIssiOutput::kSize);
  EXPECT_NE(wire::QueryIssiOutput::SupportedLow::get(issi.output) & 2U, 0U);
  auto setIssi = makeInput(CommandOpcode::kSetIssi);
  wire::SetIssiInput::Current::set(setIssi, 1);
  EXPECT_TRUE(issue(setIssi).ok());
  EXPECT_EQ(queryPages(PagesKind::kBoot), config_.bootPages);
  giveMissing(PagesKind::kBoot);
  EXPECT_TRUE(accessRegister(wire::RegisterId::kHostEndianness, std::vector<std::uint8_t>(16), true).ok());
  const Reply current = queryCaps(true);
  EXPECT_TRUE(queryCaps(false).ok());
  auto setCaps = makeInput(CommandOpcode::kSetHcaCapabilities, wire::SetHcaCapInput::kSize);
  std::copy(current.output.begin() + 16, current.output.end(), setCaps.begin() + 16);
  EXPECT_TRUE(issue(setCaps).ok()) << "what was read can be set";
  EXPECT_EQ(queryPages(PagesKind::kInit), config_.initPages);
  giveMissing(PagesKind::kInit);
  EXPECT_TRUE(issue(makeInput(CommandOpcode::kInitHca)).ok());
  EXPECT_TRUE(issue(makeInput(CommandOpcode::kQueryAdapter), wire::QueryAdapterOutput::kSize).ok());
  const std::uint32_t uar = allocate(CommandOpcode::kAllocUar);
  EXPECT_EQ(uar, wire::kFirstUarIndex);
  EXPECT_TRUE(issue(eqInput(uar, 1ULL << 0x0A)).ok());
  EXPECT_EQ(names, (std::vector<std::string>{"ENABLE_HCA", "QUERY_ISSI", "SET_ISSI", "QUERY_PAGES", "MANAGE_PAGES",
                                             "ACCESS_REG", "QUERY_HCA_CAP", "SET_HCA_CAP", "QUERY_PAGES",
                                             "MANAGE_PAGES", "INIT_HCA", "QUERY_ADAPTER", "ALLOC_UAR", "CREATE_EQ"}));
}

TEST_F(DeviceCommandsTest, OnlyTheOpcodesOfEachStateAreLegal) {
  setQueue();
  expectRefusal(issue(makeInput(CommandOpcode::kQueryIssi), 0x70), CommandStatus::kBadSystemState,
                Syndrome::kWrongDeviceState);
  EXPECT_TRUE(issue(makeInput(CommandOpcode::kNop)).ok());
  enable();
  expectRefusal(issue(makeInput(CommandOpcode::kEnableHca)), CommandStatus::kBadSystemState,
                Syndrome::kWrongDeviceState);
  for (const CommandOpcode opcode : {CommandOpcode::kAllocPd, CommandOpcode::kCreateCq, CommandOpcode::kTeardownHca,
                                     CommandOpcode::kQueryHcaVportContext}) {
    expectRefusal(issue(makeInput(opcode, 0x110), 0x210), CommandStatus::kBadSystemState, Syndrome::kWrongDeviceState);
  }
  giveMissing(PagesKind::kInit);
  ASSERT_TRUE(issue(makeInput(CommandOpcode::kInitHca)).ok());
  for (const CommandOpcode opcode : {CommandOpcode::kInitHca, CommandOpcode::kEnableHca, CommandOpcode::kDisableHca,
                                     CommandOpcode::kSetIssi, CommandOpcode::kSetHcaCapabilities}) {
    expectRefusal(issue(makeInput(opcode, 0x110)), CommandStatus::kBadSystemState, Syndrome::kWrongDeviceState);
  }
}

TEST_F(DeviceCommandsTest, UnknownOpcode) {
  enable();
  expectRefusal(issue(makeInput(static_cast<CommandOpcode>(0xBEEF))), CommandStatus::kBadOperation,
                Syndrome::kUnknownOpcode);
  expectRefusal(issue(makeInput(static_cast<CommandOpcode>(0))), CommandStatus::kBadOperation,
                Syndrome::kUnknownOpcode);
}

TEST_F(DeviceCommandsTest, LengthsOfEachCommandAtTheEdge) {
  enable();
  expectRefusal(issue(makeInput(CommandOpcode::kSetIssi, 15)), CommandStatus::kBadInputLength,
                Syndrome::kInputTooShort);
  expectRefusal(issue(makeInput(CommandOpcode::kQueryIssi), 0x6F), CommandStatus::kBadOutputLength,
                Syndrome::kOutputTooShort);
  EXPECT_TRUE(issue(makeInput(CommandOpcode::kQueryIssi), 0x70).ok());
}

TEST_F(DeviceCommandsTest, RefusedCommandReturnsNothingElse) {
  enable();
  const Reply reply = issue(makeInput(CommandOpcode::kInitHca), 64);
  for (std::size_t n = 8; n < reply.output.size(); ++n) EXPECT_EQ(reply.output[n], 0) << n;
}

TEST_F(DeviceCommandsTest, FunctionsOtherThanZeroAreUnknown) {
  setQueue();
  auto input = makeInput(CommandOpcode::kEnableHca);
  wire::EnableHcaInput::Function::set(input, 1);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kUnknownFunction);
  enable();
  auto query = makeInput(CommandOpcode::kQueryPages, 16, 1);
  wire::ManagePagesInput::Function::set(query, 2);
  expectRefusal(issue(query), CommandStatus::kBadParameter, Syndrome::kUnknownFunction);
}

TEST_F(DeviceCommandsTest, UnknownInterfaceRevision) {
  enable();
  auto input = makeInput(CommandOpcode::kSetIssi);
  for (const std::uint32_t revision : {2U, 31U, 32U, 0xFFFFU}) {
    wire::SetIssiInput::Current::set(input, revision);
    expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kUnknownInterfaceRevision);
  }
}

// ---- pages

TEST_F(DeviceCommandsTest, WhatIsGivenComesBackAfterTeardown) {
  bringUp();
  ASSERT_EQ(given_.size(), config_.bootPages + config_.initPages);
  EXPECT_EQ(wire::ManagePagesOutput::Entries::get(take(100, 100).output), 0U) << "in use";
  EXPECT_EQ(queryPages(PagesKind::kRegular), 0U);
  ASSERT_TRUE(issue(makeInput(CommandOpcode::kTeardownHca)).ok());
  EXPECT_EQ(queryPages(PagesKind::kRegular), 0U - static_cast<std::uint32_t>(given_.size()));
  std::vector<BusAddress> returned;
  while (true) {
    const Reply reply = take(30, 30);
    ASSERT_TRUE(reply.ok());
    const std::uint32_t count = wire::ManagePagesOutput::Entries::get(reply.output);
    if (count == 0) break;
    for (std::uint32_t n = 0; n < count; ++n) {
      returned.emplace_back(wire::ManagePagesOutput::Pages::get(reply.output, n));
    }
  }
  std::sort(returned.begin(), returned.end());
  std::sort(given_.begin(), given_.end());
  EXPECT_EQ(returned, given_);
  EXPECT_TRUE(issue(makeInput(CommandOpcode::kDisableHca)).ok());
}

TEST_F(DeviceCommandsTest, DisableWhilePagesAreHeldIsRefused) {
  enable();
  giveMissing(PagesKind::kBoot);
  expectRefusal(issue(makeInput(CommandOpcode::kDisableHca)), CommandStatus::kResourceBusy, Syndrome::kPagesHeld);
}

TEST_F(DeviceCommandsTest, InitNeedsEveryPage) {
  enable();
  giveMissing(PagesKind::kBoot);
  expectRefusal(issue(makeInput(CommandOpcode::kInitHca)), CommandStatus::kNoResources, Syndrome::kPagesMissing);
  std::vector<BusAddress> pages(config_.initPages - 1);
  for (BusAddress& page : pages) page = memory_.allocate();
  ASSERT_TRUE(givePages(pages).ok());
  expectRefusal(issue(makeInput(CommandOpcode::kInitHca)), CommandStatus::kNoResources, Syndrome::kPagesMissing);
  ASSERT_TRUE(givePages({memory_.allocate()}).ok());
  EXPECT_TRUE(issue(makeInput(CommandOpcode::kInitHca)).ok());
}

TEST_F(DeviceCommandsTest, BadPagesAreRefusedAsAWhole) {
  enable();
  const BusAddress page = memory_.allocate();
  expectRefusal(givePages({page, BusAddress(page.value() + 0x800)}), CommandStatus::kBadParameter,
                Syndrome::kPageMisaligned);
  expectRefusal(givePages({page, page}), CommandStatus::kBadParameter, Syndrome::kPageGivenTwice);
  EXPECT_EQ(processor_.device().pages.held(), 0U);
  ASSERT_TRUE(givePages({page}).ok());
  expectRefusal(givePages({page}), CommandStatus::kBadParameter, Syndrome::kPageGivenTwice);
  std::vector<BusAddress> many(config_.bootPages + config_.initPages);
  for (BusAddress& one : many) one = memory_.allocate();
  expectRefusal(givePages(many), CommandStatus::kExceedLimit, Syndrome::kTooManyPages);
  many.pop_back();
  EXPECT_TRUE(givePages(many).ok());
}

TEST_F(DeviceCommandsTest, PageListsMustFitTheirMessages) {
  enable();
  auto input = makeInput(CommandOpcode::kManagePages, 24, 1);
  wire::ManagePagesInput::Entries::set(input, 2);
  expectRefusal(issue(input), CommandStatus::kBadInputLength, Syndrome::kInputTooShort);
  wire::ManagePagesInput::Entries::set(input, 0xFFFFFFFF);
  expectRefusal(issue(input), CommandStatus::kBadInputLength, Syndrome::kInputTooShort);
  expectRefusal(take(3, 2), CommandStatus::kBadOutputLength, Syndrome::kOutputTooShort);
  expectRefusal(issue(makeInput(CommandOpcode::kManagePages, 16, 3)), CommandStatus::kBadParameter,
                Syndrome::kUnknownOperationModifier);
  expectRefusal(issue(makeInput(CommandOpcode::kQueryPages, 16, 0)), CommandStatus::kBadParameter,
                Syndrome::kUnknownOperationModifier);
  EXPECT_TRUE(issue(makeInput(CommandOpcode::kManagePages, 16, 0)).ok()) << "the driver can't give";
}

// ---- capabilities

TEST_F(DeviceCommandsTest, CapabilitiesThatTheDriversNeed) {
  enable();
  const Reply reply = queryCaps(true);
  ASSERT_TRUE(reply.ok());
  // Offsets by hand: byte of the output, from mlx5_ifc_cmd_hca_cap_bits.
  EXPECT_EQ(reply.output[16 + 0x11], 15) << "log_max_qp_sz";
  EXPECT_EQ(reply.output[16 + 0x13], 18) << "log_max_qp";
  EXPECT_EQ(reply.output[16 + 0x19], 22) << "log_max_cq_sz";
  EXPECT_EQ(reply.output[16 + 0x1B], 24) << "log_max_cq";
  EXPECT_EQ(reply.output[16 + 0x37], 1) << "num_ports";
  EXPECT_EQ(reply.output[16 + 0x34] & 0x20, 0x20) << "ib_virt";
  EXPECT_EQ(reply.output[16 + 0x3F] & 0x0F, 1) << "cqe_version";
  EXPECT_EQ(reply.output[16 + 0x4B], 12) << "log_pg_sz";
  EXPECT_EQ(reply.output[16 + 0x40] & 1, 1) << "umr_modify_entity_size_disabled";
  const ByteView caps = wire::QueryHcaCapOutput::General::view(reply.output);
  EXPECT_EQ(wire::HcaCapabilities::DeviceFrequencyKhz::get(caps), 156'250U);
  EXPECT_EQ(wire::HcaCapabilities::DeviceFrequencyMhz::get(caps), 156U);
  EXPECT_EQ(wire::HcaCapabilities::MaxNumEqs::get(caps), 256U);
}

TEST_F(DeviceCommandsTest, OtherTypesOfCapabilitiesAreUnknown) {
  enable();
  for (const std::uint32_t type : {1U, 2U, 4U, 0x7FFFU}) {
    expectRefusal(issue(makeInput(CommandOpcode::kQueryHcaCapabilities, 16, type << 1), 0x1010),
                  CommandStatus::kBadParameter, Syndrome::kUnsupportedCapabilityType);
    expectRefusal(issue(makeInput(CommandOpcode::kSetHcaCapabilities, 0x110, type << 1)), CommandStatus::kBadParameter,
                  Syndrome::kUnsupportedCapabilityType);
  }
}

TEST_F(DeviceCommandsTest, SetCapabilitiesChangesTheCurrentAndNotTheMost) {
  enable();
  auto input = makeInput(CommandOpcode::kSetHcaCapabilities, 0x110);
  const MutableByteView wanted = wire::SetHcaCapInput::General::mutableView(input);
  wire::HcaCapabilities::LogMaxQp::set(wanted, 12);
  ASSERT_TRUE(issue(input).ok());
  using Output = wire::QueryHcaCapOutput::General;
  EXPECT_EQ(wire::HcaCapabilities::LogMaxQp::get(Output::view(queryCaps(true).output)), 12U);
  EXPECT_EQ(wire::HcaCapabilities::LogMaxQp::get(Output::view(queryCaps(false).output)), 18U);
  wire::HcaCapabilities::LogMaxQp::set(wanted, 19);
  expectRefusal(issue(input), CommandStatus::kExceedLimit, Syndrome::kCapabilityOutOfRange);
  wire::HcaCapabilities::LogMaxQp::set(wanted, 18);
  wire::HcaCapabilities::LogUarPageSize::set(wanted, 4);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kCapabilityNotSettable);
}

TEST_F(DeviceCommandsTest, AtomicCapabilities) {
  enable();
  for (const std::uint32_t current : {0U, 1U}) {
    const Reply reply = issue(makeInput(CommandOpcode::kQueryHcaCapabilities, 16, 3U << 1 | current), 0x1010);
    ASSERT_TRUE(reply.ok());
    // Offsets by hand, from mlx5_ifc_atomic_caps_bits.
    EXPECT_EQ(reply.output[16 + 0x08] & 0xC0, 0x40) << "atomic_req_8B_endianness_mode";
    EXPECT_EQ(reply.output[16 + 0x09 - 1] & 0x02, 0x02) << "supported_atomic_req_8B_endianness_mode_1";
    EXPECT_EQ(wire::loadBigEndian<std::uint16_t>(reply.output.data() + 16 + 0x12), 3) << "compare-swap, fetch-add";
    EXPECT_EQ(wire::loadBigEndian<std::uint16_t>(reply.output.data() + 16 + 0x16), 8) << "of 8 bytes";
  }
}

TEST_F(DeviceCommandsTest, AtomicsStayInTheOrderOfTheHost) {
  enable();
  auto input = makeInput(CommandOpcode::kSetHcaCapabilities, 0x1010, 3U << 1);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kCapabilityNotSettable);
  input[16 + 0x08] = 0x80;
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kCapabilityNotSettable);
  input[16 + 0x08] = 0x40;
  EXPECT_TRUE(issue(input).ok());
  wire::CommandInput::begin(input, CommandOpcode::kSetHcaCapabilities, 3U << 1 | 1U);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kUnsupportedCapabilityType);
}

// ---- the rest

TEST_F(DeviceCommandsTest, DriverVersionIsKeptUntilTheReset) {
  bringUp();
  const auto versionInput = [](const std::string& text) {
    auto input = makeInput(CommandOpcode::kSetDriverVersion, 0x50);
    std::copy(text.begin(), text.end(), input.begin() + 0x10);
    return input;
  };
  const std::string longest(63, 'v');
  for (const std::string& text : {std::string("Linux,mlx5_core,6.8.0"), longest, std::string()}) {
    ASSERT_TRUE(issue(versionInput(text)).ok());
    EXPECT_EQ(processor_.device().driverVersion, text);
  }
  ASSERT_TRUE(issue(versionInput("before")).ok());
  expectRefusal(issue(versionInput(longest + "v")), CommandStatus::kBadParameter, Syndrome::kDriverVersionUnterminated);
  EXPECT_EQ(processor_.device().driverVersion, "before");
  auto cut = versionInput("cut");
  cut.pop_back();
  expectRefusal(issue(cut), CommandStatus::kBadInputLength, Syndrome::kInputTooShort);
  processor_.reset();
  EXPECT_EQ(processor_.device().driverVersion, "");
}

TEST_F(DeviceCommandsTest, AdapterAndSpecialContexts) {
  bringUp();
  const Reply adapter = issue(makeInput(CommandOpcode::kQueryAdapter), wire::QueryAdapterOutput::kSize);
  ASSERT_TRUE(adapter.ok());
  EXPECT_EQ(std::string(adapter.output.begin() + 0x100, adapter.output.begin() + 0x10D), "HCS0000000001");
  const Reply special = issue(makeInput(CommandOpcode::kQuerySpecialContexts), 0x20);
  ASSERT_TRUE(special.ok());
  EXPECT_EQ(wire::loadBigEndian<std::uint32_t>(special.output.data() + 0x14), 0x100U) << "scatter list terminator";
}

TEST_F(DeviceCommandsTest, TeardownEndsEveryObject) {
  bringUp();
  const std::uint32_t pd = allocate(CommandOpcode::kAllocPd);
  allocate(CommandOpcode::kAllocUar);
  allocate(CommandOpcode::kAllocXrcd);
  int handlerCalls = 0;
  processor_.setTeardownHandler([&] { ++handlerCalls; });
  auto input = makeInput(CommandOpcode::kTeardownHca);
  wire::TeardownHcaInput::Profile::set(input, 1);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kUnknownTeardownProfile);
  EXPECT_EQ(handlerCalls, 0);
  EXPECT_TRUE(pds_.contains(PdNumber(pd)));
  ASSERT_TRUE(issue(makeInput(CommandOpcode::kTeardownHca)).ok());
  EXPECT_EQ(handlerCalls, 1);
  EXPECT_EQ(pds_.size() + uars_.size() + processor_.device().xrcds.size(), 0U);
  ASSERT_TRUE(issue(makeInput(CommandOpcode::kInitHca)).ok()) << "it can be brought up again";
}

TEST_F(DeviceCommandsTest, ResetReturnsToPowerOn) {
  bringUp();
  allocate(CommandOpcode::kAllocPd);
  processor_.reset();
  EXPECT_EQ(processor_.device().state, DeviceState::kDisabled);
  EXPECT_EQ(processor_.device().pages.held(), 0U);
  EXPECT_EQ(pds_.size(), 0U);
  EXPECT_EQ(readRegister(0x10), 0U);
  calendar_.runUntil(calendar_.now() + config_.bootTime);
  bringUp();
}

}  // namespace
}  // namespace hca::adapter::test
