// Every field of every command, one at a time, against the public positions.
#include <gtest/gtest.h>

#include "models/wire/device_commands.h"
#include "models/wire/port_commands.h"
#include "models/wire/queue_commands.h"
#include "tests/models/wire/field_case.h"

namespace hca::wire {
namespace {

// Bit offsets and widths: Linux include/linux/mlx5/mlx5_ifc.h.
const FieldCase kCommandFields[] = {
    field<CommandInput::Opcode>("CommandInput::Opcode", 0x0, 16),
    field<CommandInput::Uid>("CommandInput::Uid", 0x10, 16),
    field<CommandInput::Modifier>("CommandInput::Modifier", 0x30, 16),
    field<CommandOutput::Status>("CommandOutput::Status", 0x0, 8),
    field<CommandOutput::Syndrome>("CommandOutput::Syndrome", 0x20, 32),
    field<EnableHcaInput::Function>("EnableHcaInput::Function", 0x50, 16),
    field<QueryIssiOutput::Current>("QueryIssiOutput::Current", 0x50, 16),
    field<QueryIssiOutput::SupportedLow>("QueryIssiOutput::SupportedLow", 0x360, 32),
    field<SetIssiInput::Current>("SetIssiInput::Current", 0x50, 16),
    field<QueryPagesOutput::Function>("QueryPagesOutput::Function", 0x50, 16),
    field<QueryPagesOutput::Pages>("QueryPagesOutput::Pages", 0x60, 32),
    field<ManagePagesInput::Function>("ManagePagesInput::Function", 0x50, 16),
    field<ManagePagesInput::Entries>("ManagePagesInput::Entries", 0x60, 32),
    field<ManagePagesOutput::Entries>("ManagePagesOutput::Entries", 0x40, 32),
    field<TeardownHcaInput::Profile>("TeardownHcaInput::Profile", 0x50, 16),
    field<TeardownHcaOutput::ForcedFailed>("TeardownHcaOutput::ForcedFailed", 0x7F, 1),
    field<QuerySpecialContextsOutput::DumpFillKey>("QuerySpecialContextsOutput::DumpFillKey", 0x40, 32),
    field<QuerySpecialContextsOutput::ReservedLkey>("QuerySpecialContextsOutput::ReservedLkey", 0x60, 32),
    field<QuerySpecialContextsOutput::NullKey>("QuerySpecialContextsOutput::NullKey", 0x80, 32),
    field<AccessRegisterInput::Register>("AccessRegisterInput::Register", 0x50, 16),
    field<AccessRegisterInput::Argument>("AccessRegisterInput::Argument", 0x60, 32),
    field<DeviceMemoryCapabilities::Supported>("DeviceMemoryCapabilities::Supported", 0x0, 1),
    field<DeviceMemoryCapabilities::LogMinAllocation>("DeviceMemoryCapabilities::LogMinAllocation", 0x2B, 5),
    field<DeviceMemoryCapabilities::LogMaxAlignment>("DeviceMemoryCapabilities::LogMaxAlignment", 0x38, 8),
    field<DeviceMemoryCapabilities::BarStart>("DeviceMemoryCapabilities::BarStart", 0x40, 64),
    field<DeviceMemoryCapabilities::BarSize>("DeviceMemoryCapabilities::BarSize", 0x80, 32),
    field<DeviceMemoryCapabilities::MaxAllocation>("DeviceMemoryCapabilities::MaxAllocation", 0xA0, 32),
    field<AllocDeviceMemoryInput::LogAlignment>("AllocDeviceMemoryInput::LogAlignment", 0x78, 8),
    field<AllocDeviceMemoryInput::RangeStart>("AllocDeviceMemoryInput::RangeStart", 0x80, 64),
    field<AllocDeviceMemoryInput::RangeSize>("AllocDeviceMemoryInput::RangeSize", 0xC0, 32),
    field<AllocDeviceMemoryInput::Size>("AllocDeviceMemoryInput::Size", 0xE0, 32),
    field<AllocDeviceMemoryOutput::Start>("AllocDeviceMemoryOutput::Start", 0x40, 64),
    field<DeallocDeviceMemoryInput::Start>("DeallocDeviceMemoryInput::Start", 0x80, 64),
    field<DeallocDeviceMemoryInput::Size>("DeallocDeviceMemoryInput::Size", 0xC0, 32),
    field<ObjectCommand::Number>("ObjectCommand::Number", 0x48, 24),
    field<EqCommand::Number>("EqCommand::Number", 0x58, 8),
    field<GenerateEventInput::Number>("GenerateEventInput::Number", 0x58, 8),
    field<CreateCqInput::UmemOffset>("CreateCqInput::UmemOffset", 0x280, 64),
    field<CreateCqInput::UmemId>("CreateCqInput::UmemId", 0x2C0, 32),
    field<CreateCqInput::UmemValid>("CreateCqInput::UmemValid", 0x2E0, 1),
    field<ModifyCqInput::Number>("ModifyCqInput::Number", 0x48, 24),
    field<ModifyCqInput::Select>("ModifyCqInput::Select", 0x60, 32),
    field<ModifyCqInput::UmemId>("ModifyCqInput::UmemId", 0x2C0, 32),
    field<ModifyCqInput::UmemValid>("ModifyCqInput::UmemValid", 0x2E0, 1),
    field<CreateQpInput::OptionalMask>("CreateQpInput::OptionalMask", 0x80, 32),
    field<CreateQpInput::UmemId>("CreateQpInput::UmemId", 0x840, 32),
    field<CreateQpInput::UmemValid>("CreateQpInput::UmemValid", 0x860, 1),
    field<ModifyQpInput::DrainedEvent>("ModifyQpInput::DrainedEvent", 0x40, 1),
    field<ModifyQpInput::Number>("ModifyQpInput::Number", 0x48, 24),
    field<ModifyQpInput::OptionalMask>("ModifyQpInput::OptionalMask", 0x80, 32),
    field<QueryQpOutput::OptionalMask>("QueryQpOutput::OptionalMask", 0x80, 32),
    field<ArmSrqInput::Number>("ArmSrqInput::Number", 0x48, 24),
    field<ArmSrqInput::LowWaterMark>("ArmSrqInput::LowWaterMark", 0x70, 16),
    field<ModifyRmpInput::State>("ModifyRmpInput::State", 0x40, 4),
    field<ModifyRmpInput::Number>("ModifyRmpInput::Number", 0x48, 24),
    field<ModifyRmpInput::Mask>("ModifyRmpInput::Mask", 0x80, 64),
    field<CreateMemoryKeyInput::PageAccess>("CreateMemoryKeyInput::PageAccess", 0x60, 1),
    field<CreateMemoryKeyInput::UmemValid>("CreateMemoryKeyInput::UmemValid", 0x61, 1),
    field<CreateMemoryKeyInput::TranslationOctwords>("CreateMemoryKeyInput::TranslationOctwords", 0x300, 32),
    field<HcaVportInput::OtherVport>("HcaVportInput::OtherVport", 0x40, 1),
    field<HcaVportInput::Port>("HcaVportInput::Port", 0x4C, 4),
    field<HcaVportInput::Vport>("HcaVportInput::Vport", 0x50, 16),
    field<HcaVportInput::Index>("HcaVportInput::Index", 0x70, 16),
    field<HcaVportGidOutput::Count>("HcaVportGidOutput::Count", 0x60, 16),
    field<VportStateOutput::AdminState>("VportStateOutput::AdminState", 0x78, 4),
    field<VportStateOutput::State>("VportStateOutput::State", 0x7C, 4),
    field<MadInput::RemoteLid>("MadInput::RemoteLid", 0x40, 16),
    field<MadInput::Port>("MadInput::Port", 0x58, 8),
    field<QueryAdapterOutput::IeeeVendorId>("QueryAdapterOutput::IeeeVendorId", 0x148, 24),
    field<QueryAdapterOutput::VsdVendorId>("QueryAdapterOutput::VsdVendorId", 0x170, 16),
};

TEST(CommandLayout, FieldsLieWhereThePublicHeadersPutThem) {
  for (const FieldCase& field : kCommandFields) expectField(field);
}

TEST(CommandLayoutSizes, AreThePublicOnes) {
  EXPECT_EQ(CreateCqInput::kSize, 272U);
  EXPECT_EQ(CreateEqInput::kSize, 272U);
  EXPECT_EQ(CreateQpInput::kSize, 272U);
  EXPECT_EQ(ModifyQpInput::kSize, 272U);
  EXPECT_EQ(CreateMemoryKeyInput::kSize, 272U);
  EXPECT_EQ(QueryHcaCapOutput::kSize, 4112U);
  EXPECT_EQ(QueryIssiOutput::kSize, 112U);
  EXPECT_EQ(QueryAdapterOutput::kSize, 272U);
  EXPECT_EQ(HcaVportContextOutput::kSize, 528U);
  EXPECT_EQ(CreateCqInput::Context::kByteOffset, 0x10U);
  EXPECT_EQ(CreateQpInput::Context::kByteOffset, 0x18U);
  EXPECT_EQ(CreateRmpInput::Context::kByteOffset, 0x20U);
  EXPECT_EQ(CreateEqInput::EventMask::kByteOffset, 0x58U);
  EXPECT_EQ(CreateMemoryKeyInput::Translations::kByteOffset, 0x110U);
  EXPECT_EQ(ManagePagesInput::Pages::kByteOffset, 0x10U);
}

TEST(CommandInputHeader, BeginsWithOpcodeAndModifier) {
  std::vector<std::uint8_t> input(16, 0);
  CommandInput::begin(input, CommandOpcode::kModifyCq, static_cast<std::uint32_t>(ModifyCqOperation::kResize));
  const std::vector<std::uint8_t> expected = {0x04, 0x03, 0, 0, 0, 0, 0x00, 0x01, 0, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(input, expected);
  EXPECT_EQ(CommandInput::opcode(input), CommandOpcode::kModifyCq);
}

TEST(CapabilityModifierBits, TypeIsAboveTheCurrentBit) {
  // The driver's (type << 1) | current, for the current atomic capabilities.
  EXPECT_EQ(CapabilityModifier::Type::make(CapabilityType::kAtomic) | CapabilityModifier::Current::make(true), 7U);
}

TEST(PageLists, HoldWholeWordsBehindTheFixedPart) {
  std::vector<std::uint8_t> input(CreateCqInput::kSize + 2 * 8 + 7, 0);
  EXPECT_EQ(CreateCqInput::Pages::count(input), 2U);
  CreateCqInput::Pages::set(input, 1, 0x0123456789ABC000);
  EXPECT_EQ(CreateCqInput::Pages::get(input, 0), 0U);
  EXPECT_EQ(CreateCqInput::Pages::get(input, 1), 0x0123456789ABC000U);
  EXPECT_EQ(input[CreateCqInput::kSize + 8], 0x01);
  EXPECT_EQ(input[CreateCqInput::kSize + 14], 0xC0);
  input.resize(CreateCqInput::kSize - 1);
  EXPECT_EQ(CreateCqInput::Pages::count(input), 0U);
}

}  // namespace
}  // namespace hca::wire
