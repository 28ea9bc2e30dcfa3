#include "sim/driver/command_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "models/host/bus_address_space.h"

namespace hca::driver {
namespace {

using CommandText = std::vector<std::uint8_t>;

/// An adapter that reads the queue as the interface's description says, byte by byte, and answers when told to.
class CommandQueueTest : public testing::Test, public CommandDoorbell {
 protected:
  static constexpr unsigned kLogEntries = 2;  // slots 0..2, and 3 for pages

  void onCommandsReady(std::uint32_t slots) override { doorbells_.push_back(slots); }

  [[nodiscard]] CommandText read(std::uint64_t address, std::size_t length) {
    CommandText bytes(length);
    EXPECT_EQ(space_.read(BusAddress(address), bytes), host::DmaStatus::kOk);
    return bytes;
  }
  [[nodiscard]] std::uint64_t slotAddress(unsigned slot) const { return queue_.address().value() + slot * 64; }
  static std::uint64_t number(const CommandText& bytes, std::size_t at, std::size_t length) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < length; ++i) value = value << 8 | bytes[at + i];
    return value;
  }
  /// Input of the command in `slot`, gathered from entry and mailboxes, with every check on the way.
  CommandText input(unsigned slot) {
    const CommandText entry = read(slotAddress(slot), 64);
    EXPECT_EQ(entry[0], 7);
    EXPECT_EQ(entry[63] & 1, 1) << "owned by hardware";
    EXPECT_EQ(std::accumulate(entry.begin(), entry.end(), 0, std::bit_xor<>()), 0xFF) << "signature";
    const std::size_t length = number(entry, 4, 4);
    CommandText bytes(entry.begin() + 16, entry.begin() + 16 + std::min<std::ptrdiff_t>(16, length));
    std::uint64_t next = number(entry, 8, 8);
    for (std::uint64_t block = 0; bytes.size() < length; ++block) {
      EXPECT_EQ(next % 512, 0U);
      const CommandText mailbox = read(next, 576);
      EXPECT_EQ(number(mailbox, 0x238, 4), block);
      EXPECT_EQ(mailbox[0x23D], entry[0x3C]) << "token";
      EXPECT_EQ(std::accumulate(mailbox.begin(), mailbox.end(), 0, std::bit_xor<>()), 0xFF);
      bytes.insert(bytes.end(), mailbox.begin(),
                   mailbox.begin() + std::min<std::ptrdiff_t>(512, length - bytes.size()));
      next = number(mailbox, 0x230, 8);
    }
    EXPECT_EQ(next, 0U) << "no block beyond the input";
    return bytes;
  }
  /// Writes `output` where the command wants it and gives the slot back.
  void answer(unsigned slot, const CommandText& output, std::uint8_t delivery = 0) {
    const CommandText entry = read(slotAddress(slot), 64);
    EXPECT_EQ(number(entry, 0x38, 4), output.size());
    write(slotAddress(slot) + 0x20, {output.begin(), output.begin() + std::min<std::ptrdiff_t>(16, output.size())});
    std::uint64_t next = number(entry, 0x30, 8);
    for (std::size_t at = 16; at < output.size(); at += 512) {
      const auto end = std::min(output.size(), at + 512);
      write(next,
            {output.begin() + static_cast<std::ptrdiff_t>(at), output.begin() + static_cast<std::ptrdiff_t>(end)});
      next = number(read(next, 576), 0x230, 8);
    }
    write(slotAddress(slot) + 63, {static_cast<std::uint8_t>(delivery << 1)});
  }
  void write(std::uint64_t address, const CommandText& bytes) {
    ASSERT_EQ(space_.write(BusAddress(address), bytes), host::DmaStatus::kOk);
  }
  static CommandText command(std::uint16_t opcode, std::size_t length) {
    CommandText bytes(length);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    bytes[0] = static_cast<std::uint8_t>(opcode >> 8);
    bytes[1] = static_cast<std::uint8_t>(opcode);
    return bytes;
  }
  static CommandText success(std::size_t length) { return CommandText(length); }

  host::BusAddressSpace space_;
  DmaMemory memory_{space_, "driver"};
  CommandQueue queue_{memory_, *this, kLogEntries, 6};
  std::vector<std::uint32_t> doorbells_;
  std::vector<int> done_;
};

TEST_F(CommandQueueTest, ShortCommandFitsTheEntry) {
  const CommandText bytes = command(0x104, 16);
  queue_.submit(bytes, 16, [this](const CommandReply& reply) {
    EXPECT_TRUE(reply.result.ok());
    done_.push_back(1);
  });
  EXPECT_EQ(doorbells_, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(input(0), bytes);
  EXPECT_EQ(queue_.finished(), 0U);
  answer(0, success(16));
  EXPECT_EQ(queue_.finished(), 1U);
  queue_.complete(1);
  EXPECT_EQ(done_, std::vector<int>{1});
  EXPECT_EQ(queue_.inFlight(), 0U);
}

class CommandLengths : public CommandQueueTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(CommandLengths, InputAndOutputGoThroughMailboxes) {
  const CommandText bytes = command(0x400, GetParam());
  CommandText output = command(0, GetParam());
  output[0] = 0;
  output[4] = output[5] = output[6] = output[7] = 0;
  CommandText received;
  queue_.submit(bytes, output.size(), [&](const CommandReply& reply) { received = reply.output; });
  EXPECT_EQ(input(0), bytes);
  answer(0, output);
  queue_.complete(1);
  EXPECT_EQ(received, output);
}
INSTANTIATE_TEST_SUITE_P(AroundTheBlocks, CommandLengths,
                         testing::Values(8, 15, 16, 17, 528, 529, 1040, 1041, 4112, 9000));

TEST_F(CommandQueueTest, StatusAndSyndromeComeFromTheOutput) {
  adapter::CommandResult result;
  queue_.submit(command(0x400, 16), 16, [&](const CommandReply& reply) { result = reply.result; });
  CommandText output = success(16);
  output[0] = 0x03;
  output[6] = 0x03;
  output[7] = 0x02;
  answer(0, output);
  queue_.complete(1);
  EXPECT_EQ(result.status, adapter::CommandStatus::kBadParameter);
  EXPECT_EQ(result.syndrome, adapter::Syndrome::kCqSizeOutOfRange);
}

TEST_F(CommandQueueTest, FailedDeliveryIsAnInternalError) {
  CommandReply got;
  queue_.submit(command(0x400, 16), 16, [&](const CommandReply& reply) { got = reply; });
  answer(0, success(16), 2);
  queue_.complete(1);
  EXPECT_EQ(got.result.status, adapter::CommandStatus::kInternalError);
  EXPECT_EQ(got.delivery, wire::DeliveryStatus::kTokenError);
}

TEST_F(CommandQueueTest, PollingUsesOneSlotAtATime) {
  for (int i = 0; i < 3; ++i) {
    queue_.submit(command(0x400, 16), 16, [this, i](const CommandReply&) { done_.push_back(i); });
  }
  EXPECT_EQ(queue_.inFlight(), 1U);
  EXPECT_EQ(queue_.waiting(), 2U);
  for (int i = 0; i < 3; ++i) {
    answer(0, success(16));
    queue_.complete(queue_.finished());
  }
  EXPECT_EQ(done_, (std::vector<int>{0, 1, 2}));
}

TEST_F(CommandQueueTest, EventsUseAllSlotsButTheOneForPages) {
  queue_.useEvents();
  for (int i = 0; i < 5; ++i) {
    queue_.submit(command(0x400, 16), 16, [this, i](const CommandReply&) { done_.push_back(i); });
  }
  EXPECT_EQ(doorbells_, (std::vector<std::uint32_t>{1, 2, 4}));
  EXPECT_EQ(queue_.waiting(), 2U);
  queue_.submit(command(0x108, 16), 16, [this](const CommandReply&) { done_.push_back(100); });
  EXPECT_EQ(doorbells_.back(), 8U) << "pages don't wait behind other commands";
  answer(1, success(16));
  queue_.complete(2);
  EXPECT_EQ(doorbells_.back(), 2U) << "the oldest waiting command takes the free slot";
  for (const unsigned slot : {0U, 1U, 2U, 3U}) answer(slot, success(16));
  queue_.complete(0xF);
  answer(0, success(16));
  queue_.complete(0xF);
  EXPECT_EQ(done_, (std::vector<int>{1, 0, 3, 2, 100, 4}));
}

TEST_F(CommandQueueTest, SlotsThatAreNotDoneAreLeftAlone) {
  queue_.useEvents();
  queue_.submit(command(0x400, 16), 16, [this](const CommandReply&) { done_.push_back(0); });
  queue_.complete(0xFFFFFFFF);
  EXPECT_TRUE(done_.empty());
  EXPECT_EQ(queue_.inFlight(), 1U);
}

TEST_F(CommandQueueTest, TokensDifferFromCommandToCommandAndAreNeverZero) {
  std::uint8_t before = 0;
  for (int i = 0; i < 600; ++i) {
    queue_.submit(command(0x400, 16), 16, [](const CommandReply&) {});
    const std::uint8_t token = read(slotAddress(0), 64)[0x3C];
    ASSERT_NE(token, 0);
    ASSERT_NE(token, before);
    before = token;
    answer(0, success(16));
    queue_.complete(1);
  }
}

TEST_F(CommandQueueTest, MailboxesAreReused) {
  for (int i = 0; i < 50; ++i) {
    queue_.submit(command(0x400, 5000), 5000, [](const CommandReply&) {});
    answer(0, success(5000));
    queue_.complete(1);
  }
  EXPECT_LT(memory_.memory().allocatedBytes(), 64U * 1024);
}

TEST_F(CommandQueueTest, ACommandMayBeSubmittedFromAnAnswer) {
  queue_.submit(command(0x400, 16), 16, [this](const CommandReply&) {
    queue_.submit(command(0x401, 16), 16, [this](const CommandReply&) { done_.push_back(2); });
  });
  answer(0, success(16));
  queue_.complete(1);
  EXPECT_EQ(input(0), command(0x401, 16));
  answer(0, success(16));
  queue_.complete(1);
  EXPECT_EQ(done_, std::vector<int>{2});
}

}  // namespace
}  // namespace hca::driver
