// Queue pairs and shared receive queues by command.
#include "tests/models/adapter/command/object_fixture.h"

namespace hca::adapter::test {
namespace {

using wire::CommandOpcode;

TEST_F(ObjectCommandsTest, QueuePair) {
  const Reply created = issue(qpInput());
  ASSERT_TRUE(created.ok());
  const QpNumber number(created.number());
  const QpAttributes& qp = qps_.table.at(number);
  EXPECT_EQ(qp.buffer.pages, (std::vector<BusAddress>{BusAddress(0xA000), BusAddress(0xB000)}));
  EXPECT_EQ(qp.logReceiveStride, 4);
  EXPECT_EQ(pds_.holders(PdNumber(pd_)), 1U);
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
