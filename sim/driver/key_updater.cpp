#include "sim/driver/key_updater.h"

#include <algorithm>
#include <utility>

#include "models/adapter/memory/mkey_context.h"
#include "models/wire/cqe.h"
#include "models/wire/doorbell.h"
#include "models/wire/memory_key_context.h"
#include "models/wire/mmio_map.h"
#include "models/wire/wqe.h"
#include "sim/driver/client_tables.h"
#include "sim/driver/page_list_of.h"

namespace hca::driver {
namespace {

using adapter::CommandResult;
using adapter::CommandStatus;
using adapter::QpTransition;

constexpr std::uint32_t kEntries = 4;
constexpr std::uint32_t kBlocks = 16;
constexpr CommandResult kRefused{CommandStatus::kBadParameter, adapter::Syndrome::kNone};

// The pages of a key as work requests bring them: padded to 64 bytes, the unit of such lists.
std::vector<std::uint8_t> translationsOf(const adapter::MkeyAttributes& key) {
  constexpr std::size_t kUnit = 64;
  std::vector<std::uint8_t> list((key.pages.size() * wire::TranslationEntry::kSize + kUnit - 1) / kUnit * kUnit);
  std::uint8_t* at = list.data();
  for (const BusAddress page : key.pages) {
    wire::storeBigEndian(at,
                         page.value() | wire::TranslationEntry::kReadEnabled | wire::TranslationEntry::kWriteEnabled);
    at += wire::TranslationEntry::kSize;
  }
  return list;
}

}  // namespace

adapter::QpAttributes KeyUpdater::qpAttributes() {
  const std::uint64_t length = std::uint64_t{kBlocks} * wire::kSendBlockSize;
  qpRing_ = memory_.allocate(length);
  qpRecord_ = records_.allocate();
  adapter::QpAttributes attributes;
  attributes.service = adapter::QpService::kRegisteredUmr;
  attributes.pd = pd_;
  attributes.uar = uar_;
  attributes.logSendQueueSize = static_cast<std::uint8_t>(logOf(kBlocks));
  attributes.receiveQueueType = adapter::RqType::kNone;
  attributes.buffer = pageListOf(qpRing_, length);
  attributes.doorbellRecord = qpRecord_.bus;
  attributes.sendCq = attributes.receiveCq = cq_;
  return attributes;
}

void KeyUpdater::prepare(const Sequence::Next& next) {
  owner_ = driver_.addClient(*this, "driver");
  nextBlock_ = consumerIndex_ = events_ = 0;
  using Next = Sequence::Next;
  const auto into = [](auto& number, const Next& goOn) {
    return [&number, goOn](const auto& answer) {
      number = answer.value;
      goOn(answer.result);
    };
  };
  const auto change = [this](QpTransition transition) {
    return [this, transition](const Next& goOn) {
      driver_.modifyQp(owner_, qp_, transition, 0, adapter::QpAttributes{},
                       [goOn](const Answer<int>& answer) { goOn(answer.result); });
    };
  };
  adapter::MkeyAttributes hostMemory;
  hostMemory.mode = adapter::MkeyMode::kPhysical;
  hostMemory.rights.localRead = true;
  hostMemory.anyLength = true;
  Sequence::run({[=](const Next& goOn) { driver_.allocatePd(owner_, into(pd_, goOn)); },
                 [=](const Next& goOn) {
                   adapter::MkeyAttributes key = hostMemory;
                   key.pd = pd_;
                   driver_.createMkey(owner_, key, into(hostMemory_, goOn));
                 },
                 [=](const Next& goOn) {
                   driver_.createCq(owner_, completionQueue_.allocate(memory_, records_, uar_, kEntries), 0,
                                    into(cq_, goOn));
                 },
                 [=](const Next& goOn) { driver_.createQp(owner_, qpAttributes(), into(qp_, goOn)); },
                 change(QpTransition::kResetToInit), change(QpTransition::kInitToReadyToReceive),
                 change(QpTransition::kReadyToReceiveToReadyToSend)},
                [this, next](CommandResult result) {
                  isReady_ = result.ok();
                  next(result);
                });
}

void KeyUpdater::update(UarIndex uar, Update update) {
  uar_ = uar;
  waiting_.push_back(std::move(update));
  if (waiting_.size() == 1) runFirst();
}

void KeyUpdater::runFirst() {
  if (isReady_) return post();
  prepare([this](CommandResult result) {
    if (result.ok()) return post();
    release([this, result] { finish(result); });
  });
}

// Behind the control segment: what changes, the key's context, where the translations are.
std::uint32_t KeyUpdater::writeRequest(const Update& update) {
  std::uint8_t request[3 * wire::kSendBlockSize] = {};
  wire::UmrControlSegment control;
  control.keyMask = wire::Be64(update.mask);
  const std::vector<std::uint8_t> translations = translationsOf(update.attributes);
  control.translationOctwords = wire::Be16(static_cast<std::uint16_t>(translations.size() / wire::kSegmentUnit));
  std::uint32_t bytes = sizeof(wire::ControlSegment);
  std::memcpy(request + bytes, &control, sizeof control);
  bytes += sizeof control;
  adapter::encodeMkeyContext(update.attributes, MutableByteView(request + bytes, wire::MemoryKeyContext::kSize));
  bytes += wire::MemoryKeyContext::kSize;
  if (!translations.empty()) {
    list_ = memory_.allocate(translations.size());
    std::memcpy(list_.bytes, translations.data(), translations.size());
    const wire::DataSegment segment{wire::Be32(static_cast<std::uint32_t>(translations.size())),
                                    wire::Be32(hostMemory_.value()), wire::Be64(list_.bus.value())};
    std::memcpy(request + bytes, &segment, sizeof segment);
    bytes += sizeof segment;
  }
  using Control = wire::ControlSegment;
  Control first;
  first.modifierIndexOpcode = wire::Be32(Control::Index::make(nextBlock_ & wire::kWqeCounterMask) |
                                         Control::Opcode::make(wire::SendOpcode::kUmr));
  first.qpSize =
      wire::Be32(Control::QpNumber::make(qp_.value()) | Control::Size::make(bytes / std::uint32_t{wire::kSegmentUnit}));
  Control::Completion::set(first.fenceCompletionSolicited, wire::CompletionMode::kAlways);
  first.immediate = wire::Be32(update.key.value());
  std::memcpy(request, &first, sizeof first);
  const std::uint32_t blocks = (bytes + wire::kSendBlockSize - 1) / wire::kSendBlockSize;
  for (std::uint32_t block = 0; block < blocks; ++block) {
    std::memcpy(qpRing_.bytes + std::size_t{(nextBlock_ + block) % kBlocks} * wire::kSendBlockSize,
                request + std::size_t{block} * wire::kSendBlockSize, wire::kSendBlockSize);
  }
  return blocks;
}

void KeyUpdater::post() {
  constexpr std::size_t kMostOctwords = 0xFFFF;
  const Update& update = waiting_.front();
  if (translationsOf(update.attributes).size() / wire::kSegmentUnit > kMostOctwords) return finish(kRefused);
  arm();
  const std::uint32_t first = nextBlock_ % kBlocks;
  nextBlock_ += writeRequest(update);
  wire::storeBigEndian(qpRecord_.bytes + offsetof(wire::QpDoorbellRecord, sendCounter),
                       nextBlock_ & wire::kWqeCounterMask);
  driver_.ringDoorbell(uar_, wire::UarPage::kBlueFlame,
                       {qpRing_.bytes + std::size_t{first} * wire::kSendBlockSize, wire::kSendDoorbellSize});
}

void KeyUpdater::arm() {
  wire::CqArm arm;
  arm.cq = cq_.value();
  arm.consumerIndex = consumerIndex_;
  arm.sequence = static_cast<std::uint8_t>(events_ & 3);
  wire::storeBigEndian(completionQueue_.record.bytes + offsetof(wire::CqDoorbellRecord, arm), arm.command());
  std::uint8_t word[8];
  wire::storeBigEndian(word, arm.word());
  driver_.ringDoorbell(uar_, wire::UarPage::kCqArm, {word, sizeof word});
}

void KeyUpdater::onCompletionEvent(CqNumber, host::Core&) {
  ++events_;
  const std::uint8_t* entry = completionQueue_.ring.bytes + std::size_t{consumerIndex_ % kEntries} * sizeof(wire::Cqe);
  const auto cqe = structFrom<wire::Cqe>({entry, sizeof(wire::Cqe)});
  ++consumerIndex_;
  wire::storeBigEndian(completionQueue_.record.bytes + offsetof(wire::CqDoorbellRecord, consumerIndex),
                       consumerIndex_ & 0xFFFFFF);
  if (list_.length != 0) memory_.free(std::exchange(list_, DmaBuffer{}));
  if (wire::OpOwn::Opcode::get(cqe.opOwn) == wire::CqeOpcode::kRequester) return finish({});
  // The queue pair is in error.
  release([this] { finish(kRefused); });
}

void KeyUpdater::finish(CommandResult result) {
  const Update update = std::move(waiting_.front());
  waiting_.pop_front();
  if (!waiting_.empty()) runFirst();
  update.done({result});
}

void KeyUpdater::release(const std::function<void()>& done) {
  if (owner_ == OwnerId()) return done();
  isReady_ = false;
  driver_.releaseOwner(std::exchange(owner_, OwnerId()), [this, done] {
    for (DmaBuffer* buffer : {&completionQueue_.ring, &qpRing_, &list_}) {
      if (buffer->length != 0) memory_.free(std::exchange(*buffer, DmaBuffer{}));
    }
    for (DoorbellRecord* record : {&completionQueue_.record, &qpRecord_}) {
      if (record->bytes != nullptr) records_.free(std::exchange(*record, DoorbellRecord{}));
    }
    done();
  });
}

}  // namespace hca::driver
