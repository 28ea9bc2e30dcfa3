// Objects: numbers, memory keys, event and completion queues, queue pairs.
#include "tests/models/adapter/command/command_fixture.h"

namespace hca::adapter::test {
namespace {

using wire::CommandOpcode;

class ObjectCommandsTest : public CommandFixture {
 protected:
  ObjectCommandsTest() {
    bringUp();
    pd_ = allocate(CommandOpcode::kAllocPd);
    uar_ = allocate(CommandOpcode::kAllocUar);
  }

  std::vector<std::uint8_t> mkeyInput(std::size_t pages) {
    auto input = makeInput(CommandOpcode::kCreateMemoryKey, 0x110 + (pages + 1) / 2 * 16);
    using Context = wire::MemoryKeyContext;
    const MutableByteView context = wire::CreateMemoryKeyInput::Context::mutableView(input);
    Context::AccessModeLow::set(context, 1);
    Context::LocalRead::set(context, true);
    Context::RemoteWrite::set(context, true);
    Context::Qp::set(context, Context::kAnyQp);
    Context::Variant::set(context, 0x77);
    Context::ProtectionDomain::set(context, pd_);
    Context::StartAddress::set(context, 0x7F00'0000'0100);
    Context::Length::set(context, pages * 4096 - 0x100);
    Context::LogPageSize::set(context, 12);
    wire::CreateMemoryKeyInput::TranslationOctwords::set(input, static_cast<std::uint32_t>((pages + 1) / 2));
    for (std::size_t n = 0; n < pages; ++n) {
      wire::CreateMemoryKeyInput::Translations::set(input, n, 0x4000'0000 + n * 0x10000 + 3);  // rights in low bits
    }
    return input;
  }
  std::vector<std::uint8_t> cqInput(std::uint32_t eq) {
    auto input = makeInput(CommandOpcode::kCreateCq, 0x118);
    const MutableByteView context = wire::CreateCqInput::Context::mutableView(input);
    wire::CompletionQueueContext::LogSize::set(context, 5);
    wire::CompletionQueueContext::UarPage::set(context, uar_);
    wire::CompletionQueueContext::EventQueue::set(context, eq);
    wire::CompletionQueueContext::PageOffset::set(context, 8);
    wire::CompletionQueueContext::DoorbellRecord::set(context, 0x5008);
    wire::CreateCqInput::Pages::set(input, 0, 0x9000);
    return input;
  }
  std::vector<std::uint8_t> qpInput() {
    auto input = makeInput(CommandOpcode::kCreateQp, 0x120);
    const MutableByteView context = wire::CreateQpInput::Context::mutableView(input);
    wire::QueuePairContext::ProtectionDomain::set(context, pd_);
    wire::QueuePairContext::UarPage::set(context, uar_);
    wire::QueuePairContext::LogSendQueueSize::set(context, 6);
    wire::QueuePairContext::LogReceiveQueueSize::set(context, 4);
    wire::QueuePairContext::SendCq::set(context, 0x80);
    wire::QueuePairContext::ReceiveCq::set(context, 0x81);
    wire::CreateQpInput::Pages::set(input, 0, 0xA000);
    wire::CreateQpInput::Pages::set(input, 1, 0xB000);
    return input;
  }

  std::uint32_t pd_ = 0;
  std::uint32_t uar_ = 0;
};

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
  expectRefusal(issue(makeNumberInput(CommandOpcode::kDeallocUar, uar_)), CommandStatus::kResourceBusy,
                Syndrome::kUarInUse);
  const Reply queried = issue(makeNumberInput(CommandOpcode::kQueryEq, number.value()), 0x118);
  ASSERT_TRUE(queried.ok());
  EXPECT_TRUE(std::equal(queried.output.begin() + 0x58, queried.output.begin() + 0x78, input.begin() + 0x58));
  EXPECT_EQ(wire::QueryEqOutput::Pages::get(queried.output, 0), eq.ring.pages[0].value());
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDestroyEq, number.value())).ok());
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDeallocUar, uar_)).ok());
}

TEST_F(ObjectCommandsTest, EventQueueRefusals) {
  expectRefusal(issue(eqInput(uar_ + 1, 0)), CommandStatus::kBadResource, Syndrome::kUnknownUar);
  auto input = eqInput(uar_, 0);
  wire::EventQueueContext::LogSize::set(wire::CreateEqInput::Context::mutableView(input), 31);
  expectRefusal(issue(input), CommandStatus::kExceedLimit, Syndrome::kEqSizeOutOfRange);
  EXPECT_EQ(uars_.holders(UarIndex(uar_)), 0U) << "a refused create holds nothing";
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
  EXPECT_EQ(uars_.holders(UarIndex(uar_)), 1U) << "a refused destroy drops nothing";
  cqs_.holders[number] = 0;
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDestroyCq, number.value())).ok());
  EXPECT_EQ(uars_.holders(UarIndex(uar_)), 0U);
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

// ---- queue pairs

TEST_F(ObjectCommandsTest, QueuePair) {
  const Reply created = issue(qpInput());
  ASSERT_TRUE(created.ok());
  const QpNumber number(created.number());
  const QpAttributes& qp = qps_.table.at(number);
  EXPECT_EQ(qp.buffer.pages, (std::vector<BusAddress>{BusAddress(0xA000), BusAddress(0xB000)}));
  EXPECT_EQ(qp.logReceiveStride, 4);
  EXPECT_EQ(pds_.holders(PdNumber(pd_)), 1U);
  EXPECT_EQ(uars_.holders(UarIndex(uar_)), 1U);
  const Reply queried = issue(makeNumberInput(CommandOpcode::kQueryQp, number.value()), 0x120);
  ASSERT_TRUE(queried.ok());
  EXPECT_EQ(wire::QueryQpOutput::Pages::get(queried.output, 1), 0xB000U);
  expectRefusal(issue(makeNumberInput(CommandOpcode::kDeallocPd, pd_)), CommandStatus::kResourceBusy,
                Syndrome::kPdInUse);
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDestroyQp, number.value())).ok());
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDeallocPd, pd_)).ok());
}

TEST_F(ObjectCommandsTest, EveryTransitionReachesTheDirectory) {
  const std::uint32_t number = issue(qpInput()).number();
  for (const CommandOpcode opcode :
       {CommandOpcode::kResetToInit, CommandOpcode::kInitToReadyToReceive, CommandOpcode::kReadyToReceiveToReadyToSend,
        CommandOpcode::kReadyToSendToReadyToSend, CommandOpcode::kSendQueueErrorToReadyToSend,
        CommandOpcode::kReadyToSendToDrain, CommandOpcode::kDrainToReadyToSend, CommandOpcode::kDrainedToReadyToSend,
        CommandOpcode::kInitToInit, CommandOpcode::kDrainToDrain}) {
    auto input = makeInput(opcode, 0x110);
    wire::ModifyQpInput::Number::set(input, number);
    wire::ModifyQpInput::OptionalMask::set(input, static_cast<std::uint32_t>(opcode) * 3);
    wire::QueuePairContext::RemoteQp::set(wire::ModifyQpInput::Context::mutableView(input), 0x1234);
    wire::ModifyQpInput::DrainedEvent::set(input, opcode == CommandOpcode::kReadyToSendToDrain);
    ASSERT_TRUE(issue(input).ok());
    EXPECT_EQ(static_cast<int>(qps_.last.transition), static_cast<int>(opcode));
    EXPECT_EQ(qps_.last.attributes.notifyWhenDrained, opcode == CommandOpcode::kReadyToSendToDrain);
    EXPECT_EQ(qps_.last.optionalMask, static_cast<std::uint32_t>(opcode) * 3);
    EXPECT_EQ(qps_.last.attributes.remoteQp, QpNumber(0x1234));
  }
  for (const CommandOpcode opcode : {CommandOpcode::kToError, CommandOpcode::kToReset}) {
    ASSERT_TRUE(issue(makeNumberInput(opcode, number)).ok());
    EXPECT_EQ(static_cast<int>(qps_.last.transition), static_cast<int>(opcode));
    expectRefusal(issue(makeNumberInput(opcode, number + 1)), CommandStatus::kBadResource, Syndrome::kUnknownQp);
  }
}

TEST_F(ObjectCommandsTest, QueuePairRefusals) {
  auto input = qpInput();
  const MutableByteView context = wire::CreateQpInput::Context::mutableView(input);
  wire::QueuePairContext::ProtectionDomain::set(context, 0);
  expectRefusal(issue(input), CommandStatus::kBadResource, Syndrome::kQpPdUnknown);
  wire::QueuePairContext::ProtectionDomain::set(context, pd_);
  wire::QueuePairContext::UarPage::set(context, 0);
  expectRefusal(issue(input), CommandStatus::kBadResource, Syndrome::kQpUarUnknown);
  wire::QueuePairContext::UarPage::set(context, uar_);
  wire::QueuePairContext::Service::set(context, 0xFE);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kQpServiceUnsupported);
  EXPECT_EQ(pds_.holders(PdNumber(pd_)), 0U) << "a refused create holds nothing";
  EXPECT_EQ(uars_.holders(UarIndex(uar_)), 0U);
  wire::QueuePairContext::LogPageSize::set(context, 31);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kQpPagesWrong);
  input = qpInput();
  wire::CreateQpInput::UmemValid::set(input, true);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kUserMemoryUnsupported);
  for (const CommandOpcode opcode : {CommandOpcode::kDestroyQp, CommandOpcode::kQueryQp}) {
    expectRefusal(issue(makeNumberInput(opcode, 0x999), 0x110), CommandStatus::kBadResource, Syndrome::kUnknownQp);
  }
}

TEST_F(ObjectCommandsTest, MulticastGroupIsNamedByItsGid) {
  auto input = makeInput(CommandOpcode::kAttachToMulticast, wire::MulticastInput::kSize);
  input[0x09] = 0x12;
  input[0x0A] = 0x34;
  input[0x0B] = 0x56;
  for (std::size_t i = 0; i < 16; ++i) input[0x10 + i] = static_cast<std::uint8_t>(0xF0 + i);
  EXPECT_TRUE(issue(input).ok());
  ASSERT_EQ(qps_.groups.size(), 1U);
  EXPECT_EQ(qps_.groups[0].first, QpNumber(0x123456));
  EXPECT_EQ(qps_.groups[0].second[0], 0xF0);
  EXPECT_EQ(qps_.groups[0].second[15], 0xFF);
  auto output = makeInput(CommandOpcode::kDetachFromMulticast, wire::MulticastInput::kSize);
  std::copy(input.begin() + 8, input.end(), output.begin() + 8);
  EXPECT_TRUE(issue(output).ok());
  EXPECT_TRUE(qps_.groups.empty());
  expectRefusal(issue(output), CommandStatus::kBadResource, Syndrome::kUnknownQp);
}

// ---- shared receive queues

// Each kind by its commands: create, query and arm look at the same queue, and no other kind's commands do.
class SharedReceiveCommandsTest : public ObjectCommandsTest {
 protected:
  std::vector<std::uint8_t> srqInput(CommandOpcode opcode) {
    using Context = wire::SharedReceiveContext;
    auto input = makeInput(opcode, 0x118);
    const MutableByteView context = wire::CreateSrqInput::Context::mutableView(input);
    Context::LogSize::set(context, 7);
    Context::LogStride::set(context, 1);
    Context::XrcDomain::set(context, domain_);
    Context::Cq::set(context, 0x81);
    Context::UserIndex::set(context, 0x99);
    Context::ProtectionDomain::set(context, pd_);
    Context::DoorbellRecord::set(context, 0x5004);
    wire::CreateSrqInput::Pages::set(input, 0, 0x9000);
    return input;
  }
  std::vector<std::uint8_t> rmpInput() {
    auto input = makeInput(CommandOpcode::kCreateRmp, 0x118);
    const MutableByteView context = wire::CreateRmpInput::Context::mutableView(input);
    wire::ReceiveMemoryPoolContext::State::set(context, 1);
    const MutableByteView queue = wire::ReceiveMemoryPoolContext::WorkQueue::mutableView(context);
    wire::WorkQueueContext::ProtectionDomain::set(queue, pd_);
    wire::WorkQueueContext::LogSize::set(queue, 7);
    wire::WorkQueueContext::LogStride::set(queue, 5);
    wire::WorkQueueContext::DoorbellRecord::set(queue, 0x5004);
    wire::CreateRmpInput::Pages::set(input, 0, 0x9000);
    return input;
  }
  std::uint32_t create(ByteView input) {
    const Reply reply = issue(input);
    EXPECT_TRUE(reply.ok());
    EXPECT_EQ(srqs_.table.at(SrqNumber(reply.number())).buffer.pages, std::vector<BusAddress>{BusAddress(0x9000)});
    EXPECT_EQ(srqs_.table.at(SrqNumber(reply.number())).doorbellRecord, BusAddress(0x5004));
    EXPECT_EQ(srqs_.table.at(SrqNumber(reply.number())).logStride, 5);
    return reply.number();
  }
  std::uint32_t domain_ = allocate(CommandOpcode::kAllocXrcd);
};

TEST_F(SharedReceiveCommandsTest, BasicAndXrc) {
  struct Kind {
    CommandOpcode create, query, arm, destroy, otherDestroy;
    SrqKind kind;
  };
  const Kind kinds[] = {
      {CommandOpcode::kCreateSrq, CommandOpcode::kQuerySrq, CommandOpcode::kArmReceiveQueue, CommandOpcode::kDestroySrq,
       CommandOpcode::kDestroyXrcSrq, SrqKind::kBasic},
      {CommandOpcode::kCreateXrcSrq, CommandOpcode::kQueryXrcSrq, CommandOpcode::kArmXrcSrq,
       CommandOpcode::kDestroyXrcSrq, CommandOpcode::kDestroyRmp, SrqKind::kXrc},
  };
  for (const Kind& kind : kinds) {
    const std::uint32_t number = create(srqInput(kind.create));
    const SrqAttributes& srq = srqs_.table.at(SrqNumber(number));
    EXPECT_EQ(srq.kind, kind.kind);
    EXPECT_EQ(srq.logSize, 7);
    EXPECT_EQ(pds_.holders(PdNumber(pd_)), 1U);
    auto arm = makeInput(kind.arm, 16, 1);
    wire::ArmSrqInput::Number::set(arm, number);
    wire::ArmSrqInput::LowWaterMark::set(arm, 33);
    EXPECT_TRUE(issue(arm).ok());
    const Reply queried = issue(makeNumberInput(kind.query, number), 0x110);
    ASSERT_TRUE(queried.ok());
    const ByteView context = wire::QuerySrqOutput::Context::view(queried.output);
    EXPECT_EQ(wire::SharedReceiveContext::LowWaterMark::get(context), 33U);
    EXPECT_EQ(wire::SharedReceiveContext::Cq::get(context), 0x81U);
    EXPECT_EQ(wire::SharedReceiveContext::UserIndex::get(context), kind.kind == SrqKind::kXrc ? 0x99U : 0U);
    wire::CommandInput::Modifier::set(arm, 3);
    expectRefusal(issue(arm), CommandStatus::kBadParameter, Syndrome::kUnknownOperationModifier);
    expectRefusal(issue(makeNumberInput(kind.otherDestroy, number)), CommandStatus::kBadResource,
                  Syndrome::kUnknownSrq);
    const Reply release = issue(makeNumberInput(CommandOpcode::kDeallocXrcd, domain_));
    EXPECT_EQ(release.ok(), kind.kind == SrqKind::kBasic) << "an XRC queue holds its domain";
    if (release.ok()) domain_ = allocate(CommandOpcode::kAllocXrcd);
    srqs_.inUse.insert(SrqNumber(number));
    expectRefusal(issue(makeNumberInput(kind.destroy, number)), CommandStatus::kResourceBusy, Syndrome::kSrqInUse);
    EXPECT_EQ(pds_.holders(PdNumber(pd_)), 1U);
    srqs_.inUse.clear();
    EXPECT_TRUE(issue(makeNumberInput(kind.destroy, number)).ok());
    EXPECT_EQ(pds_.holders(PdNumber(pd_)), 0U);
  }
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDeallocXrcd, domain_)).ok());
}

TEST_F(SharedReceiveCommandsTest, MemoryPool) {
  const std::uint32_t number = create(rmpInput());
  EXPECT_EQ(srqs_.table.at(SrqNumber(number)).kind, SrqKind::kMemoryPool);
  auto modify = makeInput(CommandOpcode::kModifyRmp, 0x110);
  wire::ModifyRmpInput::Number::set(modify, number);
  wire::ModifyRmpInput::State::set(modify, 1);
  wire::WorkQueueContext::LowWaterMark::set(
      wire::ReceiveMemoryPoolContext::WorkQueue::mutableView(wire::ModifyRmpInput::Context::mutableView(modify)), 12);
  expectRefusal(issue(modify), CommandStatus::kBadParameter, Syndrome::kUnknownFieldSelect);
  wire::ModifyRmpInput::Mask::set(modify, 1);
  EXPECT_TRUE(issue(modify).ok());
  const Reply queried = issue(makeNumberInput(CommandOpcode::kQueryRmp, number), 0x110);
  ASSERT_TRUE(queried.ok());
  const ByteView context = wire::QueryRmpOutput::Context::view(queried.output);
  EXPECT_EQ(wire::ReceiveMemoryPoolContext::State::get(context), 1U);
  const ByteView queue = wire::ReceiveMemoryPoolContext::WorkQueue::view(context);
  EXPECT_EQ(wire::WorkQueueContext::LowWaterMark::get(queue), 12U);
  EXPECT_EQ(wire::WorkQueueContext::LogSize::get(queue), 7U);
  wire::ModifyRmpInput::State::set(modify, 3);
  expectRefusal(issue(modify), CommandStatus::kBadParameter, Syndrome::kUnknownOperationModifier);
  expectRefusal(issue(makeNumberInput(CommandOpcode::kDestroySrq, number)), CommandStatus::kBadResource,
                Syndrome::kUnknownSrq);
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDestroyRmp, number)).ok());
  EXPECT_EQ(pds_.holders(PdNumber(pd_)), 0U);
}

TEST_F(SharedReceiveCommandsTest, TagMatching) {
  using Context = wire::TagMatchingQueueContext;
  auto input = makeInput(CommandOpcode::kCreateXrq, 0x158);
  const MutableByteView context = wire::CreateXrqInput::Context::mutableView(input);
  Context::Topology::set(context, Context::kTagMatching);
  Context::Offload::set(context, Context::kRendezvous);
  Context::LogListSize::set(context, 5);
  Context::Cq::set(context, 0x81);
  Context::UserIndex::set(context, 0x99);
  const MutableByteView queue = Context::WorkQueue::mutableView(context);
  wire::WorkQueueContext::ProtectionDomain::set(queue, pd_);
  wire::WorkQueueContext::LogSize::set(queue, 7);
  wire::WorkQueueContext::LogStride::set(queue, 5);
  wire::WorkQueueContext::DoorbellRecord::set(queue, 0x5004);
  wire::CreateXrqInput::Pages::set(input, 0, 0x9000);
  const std::uint32_t number = create(input);
  SrqAttributes& srq = srqs_.table.at(SrqNumber(number));
  EXPECT_EQ(srq.kind, SrqKind::kTagMatching);
  EXPECT_EQ(srq.topology, 1U);
  EXPECT_TRUE(srq.offersRendezvous);
  EXPECT_EQ(srq.logTags, 5);
  EXPECT_EQ(srq.userIndex, 0x99U);
  srq.hardwarePhase = 0x1234;
  srq.softwarePhase = 0x1233;
  srq.nextTag = 17;
  auto arm = makeInput(CommandOpcode::kArmReceiveQueue, 16, 2);
  wire::ArmSrqInput::Number::set(arm, number);
  wire::ArmSrqInput::LowWaterMark::set(arm, 33);
  EXPECT_TRUE(issue(arm).ok());
  wire::CommandInput::Modifier::set(arm, 1);
  expectRefusal(issue(arm), CommandStatus::kBadResource, Syndrome::kUnknownSrq);
  const Reply queried = issue(makeNumberInput(CommandOpcode::kQueryXrq, number), 0x150);
  ASSERT_TRUE(queried.ok());
  const ByteView answer = wire::QueryXrqOutput::Context::view(queried.output);
  EXPECT_EQ(Context::HardwarePhaseCount::get(answer), 0x1234U);
  EXPECT_EQ(Context::SoftwarePhaseCount::get(answer), 0x1233U);
  EXPECT_EQ(Context::AppendNext::get(answer), 17U);
  EXPECT_EQ(Context::Cq::get(answer), 0x81U);
  EXPECT_EQ(wire::WorkQueueContext::LowWaterMark::get(Context::WorkQueue::view(answer)), 33U);
  expectRefusal(issue(makeNumberInput(CommandOpcode::kDestroyXrcSrq, number)), CommandStatus::kBadResource,
                Syndrome::kUnknownSrq);
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDestroyXrq, number)).ok());
  EXPECT_EQ(pds_.holders(PdNumber(pd_)), 0U);
}

TEST_F(SharedReceiveCommandsTest, Refusals) {
  auto input = srqInput(CommandOpcode::kCreateXrcSrq);
  const MutableByteView context = wire::CreateSrqInput::Context::mutableView(input);
  wire::SharedReceiveContext::XrcDomain::set(context, domain_ + 1);
  expectRefusal(issue(input), CommandStatus::kBadResource, Syndrome::kSrqDomainUnknown);
  wire::SharedReceiveContext::XrcDomain::set(context, domain_);
  wire::SharedReceiveContext::ProtectionDomain::set(context, pd_ + 1);
  expectRefusal(issue(input), CommandStatus::kBadResource, Syndrome::kSrqPdUnknown);
  wire::SharedReceiveContext::LogPageSize::set(context, 20);
  expectRefusal(issue(input), CommandStatus::kBadParameter, Syndrome::kSrqPagesWrong);
  EXPECT_EQ(pds_.holders(PdNumber(pd_)), 0U) << "a refused create holds nothing";
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDeallocXrcd, domain_)).ok());
}

// As the stock driver makes it (Linux drivers/infiniband/hw/mlx5/qp.c, create_xrc_tgt_qp): no send queue, no UAR page.
TEST_F(ObjectCommandsTest, XrcTarget) {
  const std::uint32_t domain = allocate(CommandOpcode::kAllocXrcd);
  auto input = qpInput();
  const MutableByteView context = wire::CreateQpInput::Context::mutableView(input);
  wire::QueuePairContext::Service::set(context, 3);
  wire::QueuePairContext::NoSendQueue::set(context, true);
  wire::QueuePairContext::UarPage::set(context, 0);
  wire::QueuePairContext::ReceiveQueueType::set(context, 1);
  wire::QueuePairContext::XrcDomain::set(context, domain + 1);
  expectRefusal(issue(input), CommandStatus::kBadResource, Syndrome::kQpDomainUnknown);
  EXPECT_EQ(pds_.holders(PdNumber(pd_)), 0U) << "a refused create holds nothing";
  wire::QueuePairContext::XrcDomain::set(context, domain);
  const Reply created = issue(input);
  ASSERT_TRUE(created.ok());
  EXPECT_EQ(qps_.table.at(QpNumber(created.number())).domain, XrcdNumber(domain));
  const Reply queried = issue(makeNumberInput(CommandOpcode::kQueryQp, created.number()), 0x120);
  EXPECT_EQ(wire::QueuePairContext::XrcDomain::get(wire::QueryQpOutput::Context::view(queried.output)), domain);
  expectRefusal(issue(makeNumberInput(CommandOpcode::kDeallocXrcd, domain)), CommandStatus::kResourceBusy,
                Syndrome::kXrcdInUse);
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDestroyQp, created.number())).ok());
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDeallocXrcd, domain)).ok());
  // An initiator has doorbells.
  wire::QueuePairContext::NoSendQueue::set(context, false);
  wire::QueuePairContext::XrcDomain::set(context, allocate(CommandOpcode::kAllocXrcd));
  expectRefusal(issue(input), CommandStatus::kBadResource, Syndrome::kQpUarUnknown);
}

}  // namespace
}  // namespace hca::adapter::test
