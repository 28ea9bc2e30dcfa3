// Objects: numbers, memory keys, event and completion queues.
#include "tests/models/adapter/command/object_fixture.h"

namespace hca::adapter::test {
namespace {

using wire::CommandOpcode;

struct NumberKind {
  const char* name;
  CommandOpcode allocate;
  CommandOpcode release;
  Syndrome unknown;
};

class NumberCommandsTest : public ObjectCommandsTest, public testing::WithParamInterface<NumberKind> {};

TEST_P(NumberCommandsTest, AllocatesAndReleasesOnce) {
  const NumberKind& kind = GetParam();
  const std::uint32_t first = allocate(kind.allocate);
  const std::uint32_t second = allocate(kind.allocate);
  EXPECT_NE(first, second);
  EXPECT_TRUE(issue(makeNumberInput(kind.release, first)).ok());
  expectRefusal(issue(makeNumberInput(kind.release, first)), CommandStatus::kBadResource, kind.unknown);
  expectRefusal(issue(makeNumberInput(kind.release, 0xFFFFFF)), CommandStatus::kBadResource, kind.unknown);
  expectRefusal(issue(makeNumberInput(kind.release, 0)), CommandStatus::kBadResource, kind.unknown);
  EXPECT_TRUE(issue(makeNumberInput(kind.release, second)).ok());
}

INSTANTIATE_TEST_SUITE_P(
    All, NumberCommandsTest,
    testing::Values(NumberKind{"Pd", CommandOpcode::kAllocPd, CommandOpcode::kDeallocPd, Syndrome::kUnknownPd},
                    NumberKind{"Uar", CommandOpcode::kAllocUar, CommandOpcode::kDeallocUar, Syndrome::kUnknownUar},
                    NumberKind{"Xrcd", CommandOpcode::kAllocXrcd, CommandOpcode::kDeallocXrcd, Syndrome::kUnknownXrcd},
                    NumberKind{"TransportDomain", CommandOpcode::kAllocTransportDomain,
                               CommandOpcode::kDeallocTransportDomain, Syndrome::kUnknownTransportDomain}),
    [](const auto& kind) { return kind.param.name; });

TEST_F(ObjectCommandsTest, UarPagesRunOut) {
  for (std::uint32_t n = 1; n < kUars; ++n) allocate(CommandOpcode::kAllocUar);
  expectRefusal(issue(makeInput(CommandOpcode::kAllocUar)), CommandStatus::kNoResources, Syndrome::kUarLimit);
}

// ---- memory keys

TEST_F(ObjectCommandsTest, MemoryKeyTranslates) {
  const Reply created = issue(mkeyInput(3));
  ASSERT_TRUE(created.ok());
  AccessRequest access;
  access.key = MemoryKey(created.number() << 8 | 0x77);
  access.pd = PdNumber(pd_);
  access.address = 0x7F00'0000'1010;
  access.length = 16;
  access.access = Access::kRemoteWrite;
  std::vector<Segment> segments;
  ASSERT_EQ(mkeys_.translate(access, segments).fault, AccessFault::kNone);
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0].address, BusAddress(0x4001'0010));
  access.access = Access::kRemoteRead;
  EXPECT_EQ(mkeys_.translate(access, segments).fault, AccessFault::kDenied);
  expectRefusal(issue(makeNumberInput(CommandOpcode::kDeallocPd, pd_)), CommandStatus::kResourceBusy,
                Syndrome::kPdInUse);
  const Reply queried = issue(makeNumberInput(CommandOpcode::kQueryMemoryKey, created.number()), 0x110);
  ASSERT_TRUE(queried.ok());
  const ByteView context = wire::QueryMemoryKeyOutput::Context::view(queried.output);
  EXPECT_EQ(wire::MemoryKeyContext::Length::get(context), 3 * 4096U - 0x100);
  EXPECT_EQ(wire::MemoryKeyContext::Variant::get(context), 0x77U);
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDestroyMemoryKey, created.number())).ok());
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDeallocPd, pd_)).ok());
}

TEST_F(ObjectCommandsTest, PhysicalKeyOverTheWholeAddressSpace) {
  auto input = mkeyInput(0);
  const MutableByteView context = wire::CreateMemoryKeyInput::Context::mutableView(input);
  wire::MemoryKeyContext::AccessModeLow::set(context, 0);
  wire::MemoryKeyContext::Length64::set(context, true);
  wire::MemoryKeyContext::Length::set(context, 0);
  EXPECT_TRUE(issue(input).ok());
}

TEST_F(ObjectCommandsTest, IndirectKeyHoldsTheKeyThatItIsMadeOf) {
  auto region = mkeyInput(1);
  wire::MemoryKeyContext::LocalWrite::set(wire::CreateMemoryKeyInput::Context::mutableView(region), true);
  const std::uint32_t below = issue(region).number();
  auto input = mkeyInput(2);
  const MutableByteView context = wire::CreateMemoryKeyInput::Context::mutableView(input);
  wire::MemoryKeyContext::AccessModeLow::set(context, 2);
  wire::MemoryKeyContext::Length::set(context, 0x200);
  wire::CreateMemoryKeyInput::Translations::set(input, 0, std::uint64_t{0x200} << 32 | below << 8 | 0x77);
  wire::CreateMemoryKeyInput::Translations::set(input, 1, 0x7F00'0000'0400);
  const Reply created = issue(input);
  ASSERT_TRUE(created.ok());
  AccessRequest access;
  access.key = MemoryKey(created.number() << 8 | 0x77);
  access.pd = PdNumber(pd_);
  access.address = 0x7F00'0000'0110;
  access.length = 16;
  access.access = Access::kRemoteWrite;
  std::vector<Segment> segments;
  ASSERT_EQ(mkeys_.translate(access, segments).fault, AccessFault::kNone);
  EXPECT_EQ(segments[0].address, BusAddress(0x4000'0410));
  const auto destroy = makeNumberInput(CommandOpcode::kDestroyMemoryKey, below);
  expectRefusal(issue(destroy), CommandStatus::kResourceBusy, Syndrome::kMemoryKeyInUse);
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDestroyMemoryKey, created.number())).ok());
  EXPECT_TRUE(issue(destroy).ok());
}

TEST_F(ObjectCommandsTest, MemoryKeyRefusals) {
  auto input = mkeyInput(3);
  wire::CreateMemoryKeyInput::TranslationOctwords::set(input, 3);
  expectRefusal(issue(input), CommandStatus::kBadInputLength, Syndrome::kMemoryKeyPagesWrong);
  wire::CreateMemoryKeyInput::TranslationOctwords::set(input, 0xFFFFFFFF);
  expectRefusal(issue(input), CommandStatus::kBadInputLength, Syndrome::kMemoryKeyPagesWrong);
  wire::CreateMemoryKeyInput::TranslationOctwords::set(input, 1);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kMemoryKeyPagesWrong);
  input = mkeyInput(3);
  const MutableByteView context = wire::CreateMemoryKeyInput::Context::mutableView(input);
  wire::MemoryKeyContext::AccessModeLow::set(context, 2);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kMemoryKeyPiecesWrong);
  wire::MemoryKeyContext::AccessModeLow::set(context, 3);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kMemoryKeyModeUnsupported);
  wire::MemoryKeyContext::AccessModeLow::set(context, 1);
  wire::MemoryKeyContext::AccessModeHigh::set(context, 1);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kMemoryKeyModeUnsupported);
  wire::MemoryKeyContext::AccessModeHigh::set(context, 0);
  wire::MemoryKeyContext::ProtectionDomain::set(context, pd_ + 1);
  expectRefusal(issue(input), CommandStatus::kBadResource, Syndrome::kMemoryKeyPdUnknown);
  input = mkeyInput(1);
  wire::CreateMemoryKeyInput::UmemValid::set(input, true);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kUserMemoryUnsupported);
  for (const CommandOpcode opcode : {CommandOpcode::kDestroyMemoryKey, CommandOpcode::kQueryMemoryKey}) {
    expectRefusal(issue(makeNumberInput(opcode, 1), 0x110), CommandStatus::kBadResource, Syndrome::kUnknownMemoryKey);
  }
}

// ---- event queues

TEST_F(ObjectCommandsTest, EventQueue) {
  auto input = eqInput(uar_, 0x1234'5678'9ABC'DEF0);
  wire::CreateEqInput::EventMask::set(input, 3, 0x8000'0000'0000'0001);
  const Reply created = issue(input);
  ASSERT_TRUE(created.ok());
  const EqNumber number(wire::EqCommand::Number::get(created.output));
  const EqAttributes& eq = eqs_.table.at(number);
  EXPECT_EQ(eq.logSize, 6);
  EXPECT_EQ(eq.vector, InterruptVector(2));
  EXPECT_EQ(eq.uar, UarIndex(uar_));
  EXPECT_EQ(eq.ring.pages.size(), 1U);
  EXPECT_EQ(eq.eventBitmap[0], 0x1234'5678'9ABC'DEF0U);
  EXPECT_EQ(eq.eventBitmap[3], 0x8000'0000'0000'0001U);
  const Reply queried = issue(makeNumberInput(CommandOpcode::kQueryEq, number.value()), 0x118);
  ASSERT_TRUE(queried.ok());
  EXPECT_TRUE(std::equal(queried.output.begin() + 0x58, queried.output.begin() + 0x78, input.begin() + 0x58));
  EXPECT_EQ(wire::QueryEqOutput::Pages::get(queried.output, 0), eq.ring.pages[0].value());
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDestroyEq, number.value())).ok());
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDeallocUar, uar_)).ok());
}

// What becomes of programs that close their device before they destroy their queues: perftest does.
TEST_F(ObjectCommandsTest, APageOfDoorbellsGoesBeforeItsQueues) {
  const Reply created = issue(eqInput(uar_, 0));
  ASSERT_TRUE(created.ok());
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDeallocUar, uar_)).ok());
  const std::uint32_t number = wire::EqCommand::Number::get(created.output);
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDestroyEq, number)).ok());
  expectRefusal(issue(makeNumberInput(CommandOpcode::kDeallocUar, uar_)), CommandStatus::kBadResource,
                Syndrome::kUnknownUar);
}

TEST_F(ObjectCommandsTest, EventQueueRefusals) {
  expectRefusal(issue(eqInput(uar_ + 1, 0)), CommandStatus::kBadResource, Syndrome::kUnknownUar);
  auto input = eqInput(uar_, 0);
  wire::EventQueueContext::LogSize::set(wire::CreateEqInput::Context::mutableView(input), 31);
  expectRefusal(issue(input), CommandStatus::kExceedLimit, Syndrome::kEqSizeOutOfRange);
  input = eqInput(uar_, 0);
  wire::EventQueueContext::LogPageSize::set(wire::CreateEqInput::Context::mutableView(input), 20);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kEqPagesWrong);
  for (const CommandOpcode opcode : {CommandOpcode::kDestroyEq, CommandOpcode::kQueryEq}) {
    expectRefusal(issue(makeNumberInput(opcode, 200), 0x110), CommandStatus::kBadResource, Syndrome::kUnknownEq);
  }
}

// ---- completion queues

TEST_F(ObjectCommandsTest, CompletionQueue) {
  const Reply created = issue(cqInput(3));
  ASSERT_TRUE(created.ok());
  const CqNumber number(created.number());
  const CqAttributes& cq = cqs_.table.at(number);
  EXPECT_EQ(cq.logSize, 5);
  EXPECT_EQ(cq.eq, EqNumber(3));
  EXPECT_EQ(cq.ring.offset, 512U) << "8/64 of a page";
  EXPECT_EQ(cq.ring.pages, (std::vector<BusAddress>{BusAddress(0x9000)}));
  EXPECT_EQ(cq.doorbellRecord, BusAddress(0x5008));
  auto modify = makeInput(CommandOpcode::kModifyCq, 0x110);
  wire::ModifyCqInput::Number::set(modify, number.value());
  wire::ModifyCqInput::Select::set(modify, wire::ModifyCqInput::kSelectCount);
  const MutableByteView context = wire::ModifyCqInput::Context::mutableView(modify);
  wire::CompletionQueueContext::MaxCount::set(context, 16);
  wire::CompletionQueueContext::Period::set(context, 100);
  ASSERT_TRUE(issue(modify).ok());
  EXPECT_EQ(cq.moderationCount, 16);
  EXPECT_EQ(cq.moderationPeriod, 0) << "not selected";
  const Reply queried = issue(makeNumberInput(CommandOpcode::kQueryCq, number.value()), 0x110);
  ASSERT_TRUE(queried.ok());
  EXPECT_EQ(wire::CompletionQueueContext::MaxCount::get(wire::QueryCqOutput::Context::view(queried.output)), 16U);
  cqs_.holders[number] = 1;
  expectRefusal(issue(makeNumberInput(CommandOpcode::kDestroyCq, number.value())), CommandStatus::kResourceBusy,
                Syndrome::kCqInUse);
  cqs_.holders[number] = 0;
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDestroyCq, number.value())).ok());
}

TEST_F(ObjectCommandsTest, ResizeOfACompletionQueue) {
  const CqNumber number(issue(cqInput(3)).number());
  auto resize = makeInput(CommandOpcode::kModifyCq, 0x118, 1);
  wire::ModifyCqInput::Number::set(resize, number.value());
  wire::ModifyCqInput::Select::set(resize, 7);
  wire::ModifyCqInput::Pages::set(resize, 0, 0xB000);
  const MutableByteView context = wire::ModifyCqInput::Context::mutableView(resize);
  wire::CompletionQueueContext::LogSize::set(context, 3);
  wire::CompletionQueueContext::EventQueue::set(context, 9);
  ASSERT_TRUE(issue(resize).ok());
  EXPECT_EQ(cqs_.refreshed, std::vector<CqNumber>{number}) << "the consumer index is read first";
  const CqAttributes& cq = cqs_.table.at(number);
  EXPECT_EQ(cq.logSize, 3);
  EXPECT_EQ(cq.ring.pages, (std::vector<BusAddress>{BusAddress(0xB000)}));
  EXPECT_EQ(cq.ring.offset, 0U);
  EXPECT_EQ(cq.eq, EqNumber(3)) << "a resize changes the ring alone";
  wire::ModifyCqInput::Select::set(resize, 3);
  expectRefusal(issue(resize), CommandStatus::kBadParameter, Syndrome::kUnknownFieldSelect);
  wire::ModifyCqInput::Select::set(resize, 7);
  wire::ModifyCqInput::UmemValid::set(resize, true);
  expectRefusal(issue(resize), CommandStatus::kBadParameter, Syndrome::kUserMemoryUnsupported);
}

TEST_F(ObjectCommandsTest, CompletionQueueRefusals) {
  auto input = cqInput(3);
  wire::CompletionQueueContext::UarPage::set(wire::CreateCqInput::Context::mutableView(input), 1);
  expectRefusal(issue(input), CommandStatus::kBadResource, Syndrome::kCqUarUnknown);
  input = cqInput(3);
  wire::CreateCqInput::UmemValid::set(input, true);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kUserMemoryUnsupported);
  input = cqInput(3);
  wire::CompletionQueueContext::LogPageSize::set(wire::CreateCqInput::Context::mutableView(input), 20);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kCqPagesWrong);
  wire::CompletionQueueContext::LogPageSize::set(wire::CreateCqInput::Context::mutableView(input), 19);
  EXPECT_TRUE(issue(input).ok());
  auto modify = makeInput(CommandOpcode::kModifyCq, 0x110, 2);
  expectRefusal(issue(modify), CommandStatus::kBadParameter, Syndrome::kUnknownOperationModifier);
  modify = makeInput(CommandOpcode::kModifyCq, 0x110);
  wire::ModifyCqInput::Select::set(modify, 8);
  expectRefusal(issue(modify), CommandStatus::kBadParameter, Syndrome::kUnknownFieldSelect);
  wire::ModifyCqInput::Select::set(modify, 1);
  expectRefusal(issue(modify), CommandStatus::kBadResource, Syndrome::kUnknownCq);
  for (const CommandOpcode opcode : {CommandOpcode::kDestroyCq, CommandOpcode::kQueryCq}) {
    expectRefusal(issue(makeNumberInput(opcode, 0x999), 0x110), CommandStatus::kBadResource, Syndrome::kUnknownCq);
  }
}

}  // namespace
}  // namespace hca::adapter::test
