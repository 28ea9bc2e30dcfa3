#include "tests/vfio/programs/command_queue.h"

#include <endian.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace vfio_test {
namespace {

using hca::wire::CommandEntry;
using hca::wire::MailboxBlock;

constexpr std::uint64_t kInputMailboxes = CommandQueue::kBus + 0x1000;
constexpr std::uint64_t kOutputMailbox = CommandQueue::kBus + 0x3000;
constexpr std::uint64_t kPages = std::uint64_t{1} << 36, kPagesSize = std::uint64_t{256} << 20;
constexpr std::uint64_t kBlockDistance = 1024;
constexpr std::uint64_t kQueueHigh = 0x10, kQueueLow = 0x14, kDoorbell = 0x18;  // of the init segment
constexpr std::uint32_t kEnableHca = 0x104, kQueryIssi = 0x10A, kSetIssi = 0x10B, kQueryPages = 0x107;
constexpr std::uint32_t kManagePages = 0x108, kInitHca = 0x102;

void* memoryOf(std::uint64_t size) {
  return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

}  // namespace

CommandQueue::CommandQueue(const Container& container, const Device& device)
    : container_(container),
      device_(device),
      memory_(static_cast<std::uint8_t*>(memoryOf(kSize))),
      pages_(memoryOf(kPagesSize)) {
  container_.map(kBus, memory_, kSize);
  container_.map(kPages, pages_, kPagesSize);
  start();
}

CommandQueue::~CommandQueue() {
  std::uint64_t length = kSize;
  container_.unmap(kBus, length);
  ::munmap(memory_, kSize);
  length = kPagesSize;
  container_.unmap(kPages, length);
  ::munmap(pages_, kPagesSize);
}

void CommandQueue::start() {
  constexpr std::uint32_t kCommand = 4;
  constexpr std::uint16_t kMemory = 2, kMaster = 4;
  device_.writeConfig16(kCommand, device_.readConfig16(kCommand) | kMemory | kMaster);
  constexpr std::uint32_t kInitializing = 0x1FC;
  for (int i = 0; i < 100000 && device_.readRegister(kInitializing) >> 31 != 0; ++i) {
  }
  device_.writeRegister(kQueueHigh, 0);
  device_.writeRegister(kQueueLow, static_cast<std::uint32_t>(kBus));
  nextPage_ = kPages;
}

void CommandQueue::post(const Words& input) {
  const std::size_t length = std::max<std::size_t>(input.size() * 4, hca::wire::kCommandInlineSize);
  std::vector<std::uint32_t> swapped(length / 4);
  std::transform(input.begin(), input.end(), swapped.begin(), [](std::uint32_t word) { return htobe32(word); });
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(swapped.data());
  CommandEntry entry;
  entry.type = CommandEntry::kTypePcie;
  entry.inputLength = hca::wire::Be32(static_cast<std::uint32_t>(length));
  std::memcpy(entry.input, bytes, sizeof entry.input);
  const std::size_t blocks = hca::wire::mailboxBlocks(length);
  for (std::size_t n = 0; n < blocks; ++n) {
    MailboxBlock block;
    const std::size_t at = sizeof entry.input + n * sizeof block.data;
    std::memcpy(block.data, bytes + at, std::min(sizeof block.data, length - at));
    block.blockNumber = hca::wire::Be32(static_cast<std::uint32_t>(n));
    if (n + 1 < blocks) block.next = hca::wire::Be64(kInputMailboxes + (n + 1) * kBlockDistance);
    std::memcpy(memory(kInputMailboxes + n * kBlockDistance), &block, sizeof block);
  }
  if (blocks != 0) entry.inputMailbox = hca::wire::Be64(kInputMailboxes);
  const MailboxBlock empty;
  std::memcpy(memory(kOutputMailbox), &empty, sizeof empty);
  entry.outputMailbox = hca::wire::Be64(kOutputMailbox);
  entry.outputLength = hca::wire::Be32(256);
  entry.statusOwner = 1;
  std::memcpy(memory_, &entry, sizeof entry);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  device_.writeRegister(kDoorbell, 1);
}

int CommandQueue::wait() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  const auto* owner = memory_ + offsetof(CommandEntry, statusOwner);
  while ((__atomic_load_n(owner, __ATOMIC_ACQUIRE) & 1) != 0) {
    if (std::chrono::steady_clock::now() > end) return -1;
  }
  return static_cast<int>(output(0) >> 24);
}

std::uint32_t CommandQueue::output(unsigned word) const {
  std::uint32_t value = 0;
  std::memcpy(&value, memory_ + offsetof(CommandEntry, output) + 4 * word, sizeof value);
  return be32toh(value);
}

int CommandQueue::givePages(std::uint32_t kind) {
  if (const int status = run({kQueryPages << 16, kind}); status != 0) return status;
  const std::uint32_t count = output(3);
  for (std::uint32_t given = 0; given < count;) {
    const std::uint32_t some = std::min<std::uint32_t>(count - given, 64);
    Words input{kManagePages << 16, 1, 0, some};
    for (std::uint32_t i = 0; i < some; ++i) {
      input.push_back(static_cast<std::uint32_t>(nextPage_ >> 32));
      input.push_back(static_cast<std::uint32_t>(nextPage_));
      nextPage_ += 4096;
    }
    if (const int status = run(input); status != 0) return status;
    given += some;
  }
  return 0;
}

int CommandQueue::bringUp() {
  if (const int status = run({kEnableHca << 16}); status != 0) return status;
  if (const int status = run({kQueryIssi << 16}); status != 0) return status;
  if (const int status = run({kSetIssi << 16, 0, 1}); status != 0) return status;
  if (const int status = givePages(1); status != 0) return status;
  if (const int status = givePages(2); status != 0) return status;
  return run({kInitHca << 16});
}

}  // namespace vfio_test
