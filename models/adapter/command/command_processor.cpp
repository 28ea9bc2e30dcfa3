#include "models/adapter/command/command_processor.h"

#include <algorithm>
#include <cstddef>

#include "models/adapter/command/command_table.h"

namespace hca::adapter {
namespace {

using wire::CommandEntry;
using wire::DeliveryStatus;
using wire::MailboxBlock;

constexpr std::uint32_t kControlOffset = offsetof(MailboxBlock, reserved0);
constexpr std::uint32_t kControlSize = sizeof(MailboxBlock) - kControlOffset;
constexpr std::uint8_t kSignedSum = 0xFF;

/// The part of a block that is signed on its own: everything behind the data but the signature.
bool isControlSigned(const MailboxBlock& block) {
  return wire::xor8(bytesOf(block).subview(kControlOffset, kControlSize - 1)) == kSignedSum;
}

bool hasClearReservedFields(const CommandEntry& entry) {
  return entry.reserved1 == 0 && std::all_of(std::begin(entry.reserved0), std::end(entry.reserved0),
                                             [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

CommandProcessor::CommandProcessor(const AdapterContext& context, const CommandConfig& config,
                                   const AdapterIdentity& identity, const AdapterCapabilities& capabilities,
                                   const CommandTargets& targets, EventPort& events, const AdapterClock& clock)
    : context_(context),
      config_(config),
      device_(config, identity, capabilities, targets, clock.frequency()),
      segment_(identity, clock, config.healthPeriod, config.commandTimeout),
      events_(events),
      executionTimer_(context.calendar, kernel::Priority::kAdapter, *this, &CommandProcessor::prepare),
      readyAt_(context.now() + config.bootTime),
      late_(context.calendar, kernel::Priority::kAdapter, *this, &CommandProcessor::onLate) {}

// ---- registers

void CommandProcessor::writeRegister(std::uint64_t offset, ByteView bytes) {
  constexpr std::size_t kRegister = 4;
  const bool whole = (bytes.size() == kRegister || bytes.size() == 2 * kRegister) && offset % bytes.size() == 0;
  if (!whole) return reject(CommandRejection::kRegisterWidth, {});
  for (std::size_t n = 0; n < bytes.size(); n += kRegister) {
    writeOneRegister(offset + n, wire::loadBigEndian<std::uint32_t>(bytes.data() + n));
  }
}

void CommandProcessor::writeOneRegister(std::uint64_t offset, std::uint32_t value) {
  const RegisterEffect effect = segment_.write(offset, value);
  switch (effect.kind) {
    case RegisterEffect::Kind::kNone:
      return;
    case RegisterEffect::Kind::kDoorbell:
      return ring(effect.slots);
    case RegisterEffect::Kind::kDisable:
      abandonAll();
      device_.destroyObjects(GenerationEnd::kDisable);
      device_.powerOn();
      return;
    case RegisterEffect::Kind::kIgnored:
      return reject(CommandRejection::kRegisterNotWritable, {});
  }
}

void CommandProcessor::readRegister(std::uint64_t offset, MutableByteView into) const {
  segment_.read(offset, into, context_.now(), ready(), pendingSlots_);
}

void CommandProcessor::reset() {
  abandonAll();
  segment_.reset();
  device_.destroyObjects(GenerationEnd::kReset);
  device_.powerOn();
  readyAt_ = context_.now() + config_.bootTime;
}

void CommandProcessor::restart() {
  reset();
  segment_.disable();
}

void CommandProcessor::abandonAll() {
  ++generation_;
  overdue_.clear();
  executionTimer_.cancel();
  queue_.clear();
  pendingSlots_ = 0;
  phase_ = Phase::kIdle;
}

// ---- queue

void CommandProcessor::ring(std::uint32_t slots) {
  for (std::uint32_t slot = 0; slot < InitSegment::kEntries; ++slot) {
    const std::uint32_t bit = 1U << slot;
    if ((slots & bit) == 0) continue;
    if (!ready()) {
      reject(CommandRejection::kNotReady, slot);
    } else if (!segment_.hasQueue()) {
      reject(CommandRejection::kNoQueue, slot);
    } else if ((pendingSlots_ & bit) != 0) {
      reject(CommandRejection::kSlotBusy, slot);
    } else {
      pendingSlots_ |= bit;
      queue_.push_back({slot, context_.now()});
    }
  }
  startNext();
}

void CommandProcessor::startNext() {
  if (phase_ != Phase::kIdle) return;
  if (!overdue_.empty()) {
    active_ = std::move(overdue_.front());
    overdue_.pop_front();
    phase_ = Phase::kExecute;
    return prepareExecution();
  }
  if (queue_.empty()) return;
  active_ = Active{};
  active_.doorbell = queue_.front();
  queue_.pop_front();
  active_.address = advance(segment_.queueAddress(), std::uint64_t{active_.doorbell.slot} << InitSegment::kLogStride);
  phase_ = Phase::kEntry;
  read(active_.address, sizeof(CommandEntry));
}

void CommandProcessor::finish() {
  pendingSlots_ &= ~(1U << active_.doorbell.slot);
  phase_ = Phase::kIdle;
  startNext();
}

void CommandProcessor::onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) {
  if (token != generation_) return;  // of before a reset
  const bool readable = status == host::DmaStatus::kOk;
  switch (phase_) {
    case Phase::kEntry:
      if (readable) return onEntry(data);
      reject(CommandRejection::kEntryUnreadable, active_.doorbell.slot);
      return finish();
    case Phase::kInput:
      if (readable) return onInputBlock(data);
      return fail(DeliveryStatus::kFirmwareError, CommandRejection::kMailboxUnreadable);
    case Phase::kOutput:
      if (readable) return onOutputBlock(data);
      return fail(DeliveryStatus::kFirmwareError, CommandRejection::kMailboxUnreadable);
    case Phase::kIdle:
    case Phase::kExecute:
      return;
  }
}

// ---- entry and mailboxes

void CommandProcessor::onEntry(ByteView data) {
  active_.entry = structFrom<CommandEntry>(data);
  if (!CommandEntry::HardwareOwned::get(active_.entry.statusOwner)) {
    reject(CommandRejection::kEntryNotOwned, active_.doorbell.slot);
    return finish();
  }
  if (!checkEntry()) return;
  const auto length = active_.entry.inputLength.host();
  active_.input.reserve(length);
  const std::size_t inlined = std::min<std::size_t>(length, wire::kCommandInlineSize);
  active_.input.assign(active_.entry.input, active_.entry.input + inlined);
  active_.output.assign(active_.entry.outputLength.host(), 0);
  active_.next = BusAddress(active_.entry.inputMailbox.host());
  phase_ = Phase::kInput;
  readInputBlock();
}

bool CommandProcessor::checkEntry() {
  const CommandEntry& entry = active_.entry;
  const auto most = static_cast<std::uint64_t>(config_.maxMessage.count());
  const std::uint64_t inputLength = entry.inputLength.host();
  const std::uint64_t outputLength = entry.outputLength.host();
  if (entry.type != CommandEntry::kTypePcie) {
    fail(DeliveryStatus::kBadDescriptorType, CommandRejection::kDescriptorType);
  } else if (!hasClearReservedFields(entry)) {
    fail(DeliveryStatus::kReservedFieldNotClear, CommandRejection::kReservedField);
  } else if (signsEverything() && !wire::isSigned(entry)) {
    fail(DeliveryStatus::kSignatureError, CommandRejection::kSignature);
  } else if (inputLength < wire::CommandInput::kMinimumSize || inputLength > most) {
    fail(DeliveryStatus::kInputLengthError, CommandRejection::kInputLength);
  } else if (outputLength < wire::CommandOutput::kMinimumSize || outputLength > most) {
    fail(DeliveryStatus::kOutputLengthError, CommandRejection::kOutputLength);
  } else {
    return true;
  }
  return false;
}

bool CommandProcessor::checkPointer(BusAddress address, DeliveryStatus status, CommandRejection kind) {
  const bool good = address.value() != 0 && address.value() % CommandEntry::kMailboxAlignment == 0;
  if (!good) fail(status, kind);
  return good;
}

void CommandProcessor::readInputBlock() {
  if (active_.input.size() == active_.entry.inputLength.host()) return startOutput();
  // The number of blocks follows from the length and each must carry its number: a chain that loops ends here too.
  if (!checkPointer(active_.next, DeliveryStatus::kInputPointerAlignment, CommandRejection::kInputPointer)) return;
  read(active_.next, sizeof(MailboxBlock));
}

void CommandProcessor::onInputBlock(ByteView data) {
  const auto block = structFrom<MailboxBlock>(data);
  if (block.token != active_.entry.token) return fail(DeliveryStatus::kTokenError, CommandRejection::kToken);
  if (block.blockNumber.host() != active_.inputBlocks) {
    return fail(DeliveryStatus::kBadBlockNumber, CommandRejection::kBlockNumber);
  }
  if (signsEverything() && !wire::isSigned(block)) {
    return fail(DeliveryStatus::kSignatureError, CommandRejection::kSignature);
  }
  ++active_.inputBlocks;
  const std::size_t left = active_.entry.inputLength.host() - active_.input.size();
  active_.input.insert(active_.input.end(), block.data, block.data + std::min(left, wire::kMailboxDataSize));
  active_.next = BusAddress(block.next.host());
  readInputBlock();
}

void CommandProcessor::startOutput() {
  active_.next = BusAddress(active_.entry.outputMailbox.host());
  phase_ = Phase::kOutput;
  readOutputBlock();
}

void CommandProcessor::readOutputBlock() {
  if (active_.blocks.size() == wire::mailboxBlocks(active_.output.size())) {
    phase_ = Phase::kExecute;
    return executionTimer_.set(context_.now() + executionTime(config_, active_.input));
  }
  if (!checkPointer(active_.next, DeliveryStatus::kOutputPointerAlignment, CommandRejection::kOutputPointer)) return;
  read(advance(active_.next, kControlOffset), kControlSize);
}

void CommandProcessor::onOutputBlock(ByteView data) {
  MailboxBlock block;
  std::memcpy(block.reserved0, data.data(), kControlSize);
  if (block.token != active_.entry.token) return fail(DeliveryStatus::kTokenError, CommandRejection::kToken);
  if (block.blockNumber.host() != active_.blocks.size()) {
    return fail(DeliveryStatus::kBadBlockNumber, CommandRejection::kBlockNumber);
  }
  if (signsEverything() && !isControlSigned(block)) {
    return fail(DeliveryStatus::kSignatureError, CommandRejection::kSignature);
  }
  active_.blocks.push_back({active_.next, block});
  active_.next = BusAddress(block.next.host());
  readOutputBlock();
}

// ---- execution and answer

void CommandProcessor::prepare() {
  if (const auto fault = faults_.next(wire::CommandInput::opcode(active_.input))) return goWrong(*fault);
  prepareExecution();
}

void CommandProcessor::prepareExecution() {
  prepareCommand(device_, active_.input, active_.output.size(), [this, generation = generation_] {
    if (generation == generation_) execute();
  });
}

void CommandProcessor::execute() {
  active_.answersByEvent = device_.targets.eqs.accepts(EventType::kCommand);
  const CommandResult result = executeCommand(device_, active_.input, active_.output);
  count(result);
  writeOutput();
  answer(DeliveryStatus::kOk);
  tell(result);
  finish();
}

void CommandProcessor::fail(DeliveryStatus status, CommandRejection kind) {
  count(kind);
  active_.answersByEvent = device_.targets.eqs.accepts(EventType::kCommand);
  answer(status);
  tell(status, kind);
  finish();
}

void CommandProcessor::writeOutput() {
  const ByteView output = active_.output;
  const std::size_t inlined = std::min(output.size(), wire::kCommandInlineSize);
  std::copy_n(output.begin(), inlined, active_.entry.output);
  std::size_t at = inlined;
  for (OutputBlock& out : active_.blocks) {
    const std::size_t length = std::min(output.size() - at, wire::kMailboxDataSize);
    std::copy_n(output.begin() + at, length, out.block.data);
    at += length;
    if (signsEverything()) {
      wire::sign(out.block);
      write(out.address, bytesOf(out.block));
    } else {
      write(out.address, {out.block.data, length});
    }
  }
  write(advance(active_.address, offsetof(CommandEntry, output)), {active_.entry.output, wire::kCommandInlineSize});
}

void CommandProcessor::answer(DeliveryStatus status) {
  constexpr std::size_t kLastDword = offsetof(CommandEntry, token);
  CommandEntry& entry = active_.entry;
  entry.statusOwner = CommandEntry::Status::make(status);  // and the owner bit clear
  wire::sign(entry);
  write(advance(active_.address, kLastDword), bytesOf(entry).subview(kLastDword, sizeof entry - kLastDword));
  // The command that creates the command event queue, or destroys it, is polled for: its event would meet a driver that
  // is not yet, or no longer, waiting for one.
  if (!active_.answersByEvent || !device_.targets.eqs.accepts(EventType::kCommand)) return;
  EventRecord event;
  event.type = EventType::kCommand;
  event.value = std::uint64_t{1} << active_.doorbell.slot;
  events_.raise(event);
}

void CommandProcessor::count(const CommandResult& result) {
  ++executed_;
  ++commands_[wire::CommandInput::opcode(active_.input)];
  ++statuses_[result.status];
  if (!result.ok()) ++refusals_[result.syndrome];
}

// ---- what others want to know

CommandRecord CommandProcessor::record() const {
  CommandRecord record;
  record.rung = active_.doorbell.rung;
  record.answered = context_.now();
  record.host = context_.host;
  record.adapter = context_.adapter;
  record.slot = active_.doorbell.slot;
  if (active_.input.size() < wire::CommandInput::kMinimumSize) return record;
  record.opcode = wire::CommandInput::opcode(active_.input);
  record.name = wire::name(record.opcode);
  record.input = active_.input;
  return record;
}

void CommandProcessor::tell(const CommandResult& result) {
  if (!context_.probes.command.hasListeners()) return;
  CommandRecord done = record();
  done.result = result;
  done.output = active_.output;
  context_.probes.command.fire([&done] { return observe::CommandEvent{&done}; });
}

void CommandProcessor::tell(DeliveryStatus status, std::optional<CommandRejection> kind) {
  if (!context_.probes.command.hasListeners()) return;
  CommandRecord failed = record();
  failed.rejection = kind;
  failed.delivery = status;
  context_.probes.command.fire([&failed] { return observe::CommandEvent{&failed}; });
}

void CommandProcessor::reject(CommandRejection kind, std::optional<std::uint32_t> slot) {
  count(kind);
  if (!context_.probes.command.hasListeners()) return;
  CommandRecord record;
  record.rung = record.answered = context_.now();
  record.host = context_.host;
  record.adapter = context_.adapter;
  record.slot = slot;
  record.rejection = kind;
  context_.probes.command.fire([&record] { return observe::CommandEvent{&record}; });
}

AdapterAccount CommandProcessor::account() const {
  AdapterAccount account;
  account.state = device_.state;
  account.objects = device_.account.counts();
  account.pages = device_.pages.count();
  account.generations = device_.account.generations();
  account.left = device_.account.left();
  account.commands = commands_;
  account.statuses = statuses_;
  account.rejections = rejections_;
  return account;
}

// ---- DMA

void CommandProcessor::onDmaWritten(std::uint64_t, host::DmaStatus) { reject(CommandRejection::kAnswerUnwritable, {}); }

void CommandProcessor::read(BusAddress address, std::uint32_t length) {
  pcie::DmaRead request;
  request.address = address;
  request.length = length;
  request.traffic = pcie::Traffic::kCommand;
  request.client = this;
  request.token = generation_;
  context_.dma.read(request);
}

void CommandProcessor::write(BusAddress address, ByteView data) {
  pcie::DmaWrite request;
  request.address = address;
  request.data = data;
  request.length = static_cast<std::uint32_t>(data.size());
  request.traffic = pcie::Traffic::kCommand;
  request.client = this;  // told of failures alone
  context_.dma.write(request);
}

}  // namespace hca::adapter
