#include "tests/models/adapter/command/command_fixture.h"

namespace hca::adapter::test {
namespace {

using wire::CommandOpcode;
using wire::DeliveryStatus;

class CommandQueueTest : public CommandFixture {
 protected:
  CommandQueueTest() { enable(); }

  /// Breaks an entry or its mailboxes and expects the delivery status, the count, and no execution.
  void expectDelivery(const wire::CommandEntry& entry, DeliveryStatus delivery, CommandRejection kind) {
    const std::uint64_t executed = processor_.executed();
    const std::uint64_t before = processor_.rejections(kind);
    const Reply reply = issue(entry);
    EXPECT_TRUE(reply.answered);
    EXPECT_EQ(static_cast<int>(reply.delivery), static_cast<int>(delivery)) << wire::name(reply.delivery);
    EXPECT_EQ(processor_.rejections(kind), before + 1);
    EXPECT_EQ(processor_.executed(), executed);
  }
  wire::CommandEntry goodEntry(std::size_t inputLength = 1200, std::size_t outputLength = 1200) {
    return makeEntry(makeInput(CommandOpcode::kNop, inputLength), outputLength);
  }
  template <class Change>
  void changeBlock(std::uint64_t address, Change change) {
    auto block = memory_.load<wire::MailboxBlock>(BusAddress(address));
    change(block);
    memory_.store(BusAddress(address), block);
  }
};

TEST_F(CommandQueueTest, AnswersAtItsTimeAndNotBefore) {
  memory_.store(entryAddress(0), makeEntry(makeInput(CommandOpcode::kNop), 16));
  const Time rung = calendar_.now();
  ring(1);
  const Time visible = rung + FakeDma::kLatency * 2 + config_.queryLatency;
  calendar_.runUntil(visible - picoseconds(1));
  EXPECT_FALSE(collect(0).answered);
  calendar_.runUntil(visible);
  EXPECT_TRUE(collect(0).ok());
}

TEST_F(CommandQueueTest, PageListsTakeTimeByTheirLength) {
  std::vector<BusAddress> pages(74);
  for (BusAddress& page : pages) page = memory_.allocate();
  const Time rung = calendar_.now();
  ASSERT_TRUE(givePages(pages).ok());
  constexpr int kBlocks = 2;  // 16 + 74 * 8 bytes
  EXPECT_EQ(calendar_.now(),
            rung + FakeDma::kLatency * (2 + kBlocks) + config_.objectLatency + config_.pageLatency * 74);
}

TEST_F(CommandQueueTest, MailboxesBeforeInlineOutputBeforeOwnerBit) {
  dma_.recordWrites = true;
  const auto entry = makeEntry(makeInput(CommandOpcode::kQueryIssi), 0x70);
  ASSERT_TRUE(issue(entry, 5).ok());
  ASSERT_EQ(dma_.written.size(), 3U);
  EXPECT_EQ(dma_.written[0].address, BusAddress(entry.outputMailbox.host()));
  EXPECT_EQ(dma_.written[1].address, advance(entryAddress(5), 0x20));
  EXPECT_EQ(dma_.written[1].length, 16U);
  EXPECT_EQ(dma_.written[2].address, advance(entryAddress(5), 0x3C));
  EXPECT_EQ(dma_.written[2].length, 4U) << "the owner bit is in the last write, and last in it";
}

TEST_F(CommandQueueTest, SlotsRunInTheOrderOfTheirDoorbells) {
  std::vector<std::uint32_t> order;
  probes_.command.attach([&](const observe::CommandEvent& event) { order.push_back(event.record->slot.value()); });
  for (const std::uint32_t slot : {0U, 1U, 7U, 31U}) {
    memory_.store(entryAddress(slot), makeEntry(makeInput(CommandOpcode::kNop), 16));
  }
  ring(1U << 7);
  ring(1U << 31 | 1U << 1);
  ring(1);
  drain();
  EXPECT_EQ(order, (std::vector<std::uint32_t>{7, 1, 31, 0}));
  for (const std::uint32_t slot : {0U, 1U, 7U, 31U}) EXPECT_TRUE(collect(slot).ok());
}

TEST_F(CommandQueueTest, SecondDoorbellOfASlotUnderWayIsCounted) {
  memory_.store(entryAddress(0), makeEntry(makeInput(CommandOpcode::kNop), 16));
  ring(1);
  ring(1);
  drain();
  EXPECT_EQ(processor_.rejections(CommandRejection::kSlotBusy), 1U);
  EXPECT_EQ(processor_.executed(), 2U) << "ENABLE_HCA and one NOP";
}

TEST_F(CommandQueueTest, EntryThatSoftwareOwnsIsLeftAlone) {
  auto entry = makeEntry(makeInput(CommandOpcode::kNop), 16);
  entry.statusOwner = 0;
  memory_.store(entryAddress(0), entry);
  dma_.recordWrites = true;
  ring(1);
  drain();
  EXPECT_TRUE(dma_.written.empty());
  EXPECT_TRUE(processor_.idle());
  EXPECT_EQ(processor_.rejections(CommandRejection::kEntryNotOwned), 1U);
}

TEST_F(CommandQueueTest, UnreadableQueueIsCountedAndTheNextSlotServed) {
  writeRegister(wire::InitSegment::kCommandQueueLow, 0xDEAD0000);
  ring(0b11);
  drain();
  EXPECT_EQ(processor_.rejections(CommandRejection::kEntryUnreadable), 2U);
  EXPECT_TRUE(processor_.idle());
  setQueue();
  EXPECT_TRUE(issue(makeInput(CommandOpcode::kNop)).ok());
}

TEST_F(CommandQueueTest, ManyBlocksBothWays) { EXPECT_TRUE(issue(goodEntry(5000, 7000)).ok()); }

TEST_F(CommandQueueTest, ChainMayBeLongerThanTheMessage) {
  auto entry = goodEntry(1200, 1200);
  entry.inputLength = wire::Be32(600);
  entry.outputLength = wire::Be32(100);
  EXPECT_TRUE(issue(entry).ok());
}

TEST_F(CommandQueueTest, BlockCountAtTheEdge) {
  // 16 + 512 bytes need one block: a broken second one is never looked at. One byte more needs it.
  auto entry = goodEntry(1200, 16);
  const auto first = memory_.load<wire::MailboxBlock>(BusAddress(entry.inputMailbox.host()));
  changeBlock(first.next.host(), [](wire::MailboxBlock& block) { block.token ^= 1; });
  entry.inputLength = wire::Be32(16 + 512);
  EXPECT_TRUE(issue(entry).ok());
  entry.inputLength = wire::Be32(16 + 513);
  expectDelivery(entry, DeliveryStatus::kTokenError, CommandRejection::kToken);
}

TEST_F(CommandQueueTest, MalformedEntries) {
  auto entry = goodEntry();
  entry.type = 6;
  expectDelivery(entry, DeliveryStatus::kBadDescriptorType, CommandRejection::kDescriptorType);
  entry = goodEntry();
  entry.reserved0[1] = 1;
  expectDelivery(entry, DeliveryStatus::kReservedFieldNotClear, CommandRejection::kReservedField);
  entry = goodEntry();
  entry.reserved1 = 1;
  expectDelivery(entry, DeliveryStatus::kReservedFieldNotClear, CommandRejection::kReservedField);
}

TEST_F(CommandQueueTest, LengthsAtTheEdge) {
  auto entry = goodEntry(16, 16);
  entry.inputLength = wire::Be32(7);
  expectDelivery(entry, DeliveryStatus::kInputLengthError, CommandRejection::kInputLength);
  entry.inputLength = wire::Be32(8);
  EXPECT_TRUE(issue(entry).ok());
  entry.outputLength = wire::Be32(7);
  expectDelivery(entry, DeliveryStatus::kOutputLengthError, CommandRejection::kOutputLength);
  entry.outputLength = wire::Be32(8);
  EXPECT_TRUE(issue(entry).ok());
  const auto most = static_cast<std::uint32_t>(config_.maxMessage.count());
  entry.inputLength = wire::Be32(most + 1);
  expectDelivery(entry, DeliveryStatus::kInputLengthError, CommandRejection::kInputLength);
  entry.inputLength = wire::Be32(most);
  expectDelivery(entry, DeliveryStatus::kInputPointerAlignment, CommandRejection::kInputPointer);
  entry.inputLength = wire::Be32(16);
  entry.outputLength = wire::Be32(0xFFFFFFFF);
  expectDelivery(entry, DeliveryStatus::kOutputLengthError, CommandRejection::kOutputLength);
}

TEST_F(CommandQueueTest, MisalignedPointers) {
  auto entry = goodEntry();
  entry.inputMailbox = wire::Be64(entry.inputMailbox.host() + 256);
  expectDelivery(entry, DeliveryStatus::kInputPointerAlignment, CommandRejection::kInputPointer);
  entry = goodEntry();
  entry.outputMailbox = wire::Be64(entry.outputMailbox.host() + 8);
  expectDelivery(entry, DeliveryStatus::kOutputPointerAlignment, CommandRejection::kOutputPointer);
  entry = goodEntry();
  changeBlock(entry.inputMailbox.host(),
              [](wire::MailboxBlock& block) { block.next = wire::Be64(block.next.host() + 1); });
  expectDelivery(entry, DeliveryStatus::kInputPointerAlignment, CommandRejection::kInputPointer);
}

TEST_F(CommandQueueTest, ChainThatEndsEarly) {
  auto entry = goodEntry();
  changeBlock(entry.inputMailbox.host(), [](wire::MailboxBlock& block) { block.next = wire::Be64(0); });
  expectDelivery(entry, DeliveryStatus::kInputPointerAlignment, CommandRejection::kInputPointer);
  entry = goodEntry();
  changeBlock(entry.outputMailbox.host(), [](wire::MailboxBlock& block) { block.next = wire::Be64(0); });
  expectDelivery(entry, DeliveryStatus::kOutputPointerAlignment, CommandRejection::kOutputPointer);
}

TEST_F(CommandQueueTest, ChainThatLoops) {
  auto entry = goodEntry(100'000, 16);
  const std::uint64_t first = entry.inputMailbox.host();
  changeBlock(first, [first](wire::MailboxBlock& block) { block.next = wire::Be64(first); });
  expectDelivery(entry, DeliveryStatus::kBadBlockNumber, CommandRejection::kBlockNumber);
  entry = goodEntry(16, 100'000);
  const std::uint64_t out = entry.outputMailbox.host();
  changeBlock(out, [out](wire::MailboxBlock& block) { block.next = wire::Be64(out); });
  expectDelivery(entry, DeliveryStatus::kBadBlockNumber, CommandRejection::kBlockNumber);
}

TEST_F(CommandQueueTest, WrongTokenInEitherChain) {
  auto entry = goodEntry();
  changeBlock(entry.inputMailbox.host(), [](wire::MailboxBlock& block) { block.token ^= 0x80; });
  expectDelivery(entry, DeliveryStatus::kTokenError, CommandRejection::kToken);
  entry = goodEntry();
  changeBlock(entry.outputMailbox.host(), [](wire::MailboxBlock& block) { block.token ^= 0x80; });
  expectDelivery(entry, DeliveryStatus::kTokenError, CommandRejection::kToken);
}

TEST_F(CommandQueueTest, MailboxThatHostMemoryRefuses) {
  auto entry = goodEntry();
  entry.inputMailbox = wire::Be64(0x7777'0000);
  expectDelivery(entry, DeliveryStatus::kFirmwareError, CommandRejection::kMailboxUnreadable);
  entry = goodEntry();
  entry.outputMailbox = wire::Be64(0x7777'0000);
  expectDelivery(entry, DeliveryStatus::kFirmwareError, CommandRejection::kMailboxUnreadable);
}

TEST_F(CommandQueueTest, AnswerThatHostMemoryRefusesIsCounted) {
  const auto entry = makeEntry(makeInput(CommandOpcode::kQueryIssi), 0x70);
  memory_.store(entryAddress(0), entry);
  ring(1);
  calendar_.runUntil(calendar_.now() + FakeDma::kLatency * 2 + nanoseconds(1));
  memory_.unmap(BusAddress(entry.outputMailbox.host()));
  drain();
  EXPECT_EQ(processor_.rejections(CommandRejection::kAnswerUnwritable), 1U);
}

TEST_F(CommandQueueTest, SignaturesAreIgnoredUntilTheDriverAsks) {
  auto entry = goodEntry();
  entry.signature ^= 0x55;
  EXPECT_TRUE(issue(entry).ok());
}

class SignedCommandQueueTest : public CommandQueueTest {
 protected:
  SignedCommandQueueTest() {
    auto input = makeInput(CommandOpcode::kSetHcaCapabilities, wire::SetHcaCapInput::kSize);
    const MutableByteView wanted = wire::SetHcaCapInput::General::mutableView(input);
    wire::HcaCapabilities::CommandChecksum::set(wanted, 3);
    EXPECT_TRUE(issue(input).ok());
    signs_ = true;
  }
};

TEST_F(SignedCommandQueueTest, AcceptsSignedCommandsAndSignsItsAnswers) {
  EXPECT_TRUE(issue(goodEntry()).ok());  // collect() checks the answer's signatures
  EXPECT_TRUE(issue(makeInput(CommandOpcode::kQueryIssi), 0x70).ok());
}

TEST_F(SignedCommandQueueTest, RefusesAFlippedBitAnywhere) {
  auto entry = goodEntry();
  entry.input[15] ^= 1;
  expectDelivery(entry, DeliveryStatus::kSignatureError, CommandRejection::kSignature);
  entry = goodEntry();
  changeBlock(entry.inputMailbox.host(), [](wire::MailboxBlock& block) { block.data[511] ^= 1; });
  expectDelivery(entry, DeliveryStatus::kSignatureError, CommandRejection::kSignature);
  entry = goodEntry();
  changeBlock(entry.inputMailbox.host(), [](wire::MailboxBlock& block) { block.controlSignature ^= 1; });
  expectDelivery(entry, DeliveryStatus::kSignatureError, CommandRejection::kSignature);
  entry = goodEntry();
  changeBlock(entry.outputMailbox.host(), [](wire::MailboxBlock& block) { block.reserved0[0] ^= 1; });
  expectDelivery(entry, DeliveryStatus::kSignatureError, CommandRejection::kSignature);
}

TEST_F(SignedCommandQueueTest, DoesNotCareForOldDataInOutputBlocks) {
  const auto entry = goodEntry();
  changeBlock(entry.outputMailbox.host(), [](wire::MailboxBlock& block) { block.data[9] ^= 0xFF; });
  EXPECT_TRUE(issue(entry).ok());
}

TEST_F(CommandQueueTest, ResetDropsWhatIsUnderWay) {
  memory_.store(entryAddress(0), goodEntry());
  ring(1);
  calendar_.runUntil(calendar_.now() + FakeDma::kLatency + nanoseconds(1));
  processor_.reset();
  EXPECT_TRUE(processor_.idle());
  drain();
  EXPECT_FALSE(collect(0).answered);
  EXPECT_EQ(processor_.executed(), 1U) << "only ENABLE_HCA";
  calendar_.runUntil(calendar_.now() + config_.bootTime);
  enable();
}

TEST_F(CommandQueueTest, ProbeTellsOfEachCommand) {
  std::vector<CommandRecord> records;
  probes_.command.attach([&](const observe::CommandEvent& event) { records.push_back(*event.record); });
  auto input = makeInput(CommandOpcode::kSetIssi);
  wire::SetIssiInput::Current::set(input, 9);
  const Time rung = calendar_.now();
  issue(input, 16, 4);
  auto broken = goodEntry();
  broken.type = 0;
  issue(broken);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].rung, rung);
  EXPECT_EQ(records[0].answered, rung + FakeDma::kLatency + config_.objectLatency);
  EXPECT_EQ(records[0].slot, 4U);
  EXPECT_STREQ(records[0].name, "SET_ISSI");
  EXPECT_EQ(records[0].result.syndrome, Syndrome::kUnknownInterfaceRevision);
  EXPECT_EQ(records[1].delivery, DeliveryStatus::kBadDescriptorType);
  EXPECT_STREQ(records[1].name, "");
}

TEST_F(CommandQueueTest, RefusalsAreCountedBySyndrome) {
  issue(makeInput(static_cast<CommandOpcode>(0xFFF)));
  issue(makeInput(static_cast<CommandOpcode>(0xFFF)));
  issue(makeInput(CommandOpcode::kAllocPd));
  EXPECT_EQ(processor_.refusals().at(Syndrome::kUnknownOpcode), 2U);
  EXPECT_EQ(processor_.refusals().at(Syndrome::kWrongDeviceState), 1U);
}

TEST_F(CommandFixture, CommandsAnswerByEventOnceACommandEventQueueExists) {
  bringUp();
  const std::uint32_t uar = allocate(CommandOpcode::kAllocUar);
  constexpr std::uint64_t kCommandEvents = 1ULL << 0x0A;
  const Reply created = issue(eqInput(uar, kCommandEvents));
  ASSERT_TRUE(created.ok());
  EXPECT_TRUE(events_.raised.empty()) << "the command that creates the queue is polled for";
  ASSERT_TRUE(issue(makeInput(CommandOpcode::kNop), 16, 9).ok());
  ASSERT_EQ(events_.raised.size(), 1U);
  EXPECT_EQ(events_.raised[0].type, EventType::kCommand);
  EXPECT_EQ(events_.raised[0].value, 1U << 9);
  auto broken = makeEntry(makeInput(CommandOpcode::kNop), 16);
  broken.type = 0;
  issue(broken, 31);
  ASSERT_EQ(events_.raised.size(), 2U) << "a malformed command is answered by event too";
  EXPECT_EQ(events_.raised[1].value, 1U << 31);
  auto destroy = makeInput(CommandOpcode::kDestroyEq);
  wire::EqCommand::Number::set(destroy, wire::EqCommand::Number::get(created.output));
  ASSERT_TRUE(issue(destroy).ok());
  EXPECT_EQ(events_.raised.size(), 2U) << "and so is the one that destroys it";
}

}  // namespace
}  // namespace hca::adapter::test
