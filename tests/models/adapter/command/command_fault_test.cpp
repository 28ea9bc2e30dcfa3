// Commands that go wrong on purpose.
#include "models/adapter/command/command_fault.h"

#include "tests/models/adapter/command/command_fixture.h"

namespace hca::adapter {
namespace {

using test::makeInput;
using test::Reply;
using wire::CommandOpcode;

TEST(CommandFaults, SparesTheFirstAndHitsTheNext) {
  CommandFaults faults;
  CommandFault fault;
  fault.opcode = CommandOpcode::kCreateCq;
  fault.occasions = {2, 2};
  faults.add(fault);
  EXPECT_FALSE(faults.next(CommandOpcode::kCreateCq));
  EXPECT_FALSE(faults.next(CommandOpcode::kCreateQp)) << "no concern of it";
  EXPECT_FALSE(faults.next(CommandOpcode::kCreateCq));
  EXPECT_TRUE(faults.next(CommandOpcode::kCreateCq));
  EXPECT_TRUE(faults.next(CommandOpcode::kCreateCq));
  EXPECT_FALSE(faults.next(CommandOpcode::kCreateCq));
  EXPECT_EQ(faults.pending(), 0U);
}

TEST(CommandFaults, OneCommandHasOneFaultAndCountsForAll) {
  CommandFaults faults;
  CommandFault first, second;
  first.kind = CommandFaultKind::kLate;
  second.kind = CommandFaultKind::kRefused;
  second.occasions = {1, 1};
  faults.add(first);
  faults.add(second);
  EXPECT_EQ(faults.next(CommandOpcode::kNop)->kind, CommandFaultKind::kLate);
  EXPECT_EQ(faults.next(CommandOpcode::kNop)->kind, CommandFaultKind::kRefused);
}

class CommandFaultTest : public test::CommandFixture {
 protected:
  void SetUp() override { enable(); }
  void add(CommandFaultKind kind, CommandOpcode opcode, Time delay = {}) {
    CommandFault fault;
    fault.kind = kind;
    fault.opcode = opcode;
    fault.delay = delay;
    fault.result = {CommandStatus::kBadParameter, static_cast<Syndrome>(0x1234)};
    fault.delivery = wire::DeliveryStatus::kTokenError;
    fault.happened = [this](CommandOpcode, std::uint32_t slot) { slots_.push_back(slot); };
    processor_.addFault(fault);
  }
  void post(std::uint32_t slot, CommandOpcode opcode, std::size_t output = 16) {
    memory_.store(entryAddress(slot), makeEntry(makeInput(opcode), output));
    ring(1U << slot);
  }
  std::vector<std::uint32_t> slots_;
};

TEST_F(CommandFaultTest, ASwallowedOneKeepsItsSlotUntilTheInterfaceIsDisabled) {
  add(CommandFaultKind::kSwallowed, CommandOpcode::kQueryIssi);
  post(3, CommandOpcode::kQueryIssi, 112);
  post(4, CommandOpcode::kQueryIssi, 112);
  drain();
  EXPECT_FALSE(collect(3).answered);
  EXPECT_TRUE(collect(4).ok()) << "the next one is executed";
  EXPECT_EQ(slots_, std::vector<std::uint32_t>{3});
  EXPECT_EQ(readRegister(wire::InitSegment::kCommandDoorbell), 1U << 3);
  ring(1U << 3);
  EXPECT_EQ(processor_.rejections(CommandRejection::kSlotBusy), 1U);
  writeRegister(wire::InitSegment::kCommandQueueLow, 1U << 8);
  EXPECT_EQ(readRegister(wire::InitSegment::kCommandDoorbell), 0U);
}

TEST_F(CommandFaultTest, ALateOneIsExecutedWhenItsTimeHasComeAndOthersBefore) {
  post(1, CommandOpcode::kQueryIssi, 112);
  drain();
  const Time before = calendar_.now();
  post(1, CommandOpcode::kQueryIssi, 112);
  drain();
  const Time usual = calendar_.now() - before;
  add(CommandFaultKind::kLate, CommandOpcode::kQueryIssi, milliseconds(5));
  const Time start = calendar_.now();
  post(1, CommandOpcode::kQueryIssi, 112);
  post(2, CommandOpcode::kQueryIssi, 112);
  calendar_.runUntil(start + milliseconds(5) - usual);
  EXPECT_FALSE(collect(1).answered);
  EXPECT_TRUE(collect(2).ok());
  calendar_.runUntil(start + milliseconds(5) + usual);
  EXPECT_TRUE(collect(1).ok());
  EXPECT_TRUE(processor_.idle());
}

TEST_F(CommandFaultTest, ALateOneOfBeforeADisableIsForgotten) {
  add(CommandFaultKind::kLate, CommandOpcode::kQueryIssi, milliseconds(5));
  post(1, CommandOpcode::kQueryIssi, 112);
  calendar_.runUntil(calendar_.now() + milliseconds(1));
  writeRegister(wire::InitSegment::kCommandQueueLow, 1U << 8);
  drain();
  EXPECT_FALSE(collect(1).answered);
}

TEST_F(CommandFaultTest, ARefusedOneIsAnsweredAndNotExecuted) {
  add(CommandFaultKind::kRefused, CommandOpcode::kAllocPd);
  add(CommandFaultKind::kUndelivered, CommandOpcode::kQueryIssi);
  expectRefusal(issue(makeInput(CommandOpcode::kAllocPd)), CommandStatus::kBadParameter, static_cast<Syndrome>(0x1234));
  const Reply reply = issue(makeInput(CommandOpcode::kQueryIssi), 112);
  EXPECT_TRUE(reply.answered);
  EXPECT_EQ(reply.delivery, wire::DeliveryStatus::kTokenError);
  EXPECT_EQ(slots_.size(), 2U);
  EXPECT_TRUE(issue(makeInput(CommandOpcode::kQueryIssi), 112).ok()) << "one was asked for";
}

TEST_F(CommandFaultTest, AHealthCounterThatIsStoppedMovesAgain) {
  using Map = wire::InitSegment;
  const std::uint32_t stopped = readRegister(Map::kHealthCounter);
  processor_.stopHealthCounter(true);
  calendar_.runUntil(calendar_.now() + milliseconds(100));
  EXPECT_EQ(readRegister(Map::kHealthCounter), stopped);
  processor_.stopHealthCounter(false);
  EXPECT_GE(readRegister(Map::kHealthCounter), stopped + 9);
}

TEST_F(CommandFaultTest, ARestartLeavesADisabledInterface) {
  processor_.setHealthSyndrome(8, true);
  EXPECT_EQ(readRegister(0x200 + 0x38), 0x8000'0000U);
  EXPECT_EQ(readRegister(0x200 + 0x3C), 8U << 16);
  processor_.restart();
  EXPECT_EQ(readRegister(0x200 + 0x38), 0U);
  EXPECT_EQ(readRegister(wire::InitSegment::kCommandQueueLow) >> 8 & 7, 1U);
  EXPECT_EQ(readRegister(wire::InitSegment::kInitializing) >> 31, 1U);
  calendar_.runUntil(calendar_.now() + config_.bootTime);
  setQueue();
  EXPECT_TRUE(issue(makeInput(CommandOpcode::kEnableHca), 12).ok()) << "a driver starts it again";
}

TEST_F(CommandFaultTest, AResetThatADriverAsksForClearsTheHealthBuffer) {
  EXPECT_EQ(readRegister(wire::InitSegment::kInitializing), 1U << 30) << "it can be asked for";
  processor_.setHealthSyndrome(8, true);
  writeRegister(wire::InitSegment::kCommandQueueLow, 7U << 8);
  EXPECT_EQ(readRegister(wire::InitSegment::kCommandQueueLow) >> 8 & 7, 1U);
  EXPECT_EQ(readRegister(0x200 + 0x3C), 0U);
  setQueue();
  EXPECT_TRUE(issue(makeInput(CommandOpcode::kEnableHca), 12).ok());
}

TEST_F(CommandFaultTest, NoTimesAreToldUnlessAsked) {
  EXPECT_EQ(readRegister(0xFF8), 0U);
  EXPECT_EQ(readRegister(0xFFC), 0U);
}

}  // namespace
}  // namespace hca::adapter
