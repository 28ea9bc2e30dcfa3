// A driver that writes anything into registers, queue entries and mailboxes: no crash, no hang, every rejection
// counted.
#include <random>

#include "models/wire/decode_fields.h"
#include "tests/models/adapter/command/command_fixture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HCA_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HCA_TEST_SANITIZED 1
#endif
#endif

namespace hca::adapter::test {
namespace {

using wire::CommandOpcode;

#ifdef HCA_TEST_SANITIZED
constexpr int kOperations = 100'000;
#else
constexpr int kOperations = 1'000'000;
#endif
constexpr int kOperationsPerLife = 2'000;

constexpr CommandOpcode kOpcodes[] = {CommandOpcode::kQueryHcaCapabilities,
                                      CommandOpcode::kQueryAdapter,
                                      CommandOpcode::kInitHca,
                                      CommandOpcode::kTeardownHca,
                                      CommandOpcode::kEnableHca,
                                      CommandOpcode::kDisableHca,
                                      CommandOpcode::kQueryPages,
                                      CommandOpcode::kManagePages,
                                      CommandOpcode::kSetHcaCapabilities,
                                      CommandOpcode::kQueryIssi,
                                      CommandOpcode::kSetIssi,
                                      CommandOpcode::kCreateMemoryKey,
                                      CommandOpcode::kAllocDeviceMemory,
                                      CommandOpcode::kDeallocDeviceMemory,
                                      CommandOpcode::kCreateDct,
                                      CommandOpcode::kDestroyDct,
                                      CommandOpcode::kDrainDct,
                                      CommandOpcode::kQueryDct,
                                      CommandOpcode::kQueryMemoryKey,
                                      CommandOpcode::kDestroyMemoryKey,
                                      CommandOpcode::kQuerySpecialContexts,
                                      CommandOpcode::kCreateEq,
                                      CommandOpcode::kDestroyEq,
                                      CommandOpcode::kQueryEq,
                                      CommandOpcode::kCreateCq,
                                      CommandOpcode::kDestroyCq,
                                      CommandOpcode::kQueryCq,
                                      CommandOpcode::kModifyCq,
                                      CommandOpcode::kCreateQp,
                                      CommandOpcode::kDestroyQp,
                                      CommandOpcode::kResetToInit,
                                      CommandOpcode::kInitToReadyToReceive,
                                      CommandOpcode::kReadyToReceiveToReadyToSend,
                                      CommandOpcode::kReadyToSendToReadyToSend,
                                      CommandOpcode::kSendQueueErrorToReadyToSend,
                                      CommandOpcode::kToError,
                                      CommandOpcode::kReadyToSendToDrain,
                                      CommandOpcode::kDrainToReadyToSend,
                                      CommandOpcode::kDrainedToReadyToSend,
                                      CommandOpcode::kDrainToDrain,
                                      CommandOpcode::kToReset,
                                      CommandOpcode::kQueryQp,
                                      CommandOpcode::kInitToInit,
                                      CommandOpcode::kCreateSrq,
                                      CommandOpcode::kDestroySrq,
                                      CommandOpcode::kQuerySrq,
                                      CommandOpcode::kArmReceiveQueue,
                                      CommandOpcode::kCreateXrcSrq,
                                      CommandOpcode::kDestroyXrcSrq,
                                      CommandOpcode::kQueryXrcSrq,
                                      CommandOpcode::kArmXrcSrq,
                                      CommandOpcode::kCreateXrq,
                                      CommandOpcode::kDestroyXrq,
                                      CommandOpcode::kQueryXrq,
                                      CommandOpcode::kCreateRmp,
                                      CommandOpcode::kModifyRmp,
                                      CommandOpcode::kDestroyRmp,
                                      CommandOpcode::kQueryRmp,
                                      CommandOpcode::kQueryVportState,
                                      CommandOpcode::kQueryHcaVportContext,
                                      CommandOpcode::kQueryHcaVportGid,
                                      CommandOpcode::kQueryHcaVportPkey,
                                      CommandOpcode::kAllocPd,
                                      CommandOpcode::kDeallocPd,
                                      CommandOpcode::kAllocUar,
                                      CommandOpcode::kDeallocUar,
                                      CommandOpcode::kAccessRegister,
                                      CommandOpcode::kNop,
                                      CommandOpcode::kAllocXrcd,
                                      CommandOpcode::kDeallocXrcd,
                                      CommandOpcode::kAllocTransportDomain,
                                      CommandOpcode::kDeallocTransportDomain};

class CommandFuzz : public CommandFixture {
 protected:
  CommandFuzz() {
    for (BusAddress& page : pool_) page = memory_.allocate();
    for (BusAddress& page : hostPages_) page = memory_.allocate();
    processor_.setTeardownHandler([this] { clearTables(); });
    probes_.command.attach([this](const observe::CommandEvent& event) {
      const CommandRecord& record = *event.record;
      // Whatever the bytes are, they can be told.
      EXPECT_LT(wire::fieldsText(wire::decodeCommandInput(record.input)).size(), 1U << 16);
      EXPECT_LT(wire::fieldsText(wire::decodeCommandOutput(record.input, record.output)).size(), 1U << 16);
      if (!record.rejection && record.result.ok()) ++succeeded_;
    });
  }

  void clearTables() {
    eqs_ = FakeEqs();
    cqs_ = FakeCqs();
    qps_ = FakeQps();
  }
  std::uint32_t random(std::uint32_t below) { return static_cast<std::uint32_t>(generator_() % below); }
  bool oneIn(std::uint32_t n) { return random(n) == 0; }
  void fill(MutableByteView bytes) {
    for (std::size_t n = 0; n < bytes.size(); ++n) bytes[n] = static_cast<std::uint8_t>(generator_());
  }

  // ---- a driver that behaves, to get somewhere
  void run(ByteView input, std::size_t outputLength) {
    const std::uint32_t slot = 0;
    memory_.store(entryAddress(slot), entryFor(input, outputLength));
    ringCounted(1U << slot);
    drain();
  }
  void live() {
    processor_.reset();
    clearTables();
    ringCounted(random(4));  // too early
    drain();
    calendar_.runUntil(calendar_.now() + config_.bootTime);
    setQueue();
    run(makeInput(CommandOpcode::kEnableHca), 16);
    auto give = makeInput(CommandOpcode::kManagePages, 16 + hostPages_.size() * 8, 1);
    wire::ManagePagesInput::Entries::set(give, static_cast<std::uint32_t>(hostPages_.size()));
    for (std::size_t n = 0; n < hostPages_.size(); ++n) {
      wire::ManagePagesInput::Pages::set(give, n, hostPages_[n].value());
    }
    run(give, 16);
    run(makeInput(CommandOpcode::kInitHca), 16);
    ASSERT_EQ(processor_.device().state, DeviceState::kInitialized);
  }

  // What noise hardly ever finds: a driver that stops the adapter and asks for signatures.
  void askForSignatures() {
    drain();
    run(makeInput(CommandOpcode::kTeardownHca), 16);
    auto input = makeInput(CommandOpcode::kSetHcaCapabilities, wire::SetHcaCapInput::kSize);
    wire::HcaCapabilities::CommandChecksum::set(wire::SetHcaCapInput::General::mutableView(input), 3);
    run(input, 16);
  }

  // ---- mailboxes in a fixed pool of pages, two blocks a page
  BusAddress blockAddress(std::size_t n) const { return advance(pool_[n / 2], n % 2 * 1024); }
  BusAddress fixedChain(std::size_t firstBlock, std::size_t length, ByteView data, std::uint8_t token) {
    const std::size_t blocks = wire::mailboxBlocks(length);
    for (std::size_t n = 0; n < blocks; ++n) {
      wire::MailboxBlock block;
      const std::size_t at = wire::kCommandInlineSize + n * wire::kMailboxDataSize;
      if (at < data.size()) {
        std::copy_n(data.begin() + at, std::min(data.size() - at, wire::kMailboxDataSize), block.data);
      }
      block.next = wire::Be64(n + 1 < blocks ? blockAddress(firstBlock + n + 1).value() : 0);
      block.blockNumber = wire::Be32(static_cast<std::uint32_t>(n));
      block.token = token;
      memory_.store(blockAddress(firstBlock + n), block);
    }
    return blocks == 0 ? BusAddress() : blockAddress(firstBlock);
  }
  wire::CommandEntry entryFor(ByteView input, std::size_t outputLength) {
    wire::CommandEntry entry;
    entry.type = wire::CommandEntry::kTypePcie;
    entry.token = static_cast<std::uint8_t>(generator_());
    entry.inputLength = wire::Be32(static_cast<std::uint32_t>(input.size()));
    std::copy_n(input.begin(), std::min(input.size(), wire::kCommandInlineSize), entry.input);
    entry.inputMailbox = wire::Be64(fixedChain(0, input.size(), input, entry.token).value());
    entry.outputMailbox = wire::Be64(fixedChain(kChainBlocks, outputLength, {}, entry.token).value());
    entry.outputLength = wire::Be32(static_cast<std::uint32_t>(outputLength));
    entry.statusOwner = 1;
    return entry;
  }

  // ---- noise
  std::vector<std::uint8_t> noisyInput() {
    constexpr std::size_t kLengths[] = {8, 16, 16, 24, 32, 0x50, 0x110, 0x110, 0x118, 0x120, 0x130};
    std::vector<std::uint8_t> input(oneIn(4) ? 8 + random(4000) : kLengths[random(std::size(kLengths))]);
    if (oneIn(4)) fill(input);
    for (std::uint32_t changes = random(12); changes != 0; --changes) {
      const std::size_t at = random(static_cast<std::uint32_t>(input.size() / 4)) * 4;
      const std::uint32_t value = oneIn(2) ? random(256) : static_cast<std::uint32_t>(generator_());
      wire::storeBigEndian(input.data() + at, value);
    }
    const auto opcode = oneIn(20) ? static_cast<CommandOpcode>(random(0x10000)) : kOpcodes[random(std::size(kOpcodes))];
    wire::CommandInput::begin(input, opcode, oneIn(3) ? random(8) : 0);
    return input;
  }
  void noisyCommand() {
    const std::uint32_t slot = random(InitSegment::kEntries);
    constexpr std::size_t kLengths[] = {8, 12, 16, 16, 0x20, 0x70, 0x110, 0x118, 0x210, 0x1010};
    auto entry = entryFor(noisyInput(), oneIn(8) ? 8 + random(5000) : kLengths[random(std::size(kLengths))]);
    if (oneIn(6)) {
      reinterpret_cast<std::uint8_t*>(&entry)[random(sizeof entry)] = static_cast<std::uint8_t>(generator_());
    }
    if (oneIn(10)) {
      const BusAddress block = blockAddress(random(2 * kChainBlocks));
      std::uint8_t byte = static_cast<std::uint8_t>(generator_());
      memory_.write(advance(block, 0x200 + random(0x40)), {&byte, 1});
    }
    memory_.store(entryAddress(slot), entry);
    ringCounted(1U << slot);
  }
  void noisyMemory() {
    wire::CommandEntry entry;
    fill({reinterpret_cast<std::uint8_t*>(&entry), sizeof entry});
    if (oneIn(2)) entry.type = wire::CommandEntry::kTypePcie;
    if (oneIn(2)) {
      std::fill(std::begin(entry.reserved0), std::end(entry.reserved0), std::uint8_t{0});
      entry.reserved1 = 0;
      entry.inputLength = wire::Be32(random(100'000));
      entry.inputMailbox = wire::Be64(blockAddress(random(2 * kChainBlocks)).value());
      entry.outputMailbox = wire::Be64(blockAddress(random(2 * kChainBlocks)).value());
    }
    const std::uint32_t slot = random(InitSegment::kEntries);
    memory_.store(entryAddress(slot), entry);
    std::vector<std::uint8_t> block(sizeof(wire::MailboxBlock));
    fill(block);
    memory_.write(blockAddress(random(2 * kChainBlocks)), block);
    ringCounted(1U << slot | static_cast<std::uint32_t>(generator_() & generator_() & generator_()));
  }
  void noisyRegister() {
    drain();  // a disable would drop what is under way, which nobody then counts
    std::uint8_t bytes[64];
    fill({bytes, sizeof bytes});
    constexpr std::size_t kWidths[] = {4, 4, 4, 8, 1, 2, 3, 64, 0};
    const std::size_t width = kWidths[random(std::size(kWidths))];
    const std::uint64_t offset = oneIn(2) ? 0x10 + random(4) * 4 : random(wire::InitSegment::kSize);
    const bool whole = (width == 4 || width == 8) && offset % width == 0;
    if (!whole) ++expectedWidth_;
    for (std::size_t n = 0; whole && n < width; n += 4) {
      expectRegister(offset + n, wire::loadBigEndian<std::uint32_t>(bytes + n));
    }
    processor_.writeRegister(offset, {bytes, width});
    std::vector<std::uint8_t> read(random(65));
    processor_.readRegister(random(wire::InitSegment::kSize), read);
    ringCounted(random(16));  // perhaps while disabled, or with the queue anywhere
    drain();
    if (processor_.device().state != DeviceState::kInitialized || oneIn(2)) live();
    setQueue();
  }
  void expectRegister(std::uint64_t offset, std::uint32_t value) {
    const std::uint32_t interface = value >> 8 & 7;
    const bool known = interface == 0 || interface == 1 || interface == 7;
    if (offset == wire::InitSegment::kCommandDoorbell) {
      rung_ += static_cast<std::uint64_t>(__builtin_popcount(value));
    } else if (offset == wire::InitSegment::kCommandQueueLow ? !known
                                                             : offset != wire::InitSegment::kCommandQueueHigh) {
      ++expectedNotWritable_;
    }
  }
  void ringCounted(std::uint32_t slots) {
    rung_ += static_cast<std::uint64_t>(__builtin_popcount(slots));
    ring(slots);
  }

  void expectEverythingCounted() {
    EXPECT_TRUE(processor_.idle()) << "a command hangs";
    std::uint64_t rejected = 0;
    for (auto kind = static_cast<std::size_t>(CommandRejection::kNotReady);
         kind < static_cast<std::size_t>(CommandRejection::kAnswerUnwritable); ++kind) {
      rejected += processor_.rejections(static_cast<CommandRejection>(kind));
    }
    EXPECT_EQ(processor_.executed() + rejected, rung_);
    std::uint64_t refused = 0;
    for (const auto& entry : processor_.refusals()) refused += entry.second;
    EXPECT_EQ(succeeded_ + refused, processor_.executed());
    EXPECT_EQ(processor_.rejections(CommandRejection::kRegisterWidth), expectedWidth_);
    EXPECT_EQ(processor_.rejections(CommandRejection::kRegisterNotWritable), expectedNotWritable_);
  }

  static constexpr std::size_t kChainBlocks = 20;
  std::mt19937_64 generator_{20'240'229};
  std::array<BusAddress, kChainBlocks> pool_;
  std::array<BusAddress, 74> hostPages_;  // configuration(): boot and init pages
  std::uint64_t rung_ = 0;
  std::uint64_t succeeded_ = 0;
  std::uint64_t expectedWidth_ = 0;
  std::uint64_t expectedNotWritable_ = 0;
};

TEST_F(CommandFuzz, SurvivesAnythingAndCountsIt) {
  live();
  for (int operation = 0; operation < kOperations; ++operation) {
    if (operation % kOperationsPerLife == 0) {
      drain();
      live();
      expectEverythingCounted();
      ASSERT_FALSE(HasFailure()) << "after " << operation << " operations";
    }
    if (oneIn(100'000)) askForSignatures();
    const std::uint32_t choice = random(100);
    if (choice < 80) {
      noisyCommand();
    } else if (choice < 97) {
      noisyMemory();
    } else {
      noisyRegister();
    }
    if (processor_.device().checksumMode != 0 && oneIn(30)) {
      drain();
      live();  // unsigned commands get nowhere any more
    }
    if (!oneIn(3)) drain();  // else further doorbells meet commands under way
  }
  drain();
  expectEverythingCounted();
  EXPECT_GT(succeeded_, static_cast<std::uint64_t>(kOperations) / 50);
  EXPECT_GT(processor_.refusals().size(), 30U) << "different syndromes";
  // The noise must reach every check, or it proves nothing. A tenth of it misses the rarest.
  if (kOperations < 1'000'000) return;
  for (std::size_t kind = 0; kind < static_cast<std::size_t>(CommandRejection::kCount); ++kind) {
    const auto rejection = static_cast<CommandRejection>(kind);
    const bool reachable = rejection != CommandRejection::kAnswerUnwritable;  // all memory stays mapped
    EXPECT_EQ(processor_.rejections(rejection) > 0, reachable) << name(rejection);
  }
}

}  // namespace
}  // namespace hca::adapter::test
