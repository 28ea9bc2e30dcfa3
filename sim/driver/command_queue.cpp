#include "sim/driver/command_queue.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "models/wire/opcode.h"

namespace hca::driver {
namespace {

// A block is 576 bytes and 512-aligned; four fit a page at this spacing.
constexpr std::uint64_t kBlockSpacing = 1024;

bool isPageCommand(ByteView input) {
  return input.size() >= 2 && wire::loadBigEndian<std::uint16_t>(input.data()) ==
                                  static_cast<std::uint16_t>(wire::CommandOpcode::kManagePages);
}

CommandReply unanswered(std::size_t outputLength, adapter::Syndrome why) {
  CommandReply reply;
  reply.result = {adapter::CommandStatus::kInternalError, why};
  reply.output.assign(outputLength, 0);
  reply.isAnswered = false;
  return reply;
}

adapter::CommandResult resultOf(ByteView output) {
  adapter::CommandResult result;
  result.status = static_cast<adapter::CommandStatus>(output[0]);
  result.syndrome = static_cast<adapter::Syndrome>(wire::loadBigEndian<std::uint32_t>(output.data() + 4));
  return result;
}

}  // namespace

CommandQueue::CommandQueue(DmaMemory& memory, CommandDoorbell& doorbell, unsigned logEntries, unsigned logStride)
    : memory_(memory),
      doorbell_(doorbell),
      logStride_(logStride),
      slots_(memory.allocate(std::uint64_t{1} << (logEntries + logStride))),
      table_(std::size_t{1} << logEntries) {
  assert(logEntries <= 5 && (std::size_t{1} << logStride) >= sizeof(wire::CommandEntry));
}

CommandQueue::~CommandQueue() {
  for (const DmaBuffer& page : blockPages_) memory_.free(page);
  memory_.free(slots_);
}

void CommandQueue::submit(std::vector<std::uint8_t> input, std::size_t outputLength, Done done) {
  assert(input.size() >= 8 && outputLength >= 8);
  auto& line = isPageCommand(input) ? waitingPages_ : waiting_;
  line.push_back(Command{std::move(input), outputLength, std::move(done)});
  startWaiting();
}

void CommandQueue::startWaiting() {
  if (!waitingPages_.empty() && !table_[pageSlot()].busy && !(polling_ && inFlight() > 0)) {
    Command command = std::move(waitingPages_.front());
    waitingPages_.pop_front();
    start(pageSlot(), std::move(command));
  }
  for (std::uint32_t index = 0; index < pageSlot() && !waiting_.empty(); ++index) {
    if (table_[index].busy) continue;
    if (polling_ && inFlight() > 0) return;
    Command command = std::move(waiting_.front());
    waiting_.pop_front();
    start(index, std::move(command));
  }
}

void CommandQueue::start(std::uint32_t index, Command command) {
  Slot& slot = table_[index];
  slot.busy = true;
  slot.ticket = ++ticket_;
  slot.command = std::move(command);
  token_ = token_ == 0xFF ? 1 : static_cast<std::uint8_t>(token_ + 1);  // 0 is what an empty slot holds
  const ByteView input = slot.command.input;
  const std::size_t inlined = std::min(input.size(), wire::kCommandInlineSize);
  slot.inputBlocks = makeChain(input.size(), token_);
  fillChain(slot.inputBlocks, input.subview(inlined, input.size() - inlined));
  slot.outputBlocks = makeChain(slot.command.outputLength, token_);
  fillChain(slot.outputBlocks, {});

  wire::CommandEntry entry;
  entry.type = wire::CommandEntry::kTypePcie;
  entry.inputLength = wire::Be32(static_cast<std::uint32_t>(input.size()));
  entry.outputLength = wire::Be32(static_cast<std::uint32_t>(slot.command.outputLength));
  std::memcpy(entry.input, input.data(), inlined);
  if (!slot.inputBlocks.empty()) entry.inputMailbox = wire::Be64(blocks_[slot.inputBlocks[0]].bus.value());
  if (!slot.outputBlocks.empty()) entry.outputMailbox = wire::Be64(blocks_[slot.outputBlocks[0]].bus.value());
  entry.token = token_;
  wire::CommandEntry::HardwareOwned::set(entry.statusOwner, true);
  wire::sign(entry);
  std::memcpy(slots_.bytes + (std::size_t{index} << logStride_), &entry, sizeof entry);
  doorbell_.onCommandsReady(1U << index);
}

std::vector<std::uint32_t> CommandQueue::makeChain(std::size_t length, std::uint8_t token) {
  const std::size_t count = wire::mailboxBlocks(length);
  while (freeBlocks_.size() < count) growBlocks();
  std::vector<std::uint32_t> chain(freeBlocks_.end() - static_cast<std::ptrdiff_t>(count), freeBlocks_.end());
  freeBlocks_.resize(freeBlocks_.size() - count);
  for (std::size_t i = 0; i < count; ++i) {
    wire::MailboxBlock block;
    block.next = wire::Be64(i + 1 < count ? blocks_[chain[i + 1]].bus.value() : 0);
    block.blockNumber = wire::Be32(static_cast<std::uint32_t>(i));
    block.token = token;
    std::memcpy(blocks_[chain[i]].bytes, &block, sizeof block);
  }
  return chain;
}

void CommandQueue::fillChain(const std::vector<std::uint32_t>& chain, ByteView data) {
  std::size_t done = 0;
  for (const std::uint32_t index : chain) {
    auto block = structFrom<wire::MailboxBlock>({blocks_[index].bytes, sizeof(wire::MailboxBlock)});
    const std::size_t count = std::min(data.size() - done, wire::kMailboxDataSize);
    if (count != 0) std::memcpy(block.data, data.data() + done, count);
    done += count;
    wire::sign(block);
    std::memcpy(blocks_[index].bytes, &block, sizeof block);
  }
}

void CommandQueue::freeChain(std::vector<std::uint32_t>& chain) {
  // The last block goes back first, so that a chain of the same length comes out in the same order.
  freeBlocks_.insert(freeBlocks_.end(), chain.begin(), chain.end());
  chain.clear();
}

void CommandQueue::growBlocks() {
  const DmaBuffer page = memory_.allocate(host::BusAddressSpace::kPageSize);
  blockPages_.push_back(page);
  for (std::uint64_t at = 0; at + kBlockSpacing <= page.length; at += kBlockSpacing) {
    freeBlocks_.push_back(static_cast<std::uint32_t>(blocks_.size()));
    blocks_.push_back(Block{page.bytes + at, advance(page.bus, at)});
  }
}

wire::CommandEntry CommandQueue::entry(std::uint32_t index) const {
  return structFrom<wire::CommandEntry>(
      {slots_.bytes + (std::size_t{index} << logStride_), sizeof(wire::CommandEntry)});
}

std::uint32_t CommandQueue::finished() const {
  std::uint32_t slots = 0;
  for (std::uint32_t index = 0; index < table_.size(); ++index) {
    if (table_[index].busy && !wire::CommandEntry::HardwareOwned::get(entry(index).statusOwner)) slots |= 1U << index;
  }
  return slots;
}

std::size_t CommandQueue::inFlight() const {
  return static_cast<std::size_t>(
      std::count_if(table_.begin(), table_.end(), [](const Slot& slot) { return slot.busy && !slot.isAbandoned; }));
}

CommandReply CommandQueue::collect(std::uint32_t index) const {
  const wire::CommandEntry done = entry(index);
  const Slot& slot = table_[index];
  CommandReply reply;
  reply.delivery = wire::CommandEntry::Status::get(done.statusOwner);
  reply.output.assign(done.output, done.output + std::min(slot.command.outputLength, wire::kCommandInlineSize));
  for (const std::uint32_t block : slot.outputBlocks) {
    const std::size_t count = std::min(slot.command.outputLength - reply.output.size(), wire::kMailboxDataSize);
    reply.output.insert(reply.output.end(), blocks_[block].bytes, blocks_[block].bytes + count);
  }
  if (reply.delivery == wire::DeliveryStatus::kOk) {
    reply.result = resultOf(reply.output);
  } else {
    reply.result.status = adapter::CommandStatus::kInternalError;
  }
  return reply;
}

wire::CommandOpcode CommandQueue::opcode(std::uint32_t index) const {
  return static_cast<wire::CommandOpcode>(wire::loadBigEndian<std::uint16_t>(table_[index].command.input.data()));
}

void CommandQueue::giveUp(std::uint32_t index, adapter::Syndrome why) {
  Slot& slot = table_[index];
  assert(isAwaited(index));
  slot.isAbandoned = true;
  const Done done = std::move(slot.command.done);
  slot.command.done = nullptr;
  const CommandReply reply = unanswered(slot.command.outputLength, why);
  startWaiting();
  done(reply);
}

void CommandQueue::giveUpAll() {
  std::vector<Command> waiting;
  for (auto* line : {&waitingPages_, &waiting_}) {
    for (Command& command : *line) waiting.push_back(std::move(command));
    line->clear();
  }
  for (std::uint32_t index = 0; index < table_.size(); ++index) {
    if (isAwaited(index)) giveUp(index, adapter::Syndrome::kNone);
  }
  for (const Command& command : waiting) command.done(unanswered(command.outputLength, adapter::Syndrome::kNone));
}

void CommandQueue::complete(std::uint32_t slots) {
  slots &= finished();
  for (std::uint32_t index = 0; index < table_.size(); ++index) {
    if ((slots >> index & 1) == 0) continue;
    Slot& slot = table_[index];
    if (slot.isAbandoned) ++lateAnswers_;
    const CommandReply reply = collect(index);
    const Done done = std::move(slot.command.done);
    freeChain(slot.inputBlocks);
    freeChain(slot.outputBlocks);
    slot = Slot{};
    startWaiting();
    if (done) done(reply);
  }
}

}  // namespace hca::driver
