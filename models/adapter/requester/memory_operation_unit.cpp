#include "models/adapter/requester/memory_operation_unit.h"

#include <algorithm>
#include <cstring>

#include "models/adapter/transport/vendor_errors.h"
#include "models/wire/memory_key_context.h"

namespace hca::adapter {

namespace {

using Control = wire::UmrControlSegment;

constexpr unsigned kPieceBits = 32;
constexpr std::size_t kContextOffset = sizeof(Control);
constexpr std::size_t kListOffset = kContextOffset + wire::MemoryKeyContext::kSize;
constexpr std::uint32_t kTwoGigabytes = 0x80000000;

Control controlOf(ByteView segments) { return structFrom<Control>(segments); }

/// Bytes of translations that the request brings.
std::size_t listBytes(const Control& control) {
  return std::size_t{control.translationOctwords.host()} * wire::kSegmentUnit;
}

bool isCompleteListOperation(ByteView segments) {
  using wire::TagSegment;
  if (segments.size() < sizeof(TagSegment)) return false;
  const bool appends = TagSegment::Operation::get(segments[0]) == wire::TagListOperation::kAppend;
  return !appends || segments.size() >= sizeof(TagSegment) + sizeof(wire::DataSegment);
}

MemoryOperationResult failed(CqeSyndrome syndrome, std::uint8_t vendorError) { return {false, syndrome, vendorError}; }

}  // namespace

MemoryOperationUnit::MemoryOperationUnit(const AdapterContext& context, const DatapathConfig& config,
                                         Translator& translator, MemoryKeyPort& keys, QpLookup& queuePairs)
    : context_(context),
      config_(config),
      translator_(translator),
      keys_(keys),
      queuePairs_(queuePairs),
      due_(context.calendar, kernel::Priority::kAdapter, *this, &MemoryOperationUnit::finish) {}

std::uint32_t MemoryOperationUnit::allocate() {
  if (freeSlots_.empty()) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t index = freeSlots_.back();
  freeSlots_.pop_back();
  slots_[index] = Slot{};
  return index;
}

void MemoryOperationUnit::execute(const QueuePair& qp, const SendRequest& request) {
  const std::uint32_t index = allocate();
  Slot& slot = slots_[index];
  slot.qp = qp.number;
  slot.epoch = qp.send.epoch;
  slot.opcode = request.opcode;
  slot.request = request.index;
  slot.key = MemoryKey(request.immediateOrKey);
  slot.segments = context_.pool.copyOf(request.inlineData.view());
  if (!isComplete(slot)) slot.result = failed(CqeSyndrome::kLocalQpOperation, vendor_error::kMalformedWqe);
  const bool reads = slot.result.ok && slot.opcode == SendOpcode::kUmr &&
                     !Control::Inline::get(controlOf(slot.segments.view()).flags) &&
                     listBytes(controlOf(slot.segments.view())) > 0;
  if (reads && !locateList(qp, slot)) {
    slot.result = failed(CqeSyndrome::kLocalProtection, vendor_error::kLocalProtection);
  }
  if (reads && slot.result.ok) return readList(index);
  due_.send(context_.after(config_.memoryOperationCycles), index);
}

bool MemoryOperationUnit::isComplete(const Slot& slot) {
  if (slot.opcode == SendOpcode::kLocalInvalidate || slot.opcode == SendOpcode::kNop) return true;
  const ByteView segments = slot.segments.view();
  if (slot.opcode == SendOpcode::kTagMatching) return isCompleteListOperation(segments);
  if (segments.size() < kListOffset) return false;
  const Control control = controlOf(segments);
  std::size_t announced = segments.size() - kListOffset;
  if (!Control::Inline::get(control.flags)) {
    announced = 0;
    for (std::size_t at = kListOffset; at + sizeof(wire::DataSegment) <= segments.size();
         at += sizeof(wire::DataSegment)) {
      const auto data = structFrom<wire::DataSegment>(segments.subview(at, sizeof(wire::DataSegment)));
      const std::uint32_t length = wire::DataSegment::Length::get(data.byteCount);
      announced += length == 0 ? kTwoGigabytes : length;
    }
  }
  return announced >= listBytes(control);
}

// Fills pieces_ with where the translations are in host memory.
bool MemoryOperationUnit::locateList(const QueuePair& qp, const Slot& slot) {
  pieces_.clear();
  const ByteView segments = slot.segments.view();
  std::size_t left = listBytes(controlOf(segments));
  for (std::size_t at = kListOffset; left > 0; at += sizeof(wire::DataSegment)) {
    const auto data = structFrom<wire::DataSegment>(segments.subview(at, sizeof(wire::DataSegment)));
    const std::uint32_t length = wire::DataSegment::Length::get(data.byteCount);
    const std::size_t take = length == 0 ? left : std::min<std::size_t>(left, length);
    AccessRequest access{MemoryKey(data.key.host()), qp.attributes.pd, qp.number, data.address.host(), take,
                         Access::kLocalRead};
    access.isPrivileged = qp.attributes.service == QpService::kRegisteredUmr;
    if (translator_.translate(access, pieces_).fault != AccessFault::kNone) return false;
    left -= take;
  }
  return true;
}

void MemoryOperationUnit::readList(std::uint32_t index) {
  Slot& slot = slots_[index];
  slot.list = context_.pool.acquire(listBytes(controlOf(slot.segments.view())));
  slot.readsPending = static_cast<std::uint32_t>(pieces_.size());
  std::uint32_t offset = 0;
  for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
    slot.offsets.push_back(offset);
    offset += pieces_[piece].length;
    pcie::DmaRead read;
    read.address = pieces_[piece].address;
    read.length = pieces_[piece].length;
    read.traffic = pcie::Traffic::kWqe;
    read.client = this;
    read.token = (std::uint64_t{index} << kPieceBits) | piece;
    context_.dma.read(read);
  }
}

void MemoryOperationUnit::onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) {
  const auto index = static_cast<std::uint32_t>(token >> kPieceBits);
  Slot& slot = slots_[index];
  if (status == host::DmaStatus::kOk) {
    const std::uint32_t offset = slot.offsets[static_cast<std::uint32_t>(token)];
    std::memcpy(slot.list.mutableView().data() + offset, data.data(), data.size());
  } else {
    slot.result = failed(CqeSyndrome::kLocalProtection, vendor_error::kUnreadableMemory);
  }
  if (--slot.readsPending == 0) due_.send(context_.after(config_.memoryOperationCycles), index);
}

void MemoryOperationUnit::finish(std::uint32_t& index) {
  Slot& slot = slots_[index];
  QueuePair* qp = queuePairs_.find(slot.qp);
  const bool goesOn = qp != nullptr && qp->send.epoch == slot.epoch && qp->isSending();
  if (goesOn && slot.result.ok) slot.result = apply(slot, *qp);
  const MemoryOperationResult result = slot.result;
  slot = Slot{};
  freeSlots_.push_back(index);
  if (goesOn) listener_->onMemoryOperationDone(*qp, result);
}

MemoryOperationResult MemoryOperationUnit::apply(const Slot& slot, const QueuePair& qp) {
  if (slot.opcode == SendOpcode::kNop) return {};
  if (slot.opcode == SendOpcode::kTagMatching) return tags_->execute(qp, slot.request, slot.segments.view());
  if (changeKey(slot, qp) == KeyFault::kNone) return {};
  return failed(CqeSyndrome::kMemoryWindowBind, vendor_error::kMemoryKeyRefused);
}

KeyFault MemoryOperationUnit::changeKey(const Slot& slot, const QueuePair& qp) {
  if (slot.opcode == SendOpcode::kLocalInvalidate) {
    return keys_.invalidate({slot.key, qp.attributes.pd, qp.number, false});
  }
  const ByteView segments = slot.segments.view();
  const Control control = controlOf(segments);
  const std::size_t bytes = listBytes(control);
  KeyUpdate update;
  update.key = slot.key;
  update.pd = qp.attributes.pd;
  update.qp = qp.number;
  update.isPrivileged = qp.attributes.service == QpService::kRegisteredUmr;
  update.mustBeFree = Control::MustBeFree::get(control.flags);
  update.mustBeValid = Control::MustBeValid::get(control.flags);
  update.mustBeOwn = Control::MustBeOwn::get(control.flags);
  update.mask = control.keyMask.host();
  update.context = segments.subview(kContextOffset, wire::MemoryKeyContext::kSize);
  update.translations = Control::Inline::get(control.flags) ? segments.subview(kListOffset, bytes) : slot.list.view();
  update.partial = Control::TranslationOffset::get(control.flags);
  if (update.partial) {
    update.offset = std::uint64_t{control.translationOffsetHigh.host()} << 16 | control.translationOffset.host();
  }
  return keys_.update(update);
}

}  // namespace hca::adapter
