#include "sim/driver/send_ring.h"

#include <algorithm>
#include <cassert>

#include "models/wire/doorbell.h"
#include "models/wire/wqe.h"
#include "sim/driver/inline_scatter.h"
#include "sim/driver/window_segments.h"

namespace hca::driver {
namespace {

wire::SendOpcode wireOpcode(SendOpcode opcode) {
  switch (opcode) {
    case SendOpcode::kSend:
      return wire::SendOpcode::kSend;
    case SendOpcode::kSendImmediate:
      return wire::SendOpcode::kSendImmediate;
    case SendOpcode::kSendInvalidate:
      return wire::SendOpcode::kSendInvalidate;
    case SendOpcode::kWrite:
      return wire::SendOpcode::kWrite;
    case SendOpcode::kWriteImmediate:
      return wire::SendOpcode::kWriteImmediate;
    case SendOpcode::kRead:
      return wire::SendOpcode::kRead;
    case SendOpcode::kCompareSwap:
      return wire::SendOpcode::kCompareSwap;
    case SendOpcode::kFetchAdd:
      return wire::SendOpcode::kFetchAdd;
    case SendOpcode::kBindWindow:
    case SendOpcode::kLocalInvalidate:
      return wire::SendOpcode::kUmr;
  }
  return wire::SendOpcode::kNop;
}

bool isAtomic(SendOpcode opcode) { return opcode == SendOpcode::kCompareSwap || opcode == SendOpcode::kFetchAdd; }
bool changesKey(SendOpcode opcode) {
  return opcode == SendOpcode::kBindWindow || opcode == SendOpcode::kLocalInvalidate;
}
/// What the control segment's last word holds.
std::uint32_t immediateOf(const SendWorkRequest& request) {
  return request.opcode == SendOpcode::kBindWindow ? request.bind.window.value() : request.immediateOrKey;
}
bool hasRemoteAddress(SendOpcode opcode) {
  return opcode == SendOpcode::kWrite || opcode == SendOpcode::kWriteImmediate || opcode == SendOpcode::kRead ||
         isAtomic(opcode);
}
bool allowed(QpType type, SendOpcode opcode) {
  switch (type) {
    case QpType::kRc:
    case QpType::kXrcInitiator:
      return true;
    case QpType::kUc:
      return opcode != SendOpcode::kRead && !isAtomic(opcode) && opcode != SendOpcode::kSendInvalidate;
    case QpType::kUd:
      return opcode == SendOpcode::kSend || opcode == SendOpcode::kSendImmediate;
    case QpType::kXrcTarget:
      break;
  }
  return false;
}

// rdma-core providers/mlx5/verbs.c, mlx5_create_ah, and qp.c, set_datagram_seg.
wire::DatagramSegment addressVector(const DatagramTarget& target) {
  using Vector = wire::DatagramSegment;
  const AddressHandle& to = target.address;
  Vector vector;
  vector.queueKey = wire::Be32(target.queueKey);
  vector.destinationQp = wire::Be32(Vector::Extended::make(true) | Vector::QpNumber::make(target.qp.value()));
  vector.rateServiceLevel = Vector::ServiceLevel::make(to.serviceLevel);
  vector.pathBits = to.sourcePathBits & 0x7F;
  vector.remoteLid = wire::Be16(to.lid.value());
  if (!to.globalRoute) return vector;
  vector.trafficClass = to.trafficClass;
  vector.hopLimit = to.hopLimit;
  vector.gidFlow = wire::Be32(Vector::GlobalRoute::make(true) | Vector::SourceGidIndex::make(to.sourceGidIndex) |
                              Vector::FlowLabel::make(to.flowLabel));
  std::copy(to.remoteGid.begin(), to.remoteGid.end(), vector.remoteGid);
  std::copy(to.remoteMac.begin(), to.remoteMac.end(), vector.remoteMac);
  return vector;
}

std::uint64_t inlineLength(const SendWorkRequest& request) {
  std::uint64_t length = 0;
  for (const ScatterGather& piece : request.scatterGather) length += piece.length;
  return length;
}

}  // namespace

/// Puts segments one behind the other, around the end of the ring.
class SendRing::Writer {
 public:
  Writer(SendRing& ring, std::uint64_t index)
      : begin_(ring.blocks_),
        end_(ring.blocks_ + std::size_t{ring.size_.blocks} * wire::kSendBlockSize),
        at_(begin_ + (index & (ring.size_.blocks - 1)) * wire::kSendBlockSize) {}

  template <class Segment>
  void put(const Segment& segment) {
    copy(bytesOf(segment));
  }
  void copy(ByteView bytes) {
    const auto room = static_cast<std::size_t>(end_ - at_);
    const std::size_t first = std::min(room, bytes.size());
    std::memcpy(at_, bytes.data(), first);
    advance(first);
    if (first < bytes.size()) copy(bytes.subview(first, bytes.size() - first));
  }
  /// Zeroes up to the next 16-byte unit.
  void pad() {
    const std::size_t odd = written_ % wire::kSegmentUnit;
    if (odd == 0) return;
    std::memset(at_, 0, wire::kSegmentUnit - odd);
    advance(wire::kSegmentUnit - odd);
  }
  [[nodiscard]] std::uint32_t written() const { return static_cast<std::uint32_t>(written_); }

 private:
  void advance(std::size_t count) {
    at_ += count;
    written_ += count;
    if (at_ == end_) at_ = begin_;
  }

  std::uint8_t* begin_;
  std::uint8_t* end_;
  std::uint8_t* at_;
  std::size_t written_ = 0;
};

SendRing::SendRing(std::uint8_t* blocks, std::uint8_t* counter, const SendQueueSize& size, QpNumber qp, QpType type)
    : blocks_(blocks), counter_(counter), size_(size), qp_(qp), type_(type), slots_(size.blocks) {}

VerbsError SendRing::check(const SendWorkRequest& request, host::MemoryBackend& memory) const {
  if (outstanding() >= size_.maxPosted) return VerbsError::kNoMemory;
  if (request.scatterGather.size() > size_.maxGather) return VerbsError::kNoMemory;
  if (!allowed(type_, request.opcode)) return VerbsError::kInvalid;
  if (!request.inlineData) return VerbsError::kNone;
  if (inlineLength(request) > size_.maxInline) return VerbsError::kNoMemory;
  for (const ScatterGather& piece : request.scatterGather) {
    if (piece.length != 0 && memory.direct(piece.address, piece.length) == nullptr) return VerbsError::kInvalid;
  }
  return VerbsError::kNone;
}

VerbsError SendRing::post(const SendWorkRequest& request, host::MemoryBackend& memory) {
  const VerbsError error = check(request, memory);
  if (error != VerbsError::kNone) return error;
  Writer writer(*this, nextIndex_);
  writer.put(wire::ControlSegment{});  // filled in when the length is known
  if (type_ == QpType::kUd) writer.put(addressVector(request.datagram));
  if (type_ == QpType::kXrcInitiator && !changesKey(request.opcode)) {
    wire::XrcSegment segment;
    segment.sharedQueue = wire::Be32(request.remoteSrq.value());
    writer.put(segment);
  }
  if (hasRemoteAddress(request.opcode)) {
    wire::RemoteAddressSegment remote;
    remote.address = wire::Be64(request.remoteAddress);
    remote.key = wire::Be32(request.remoteKey.value());
    writer.put(remote);
  }
  if (isAtomic(request.opcode)) writeAtomic(request, writer);
  if (changesKey(request.opcode)) {
    const bool binds = request.opcode == SendOpcode::kBindWindow;
    writeWindow(binds ? request.bind : invalidation(MemoryKey(request.immediateOrKey)), writer);
  } else if (request.inlineData) {
    writeInline(request, memory, writer);
  } else {
    writeGather(request, writer);
  }
  writeControl(request, writer.written());
  return VerbsError::kNone;
}

void SendRing::writeWindow(const WindowBind& bind, Writer& writer) const {
  const WindowSegments segments = windowSegments(bind, qp_);
  writer.put(segments.control);
  writer.put(segments.context);
  if (bind.length != 0) writer.put(segments.list);
}

void SendRing::writeAtomic(const SendWorkRequest& request, Writer& writer) {
  const bool swaps = request.opcode == SendOpcode::kCompareSwap;
  wire::AtomicSegment atomic;
  atomic.swapOrAdd = wire::Be64(swaps ? request.swap : request.compareOrAdd);
  atomic.compare = wire::Be64(swaps ? request.compareOrAdd : 0);
  writer.put(atomic);
}

void SendRing::writeInline(const SendWorkRequest& request, host::MemoryBackend& memory, Writer& writer) {
  const auto length = static_cast<std::uint32_t>(inlineLength(request));
  if (length == 0) return;
  writer.put(wire::InlineHeader{
      wire::Be32(wire::InlineHeader::Inline::make(true) | wire::InlineHeader::Length::make(length))});
  for (const ScatterGather& piece : request.scatterGather) {
    if (piece.length != 0) writer.copy({memory.direct(piece.address, piece.length), piece.length});
  }
  writer.pad();
}

// Empty pieces are left out: a zero in the segment would mean 2 GiB.
void SendRing::writeGather(const SendWorkRequest& request, Writer& writer) {
  for (const ScatterGather& piece : request.scatterGather) {
    if (piece.length == 0) continue;
    writer.put(
        wire::DataSegment{wire::Be32(piece.length), wire::Be32(piece.localKey.value()), wire::Be64(piece.address)});
  }
}

void SendRing::writeControl(const SendWorkRequest& request, std::uint32_t bytes) {
  using wire::ControlSegment;
  const auto block = static_cast<std::uint32_t>(nextIndex_) & (size_.blocks - 1);
  ControlSegment control;
  control.modifierIndexOpcode =
      wire::Be32(ControlSegment::Index::make(static_cast<std::uint32_t>(nextIndex_) & wire::kWqeCounterMask) |
                 ControlSegment::Opcode::make(wireOpcode(request.opcode)));
  control.qpSize = wire::Be32(ControlSegment::QpNumber::make(qp_.value()) |
                              ControlSegment::Size::make(bytes / std::uint32_t{wire::kSegmentUnit}));
  std::uint8_t& flags = control.fenceCompletionSolicited;
  if (request.fence) {
    ControlSegment::Fence::set(flags, wire::FenceMode::kSmallAndFence);
  } else if (smallFence_) {
    ControlSegment::Fence::set(flags, wire::FenceMode::kInitiatorSmall);
  }
  smallFence_ = changesKey(request.opcode);
  if (request.signaled) ControlSegment::Completion::set(flags, wire::CompletionMode::kAlways);
  ControlSegment::Solicited::set(flags, request.solicited);
  control.immediate = wire::Be32(immediateOf(request));
  std::memcpy(blocks_ + std::size_t{block} * wire::kSendBlockSize, &control, sizeof control);

  slots_[block] = Slot{request.workRequestId, nextIndex_, head_, request.opcode};
  lastIndex_ = nextIndex_;
  lastBytes_ = bytes;
  ++head_;
  nextIndex_ += (bytes + wire::kSendBlockSize - 1) / wire::kSendBlockSize;
}

SendRing::Doorbell SendRing::ring() {
  wire::storeBigEndian(counter_, static_cast<std::uint32_t>(nextIndex_) & wire::kWqeCounterMask);
  const std::size_t block = static_cast<std::size_t>(lastIndex_) & (size_.blocks - 1);
  return {blocks_ + block * wire::kSendBlockSize, lastBytes_};
}

void SendRing::scatterList(std::uint16_t wqeCounter, std::vector<ScatterGather>& list) const {
  const std::size_t ringBytes = std::size_t{size_.blocks} * wire::kSendBlockSize;
  const std::size_t block = wqeCounter & (size_.blocks - 1);
  const std::uint8_t* const begin = blocks_ + block * wire::kSendBlockSize;
  const auto control = structFrom<wire::ControlSegment>({begin, sizeof(wire::ControlSegment)});
  const std::uint32_t segments = wire::ControlSegment::Size::get(control.qpSize);
  std::uint32_t headers = 2;  // control and remote address
  if (type_ == QpType::kXrcInitiator) ++headers;
  if (isAtomic(slots_[block].opcode)) ++headers;
  for (std::uint32_t i = headers; i < segments; ++i) {
    const std::size_t offset = (block * wire::kSendBlockSize + i * wire::kSegmentUnit) % ringBytes;
    readScatterList(blocks_ + offset, 1, list);
  }
}

SendRing::Retired SendRing::retire(std::uint16_t wqeCounter) {
  const Slot& slot = slots_[wqeCounter & (size_.blocks - 1)];
  tail_ = slot.head + 1;
  return {slot.workRequestId, slot.index, slot.opcode};
}

}  // namespace hca::driver
