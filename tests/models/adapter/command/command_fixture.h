// A driver's side of the command interface, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/wire/command.h"
#include "models/wire/command_header.h"
#include "models/wire/device_commands.h"
#include "models/wire/mmio_map.h"
#include "models/wire/port_commands.h"
#include "models/wire/queue_commands.h"
#include "tests/models/adapter/command/fake_host.h"

namespace hca::adapter::test {

/// What a command came back with.
struct Reply {
  bool answered = false;  ///< the owner bit came back
  wire::DeliveryStatus delivery = wire::DeliveryStatus::kOk;
  CommandStatus status = CommandStatus::kInternalError;
  Syndrome syndrome = Syndrome::kNone;
  std::vector<std::uint8_t> output;
  [[nodiscard]] bool ok() const {
    return answered && delivery == wire::DeliveryStatus::kOk && status == CommandStatus::kOk;
  }
  [[nodiscard]] std::uint32_t number() const { return wire::ObjectCommand::Number::get(output); }
};

/// Input of a command, zero but for what `wire::CommandInput::begin` writes.
inline std::vector<std::uint8_t> makeInput(wire::CommandOpcode opcode, std::size_t size = 16,
                                           std::uint32_t modifier = 0) {
  std::vector<std::uint8_t> input(size);
  wire::CommandInput::begin(input, opcode, modifier);
  return input;
}
inline std::vector<std::uint8_t> makeNumberInput(wire::CommandOpcode opcode, std::uint32_t number) {
  std::vector<std::uint8_t> input = makeInput(opcode);
  wire::ObjectCommand::Number::set(input, number);
  return input;
}

class CommandFixture : public testing::Test {
 public:
  static AdapterIdentity identity() {
    AdapterIdentity identity;
    identity.nodeGuid = 0x0002'C903'0001'0000;
    identity.systemImageGuid = 0x0002'C903'0001'0003;
    PortIdentity port;
    port.guid = 0x0002'C903'0001'0001;
    port.lid = Lid(7);
    port.subnetManagerLid = Lid(1);
    port.gids = {{0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0xC9, 3, 0, 1, 0, 1}};
    identity.ports = {port};
    return identity;
  }

 protected:
  static constexpr std::uint32_t kUars = 32;

  explicit CommandFixture(AdapterIdentity who = identity(), Bytes deviceMemory = Bytes(0))
      : deviceMemory_(deviceMemory), identity_(std::move(who)) {
    calendar_.runUntil(config_.bootTime);
  }

  static CommandConfig configuration() {
    CommandConfig config;
    config.bootPages = 4;
    config.initPages = 70;  // with its header more than two mailbox blocks
    return config;
  }

  // ---- registers
  void writeRegister(std::uint64_t offset, std::uint32_t value) {
    std::uint8_t bytes[4];
    wire::storeBigEndian(bytes, value);
    processor_.writeRegister(offset, {bytes, sizeof bytes});
  }
  std::uint32_t readRegister(std::uint64_t offset) {
    std::uint8_t bytes[4];
    processor_.readRegister(offset, {bytes, sizeof bytes});
    return wire::loadBigEndian<std::uint32_t>(bytes);
  }
  void setQueue() {
    writeRegister(wire::InitSegment::kCommandQueueHigh, static_cast<std::uint32_t>(queue_.value() >> 32));
    writeRegister(wire::InitSegment::kCommandQueueLow, static_cast<std::uint32_t>(queue_.value()));
  }
  void ring(std::uint32_t slots) { writeRegister(wire::InitSegment::kCommandDoorbell, slots); }

  // ---- queue entries and mailboxes
  [[nodiscard]] BusAddress entryAddress(std::uint32_t slot) const { return advance(queue_, slot * 64ULL); }

  /// A chain for `length` bytes; 0 if they fit inline. Two blocks a page.
  BusAddress makeChain(std::size_t length, ByteView data, std::uint8_t token) {
    const std::size_t blocks = wire::mailboxBlocks(length);
    std::vector<BusAddress> addresses;
    while (addresses.size() < blocks) {
      const BusAddress page = memory_.allocate();
      addresses.push_back(page);
      addresses.push_back(advance(page, 1024));
    }
    for (std::size_t n = 0; n < blocks; ++n) {
      wire::MailboxBlock block;
      const std::size_t at = wire::kCommandInlineSize + n * wire::kMailboxDataSize;
      if (at < data.size()) {
        std::copy_n(data.begin() + at, std::min(data.size() - at, wire::kMailboxDataSize), block.data);
      }
      block.next = wire::Be64(n + 1 < blocks ? addresses[n + 1].value() : 0);
      block.blockNumber = wire::Be32(static_cast<std::uint32_t>(n));
      block.token = token;
      if (signs_) wire::sign(block);
      memory_.store(addresses[n], block);
    }
    return blocks == 0 ? BusAddress() : addresses[0];
  }
  wire::CommandEntry makeEntry(ByteView input, std::size_t outputLength, std::uint8_t token = 0x5A) {
    wire::CommandEntry entry;
    entry.type = wire::CommandEntry::kTypePcie;
    entry.inputLength = wire::Be32(static_cast<std::uint32_t>(input.size()));
    std::copy_n(input.begin(), std::min(input.size(), wire::kCommandInlineSize), entry.input);
    entry.inputMailbox = wire::Be64(makeChain(input.size(), input, token).value());
    entry.outputMailbox = wire::Be64(makeChain(outputLength, {}, token).value());
    entry.outputLength = wire::Be32(static_cast<std::uint32_t>(outputLength));
    entry.token = token;
    entry.statusOwner = 1;
    if (signs_) wire::sign(entry);
    return entry;
  }
  Reply collect(std::uint32_t slot) {
    Reply reply;
    const auto entry = memory_.load<wire::CommandEntry>(entryAddress(slot));
    reply.answered = !wire::CommandEntry::HardwareOwned::get(entry.statusOwner);
    reply.delivery = wire::CommandEntry::Status::get(entry.statusOwner);
    const std::size_t length = entry.outputLength.host();
    reply.output.assign(entry.output, entry.output + std::min(length, wire::kCommandInlineSize));
    BusAddress next(entry.outputMailbox.host());
    while (reply.output.size() < length && next.value() != 0) {
      const auto block = memory_.load<wire::MailboxBlock>(next);
      const bool written = reply.delivery == wire::DeliveryStatus::kOk;
      EXPECT_TRUE(!signs_ || !written || wire::isSigned(block)) << "answer block not signed";
      const std::size_t part = std::min(length - reply.output.size(), wire::kMailboxDataSize);
      reply.output.insert(reply.output.end(), block.data, block.data + part);
      next = BusAddress(block.next.host());
    }
    EXPECT_TRUE(!reply.answered || wire::isSigned(entry)) << "answer not signed";
    if (reply.output.size() < wire::CommandOutput::kMinimumSize) return reply;
    reply.status = static_cast<CommandStatus>(wire::CommandOutput::Status::get(reply.output));
    reply.syndrome = static_cast<Syndrome>(wire::CommandOutput::Syndrome::get(reply.output));
    return reply;
  }
  void drain() {
    while (!calendar_.empty()) calendar_.step();
  }

  /// Posts, rings, waits and collects.
  Reply issue(ByteView input, std::size_t outputLength = 16, std::uint32_t slot = 0) {
    memory_.store(entryAddress(slot), makeEntry(input, outputLength));
    ring(1U << slot);
    drain();
    EXPECT_TRUE(processor_.idle());
    return collect(slot);
  }
  Reply issue(const wire::CommandEntry& entry, std::uint32_t slot = 0) {
    memory_.store(entryAddress(slot), entry);
    ring(1U << slot);
    drain();
    EXPECT_TRUE(processor_.idle());
    return collect(slot);
  }
  /// A command of one number that must succeed; returns the number of its output.
  std::uint32_t allocate(wire::CommandOpcode opcode) {
    const Reply reply = issue(makeInput(opcode));
    EXPECT_TRUE(reply.ok());
    return reply.number();
  }
  void expectRefusal(const Reply& reply, CommandStatus status, Syndrome syndrome) {
    EXPECT_TRUE(reply.answered);
    EXPECT_EQ(reply.delivery, wire::DeliveryStatus::kOk);
    EXPECT_EQ(static_cast<int>(reply.status), static_cast<int>(status)) << name(reply.status);
    EXPECT_EQ(static_cast<std::uint32_t>(reply.syndrome), static_cast<std::uint32_t>(syndrome));
  }

  // ---- bring-up
  void enable() {
    setQueue();
    ASSERT_TRUE(issue(makeInput(wire::CommandOpcode::kEnableHca), 12).ok());
  }
  Reply givePages(const std::vector<BusAddress>& pages) {
    auto input = makeInput(wire::CommandOpcode::kManagePages, 16 + pages.size() * 8,
                           static_cast<std::uint32_t>(wire::PagesOperation::kGive));
    wire::ManagePagesInput::Entries::set(input, static_cast<std::uint32_t>(pages.size()));
    for (std::size_t n = 0; n < pages.size(); ++n) wire::ManagePagesInput::Pages::set(input, n, pages[n].value());
    return issue(input);
  }
  std::uint32_t queryPages(wire::PagesKind kind) {
    const Reply reply = issue(makeInput(wire::CommandOpcode::kQueryPages, 16, static_cast<std::uint32_t>(kind)));
    EXPECT_TRUE(reply.ok());
    return wire::QueryPagesOutput::Pages::get(reply.output);
  }
  void giveMissing(wire::PagesKind kind) {
    std::vector<BusAddress> pages(queryPages(kind));
    for (BusAddress& page : pages) {
      page = memory_.allocate();
      given_.push_back(page);
    }
    ASSERT_TRUE(givePages(pages).ok());
  }
  void bringUp() {
    enable();
    giveMissing(wire::PagesKind::kBoot);
    giveMissing(wire::PagesKind::kInit);
    ASSERT_TRUE(issue(makeInput(wire::CommandOpcode::kInitHca)).ok());
  }
  std::vector<std::uint8_t> eqInput(std::uint32_t uar, std::uint64_t events) {
    auto input = makeInput(wire::CommandOpcode::kCreateEq, 0x118);
    const MutableByteView context = wire::CreateEqInput::Context::mutableView(input);
    wire::EventQueueContext::LogSize::set(context, 6);
    wire::EventQueueContext::UarPage::set(context, uar);
    wire::EventQueueContext::Vector::set(context, 2);
    wire::CreateEqInput::EventMask::set(input, 0, events);
    wire::CreateEqInput::Pages::set(input, 0, memory_.allocate().value());
    return input;
  }

  CommandConfig config_ = configuration();
  kernel::Calendar calendar_;
  FakeHostMemory memory_;
  FakeDma dma_{calendar_, memory_};
  observe::Probes probes_;
  kernel::PayloadPool pool_;
  AdapterContext context_{calendar_,    probes_,        pool_, dma_, kernel::ClockDomain(Hertz(1'000'000'000)),
                          HostIndex(0), AdapterIndex(0)};
  CachePort cache_;
  PdTable pds_{64};
  UarTable uars_{UarIndex(wire::kFirstUarIndex), kUars};
  MkeyTable mkeys_{MemoryConfig{}, pds_, cache_};
  DeviceMemory deviceMemory_;
  FakeEqs eqs_;
  FakeCqs cqs_;
  FakeQps qps_;
  FakeSrqs srqs_;
  FakeEvents events_;
  AdapterIdentity identity_;
  CommandProcessor processor_{context_,
                              config_,
                              identity_,
                              AdapterCapabilities{},
                              CommandTargets{pds_, uars_, mkeys_, eqs_, cqs_, qps_, srqs_, deviceMemory_},
                              events_,
                              AdapterClock(kernel::ClockDomain(Hertz(156'250'000)))};
  BusAddress queue_ = memory_.allocate();
  bool signs_ = false;
  std::vector<BusAddress> given_;
};

}  // namespace hca::adapter::test
