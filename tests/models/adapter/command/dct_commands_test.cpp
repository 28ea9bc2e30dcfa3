// CREATE_DCT, DRAIN_DCT, QUERY_DCT and DESTROY_DCT through the command queue.
#include "models/wire/dct_context.h"

#include "tests/models/adapter/command/command_fixture.h"

namespace hca::adapter::test {
namespace {

using wire::CommandOpcode;

class DctCommandsTest : public CommandFixture {
 protected:
  DctCommandsTest() {
    bringUp();
    pd_ = issue(makeInput(CommandOpcode::kAllocPd)).number();
  }
  Reply create(std::uint32_t pd) {
    using Dct = wire::DctContext;
    auto input = makeInput(CommandOpcode::kCreateDct, wire::CreateDctInput::kSize);
    const MutableByteView context = wire::CreateDctInput::Context::mutableView(input);
    Dct::ProtectionDomain::set(context, pd);
    Dct::Cq::set(context, 5);
    Dct::SharedReceiveQueue::set(context, 6);
    Dct::AccessKey::set(context, 0x1122334455667788);
    Dct::Mtu::set(context, 4);
    Dct::Port::set(context, 1);
    Dct::RemoteWrite::set(context, true);
    Dct::MinRnrNak::set(context, 12);
    return issue(input);
  }
  std::uint32_t pd_ = 0;
};

TEST_F(DctCommandsTest, TellsWhatItWasMadeWith) {
  const Reply made = create(pd_);
  ASSERT_TRUE(made.ok());
  const QpAttributes& target = qps_.table.at(QpNumber(made.number()));
  EXPECT_EQ(target.service, QpService::kDct);
  EXPECT_EQ(target.accessKey, 0x1122334455667788U);
  EXPECT_EQ(target.mtu, 2048U);
  EXPECT_EQ(target.receiveQueueType, RqType::kSrq);
  EXPECT_FALSE(target.hasSendQueue);
  const Reply found = issue(makeNumberInput(CommandOpcode::kQueryDct, made.number()), wire::QueryDctOutput::kSize);
  ASSERT_TRUE(found.ok());
  const ByteView context = wire::QueryDctOutput::Context::view(found.output);
  EXPECT_EQ(wire::DctContext::AccessKey::get(context), 0x1122334455667788U);
  EXPECT_EQ(wire::DctContext::Mtu::get(context), 4U);
  EXPECT_EQ(wire::DctContext::Cq::get(context), 5U);
  EXPECT_TRUE(wire::DctContext::RemoteWrite::get(context));
  EXPECT_FALSE(wire::DctContext::RemoteRead::get(context));
}

TEST_F(DctCommandsTest, HoldsItsDomainUntilItGoes) {
  const std::uint32_t number = create(pd_).number();
  expectRefusal(issue(makeNumberInput(CommandOpcode::kDeallocPd, pd_)), CommandStatus::kResourceBusy,
                Syndrome::kPdInUse);
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDrainDct, number)).ok());
  EXPECT_EQ(qps_.drained, std::vector<QpNumber>{QpNumber(number)});
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDestroyDct, number)).ok());
  EXPECT_TRUE(issue(makeNumberInput(CommandOpcode::kDeallocPd, pd_)).ok());
}

TEST_F(DctCommandsTest, RefusesWhatIsNoTarget) {
  expectRefusal(create(pd_ + 1), CommandStatus::kBadResource, Syndrome::kQpPdUnknown);
  for (const auto opcode : {CommandOpcode::kDrainDct, CommandOpcode::kDestroyDct}) {
    expectRefusal(issue(makeNumberInput(opcode, 0x777)), CommandStatus::kBadResource, Syndrome::kUnknownDct);
  }
  const std::uint32_t number = create(pd_).number();
  expectRefusal(issue(makeNumberInput(CommandOpcode::kDestroyQp, number)), CommandStatus::kBadResource,
                Syndrome::kUnknownQp);
}

}  // namespace
}  // namespace hca::adapter::test
