// What drills do, and what the driver role makes of commands, interrupts and queues that go wrong.
#include "tests/sim/drills/drill_fixture.h"

namespace hca::sim {
namespace {

using test::DrillTest;
using Lines = std::vector<std::string>;

class CommandDrills : public DrillTest {};
class InterruptDrills : public DrillTest {};

TEST_F(CommandDrills, ACommandWithoutAnAnswerIsGivenUpAfterItsTime) {
  drill(DrillKind::kCommandTimeout).opcode = "ALLOC_PD";
  config_.hosts[0].driver.command_timeout = milliseconds(10);
  ASSERT_EQ(start(), "");
  const Time asked = now();
  allocatePd();
  runFor(milliseconds(10));
  EXPECT_FALSE(ended_.is) << "counted from the doorbell, which comes later";
  settle();
  EXPECT_TRUE(ended_.is);
  EXPECT_LT(now(), asked + milliseconds(11));
  EXPECT_EQ(ended_.result.syndrome, adapter::Syndrome::kCommandTimedOut);
  EXPECT_EQ(log(), (Lines{"cmd[0]: ALLOC_PD(0x800) No done completion",
                          "ALLOC_PD(0x800) timeout. Will cause a leak of a command resource"}));
  allocatePd();
  settle();
  EXPECT_TRUE(ended_.is && ended_.result.ok()) << "in the next slot";
  const report::DrillResult result = bench_->results()[0];
  EXPECT_TRUE(result.done);
  EXPECT_EQ(result.times, 1U);
  EXPECT_EQ(result.effect, "ALLOC_PD in slot 0 is never executed nor answered");
}

TEST_F(CommandDrills, ACommandOfTheBringUpCanBeWithoutAnswerToo) {
  DrillConfig& wanted = drill(DrillKind::kCommandTimeout);
  wanted.opcode = "INIT_HCA";
  config_.hosts[0].driver.command_timeout = milliseconds(10);
  EXPECT_NE(start().find("host 0: the driver could not bring adapter 0 up: status 1"), std::string::npos);
  EXPECT_EQ(log(), Lines{"INIT_HCA(0x102) timeout. Will cause a leak of a command resource"}) << "still polled for";
}

TEST_F(CommandDrills, AnAnswerThatComesTooLateFreesTheSlot) {
  DrillConfig& wanted = drill(DrillKind::kCommandLate);
  wanted.opcode = "ALLOC_PD";
  wanted.duration = milliseconds(20);
  config_.hosts[0].driver.command_timeout = milliseconds(10);
  ASSERT_EQ(start(), "");
  allocatePd();
  runFor(milliseconds(15));
  EXPECT_TRUE(ended_.is);
  EXPECT_EQ(log().size(), 2U);
  settle();
  EXPECT_EQ(log().back(), "Command completion arrived after timeout");
  EXPECT_EQ(role().objects(driver::ObjectKind::kPd), 0U) << "nobody has it";
}

TEST_F(CommandDrills, AnAnswerWithinTheTimeIsAnAnswer) {
  DrillConfig& wanted = drill(DrillKind::kCommandLate);
  wanted.opcode = "ALLOC_PD";
  wanted.duration = milliseconds(20);
  ASSERT_EQ(start(), "");
  const Time asked = now();
  allocatePd();
  system_->run(asked + milliseconds(20));
  EXPECT_FALSE(ended_.is);
  system_->run(asked + milliseconds(21));
  EXPECT_TRUE(ended_.is && ended_.result.ok());
  EXPECT_EQ(log(), Lines{});
}

TEST_F(CommandDrills, AStatusIsSaidWithItsSyndrome) {
  DrillConfig& wanted = drill(DrillKind::kCommandStatus);
  wanted.opcode = "ALLOC_PD";
  wanted.status = adapter::CommandStatus::kBadParameter;
  wanted.syndrome = 0x1234;
  wanted.after = 1;
  ASSERT_EQ(start(), "");
  allocatePd();
  settle();
  EXPECT_TRUE(ended_.result.ok()) << "one is spared";
  allocatePd();
  settle();
  EXPECT_EQ(ended_.result.status, adapter::CommandStatus::kBadParameter);
  EXPECT_EQ(log(), Lines{"ALLOC_PD(0x800) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x1234)"});
}

TEST_F(CommandDrills, ADeliveryStatusIsAFault) {
  DrillConfig& wanted = drill(DrillKind::kCommandDelivery);
  wanted.opcode = "ALLOC_PD";
  ASSERT_EQ(start(), "");
  allocatePd();
  settle();
  EXPECT_EQ(ended_.result.status, adapter::CommandStatus::kInternalError);
  EXPECT_TRUE(bench_->result(0).done);
}

TEST_F(InterruptDrills, ALostCommandInterruptIsFoundWhenTheTimeIsUp) {
  DrillConfig& wanted = drill(DrillKind::kLostInterrupt);
  wanted.at = milliseconds(50);
  config_.hosts[0].driver.command_timeout = milliseconds(10);
  ASSERT_EQ(start(), "");
  system_->run(milliseconds(60));
  allocatePd();
  runFor(milliseconds(9));
  EXPECT_FALSE(ended_.is);
  settle();
  EXPECT_TRUE(ended_.is && ended_.result.ok());
  EXPECT_EQ(log(), (Lines{"Recovered 1 EQEs on cmd_eq", "cmd[0]: ALLOC_PD(0x800) recovered after timeout"}));
  allocatePd();
  settle();
  EXPECT_TRUE(ended_.result.ok()) << "the queue is armed again";
}

TEST_F(InterruptDrills, OneThatNothingCausedChangesNothing) {
  DrillConfig& wanted = drill(DrillKind::kExtraInterrupt);
  wanted.at = milliseconds(50);
  wanted.count = 3;
  ASSERT_EQ(start(), "");
  settle();
  EXPECT_EQ(bench_->result(0).times, 3U);
  allocatePd();
  settle();
  EXPECT_TRUE(ended_.result.ok());
  EXPECT_TRUE(types_.empty());
  EXPECT_EQ(log(), Lines{});
}

TEST_F(InterruptDrills, AnEventThatFindsItsQueueFullIsLost) {
  DrillConfig& overflow = drill(DrillKind::kEqOverflow);
  overflow.at = milliseconds(50);
  DrillConfig& flap = drill(DrillKind::kLinkFlap);
  flap.at = milliseconds(60);
  flap.duration = milliseconds(5);
  ASSERT_EQ(start(), "");
  settle();
  EXPECT_EQ(types_, std::vector<unsigned>{9}) << "going down was lost, coming up was not";
  EXPECT_EQ(subTypes_, std::vector<unsigned>{4});
  EXPECT_EQ(hca().events().healthSyndrome(), adapter::HealthSyndrome::kEqOverrun);
  EXPECT_EQ(bench_->result(0).effect, "an event of type 0x9 finds event queue 2 full and is lost");
}

TEST_F(InterruptDrills, ALinkGoesDownAsOftenAsWanted) {
  DrillConfig& flap = drill(DrillKind::kLinkFlap);
  flap.at = milliseconds(60);
  flap.duration = milliseconds(5);
  flap.count = 2;
  ASSERT_EQ(start(), "");
  settle();
  EXPECT_EQ(subTypes_, (std::vector<unsigned>{1, 4, 1, 4}));
  EXPECT_EQ(bench_->result(0).times, 2U);
  EXPECT_EQ(bench_->result(0).at, milliseconds(60));
}

TEST_F(InterruptDrills, ACompletionQueueThatIsNotThereIsSaid) {
  DrillConfig& wanted = drill(DrillKind::kCqError);
  wanted.at = milliseconds(50);
  wanted.cq = 12345;
  ASSERT_EQ(start(), "");
  std::vector<bool> told;
  bench_->setListener([&](const report::DrillResult& result) { told.push_back(result.done); });
  settle();
  EXPECT_FALSE(bench_->result(0).done);
  EXPECT_EQ(bench_->result(0).effect, "nothing happens: there is no such completion queue that works");
  EXPECT_EQ(told, std::vector<bool>{false});
}

}  // namespace
}  // namespace hca::sim
