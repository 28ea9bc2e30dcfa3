#include "models/adapter/send_queue/send_wqe_parser.h"

#include <algorithm>
#include <cstring>

#include "models/adapter/transport/vendor_errors.h"

namespace hca::adapter {

namespace {

constexpr std::uint32_t kTwoGigabytes = 0x80000000;
constexpr std::uint32_t kNumberMask = 0xFFFFFF;

bool hasRemoteAddress(SendOpcode opcode) {
  switch (opcode) {
    case SendOpcode::kWrite:
    case SendOpcode::kWriteImmediate:
    case SendOpcode::kRead:
    case SendOpcode::kCompareSwap:
    case SendOpcode::kFetchAdd:
      return true;
    default:
      return false;
  }
}

void markMalformed(SendRequest& request) {
  request.faulted = true;
  request.syndrome = CqeSyndrome::kLocalQpOperation;
  request.vendorError = vendor_error::kMalformedWqe;
}

// Appends an inline piece; `at` stands behind its header. Returns the offset of the next segment, 0 if it overruns.
std::size_t takeInline(ByteView bytes, std::size_t at, std::uint32_t length, SendRequest& request,
                       kernel::PayloadPool& pool) {
  if (at + length > bytes.size()) return 0;
  kernel::Payload joined = pool.acquire(request.inlineData.size() + length);
  const std::size_t before = request.inlineData.size();
  if (before > 0) std::memcpy(joined.mutableView().data(), request.inlineData.view().data(), before);
  if (length > 0) std::memcpy(joined.mutableView().data() + before, bytes.data() + at, length);
  request.inlineData = std::move(joined);
  request.length += length;
  const std::size_t end = at + length;
  return (end + wire::kSegmentUnit - 1) / wire::kSegmentUnit * wire::kSegmentUnit;
}

// Parses the data segments from `at` to the end.
void parseData(ByteView bytes, std::size_t at, SendRequest& request, kernel::PayloadPool& pool) {
  std::uint64_t total = 0;
  while (at < bytes.size()) {
    const auto header = structFrom<wire::InlineHeader>(bytes.subview(at, sizeof(wire::InlineHeader)));
    if (wire::InlineHeader::Inline::get(header.byteCount)) {
      const std::uint32_t length = wire::InlineHeader::Length::get(header.byteCount);
      at = takeInline(bytes, at + sizeof(wire::InlineHeader), length, request, pool);
      if (at == 0) return markMalformed(request);
      total = request.length;
      continue;
    }
    const auto segment = structFrom<wire::DataSegment>(bytes.subview(at, sizeof(wire::DataSegment)));
    std::uint32_t length = wire::DataSegment::Length::get(segment.byteCount);
    if (length == 0) length = kTwoGigabytes;
    request.segments.push({segment.address.host(), length, MemoryKey(segment.key.host())});
    total += length;
    at += sizeof(wire::DataSegment);
  }
  if (request.isInline() && request.segments.size() > 0) return markMalformed(request);
  if (total > kTwoGigabytes) {
    request.faulted = true;
    request.syndrome = CqeSyndrome::kLocalLength;
    request.vendorError = vendor_error::kMessageTooLong;
    return;
  }
  request.length = static_cast<std::uint32_t>(total);
}

// The Ethernet segment at `at` and the beginning of the frame. Returns the length of both, 0 if they don't fit.
std::size_t takeEthernet(ByteView bytes, std::size_t at, SendRequest& request, kernel::PayloadPool& pool) {
  using Segment = wire::EthernetSegment;
  if (at + sizeof(Segment) > bytes.size()) return 0;
  const auto segment = structFrom<Segment>(bytes.subview(at, sizeof(Segment)));
  const std::size_t length = segment.inlineLength.host();
  request.insertNetworkChecksum = Segment::NetworkChecksum::get(segment.checksumFlags);
  request.insertTransportChecksum = Segment::TransportChecksum::get(segment.checksumFlags);
  const std::size_t start = at + offsetof(Segment, inlineStart);
  if (start + length > bytes.size()) return 0;
  request.header = pool.copyOf(bytes.subview(start, length));
  const std::size_t whole = std::max(sizeof(Segment), offsetof(Segment, inlineStart) + length);
  return (whole + wire::kSegmentUnit - 1) / wire::kSegmentUnit * wire::kSegmentUnit;
}

// The address vector at `at`: 48 bytes, or the first 16 of them. Returns its length, 0 if it doesn't fit.
std::size_t takeDatagram(ByteView bytes, std::size_t at, SendRequest& request) {
  using Vector = wire::DatagramSegment;
  constexpr std::size_t kShort = 16;
  if (at + kShort > bytes.size()) return 0;
  std::array<std::uint8_t, sizeof(Vector)> raw{};
  std::memcpy(raw.data(), bytes.data() + at, std::min(raw.size(), bytes.size() - at));
  const auto vector = structFrom<Vector>(ByteView(raw.data(), raw.size()));
  const bool isExtended = Vector::Extended::get(vector.destinationQp);
  if (isExtended && at + sizeof(Vector) > bytes.size()) return 0;
  request.datagram = std::make_unique<DatagramAddress>();
  DatagramAddress& to = *request.datagram;
  to.queueKey = vector.queueKey.host();
  to.accessKey = std::uint64_t{vector.queueKey.host()} << 32 | vector.accessKeyLow.host();
  to.remoteQp = QpNumber(Vector::QpNumber::get(vector.destinationQp));
  to.path.remoteLid = Lid(vector.remoteLid.host());
  to.path.serviceLevel = static_cast<std::uint8_t>(Vector::ServiceLevel::get(vector.rateServiceLevel));
  to.path.sourcePathBits = vector.pathBits & 0x7F;
  if (!isExtended) return kShort;
  to.path.globalRoute = Vector::GlobalRoute::get(vector.gidFlow);
  to.path.sourceGidIndex = static_cast<std::uint8_t>(Vector::SourceGidIndex::get(vector.gidFlow));
  to.path.flowLabel = Vector::FlowLabel::get(vector.gidFlow);
  to.path.trafficClass = vector.trafficClass;
  to.path.hopLimit = vector.hopLimit;
  std::copy(std::begin(vector.remoteGid), std::end(vector.remoteGid), to.path.remoteGid.begin());
  std::copy(std::begin(vector.remoteMac), std::end(vector.remoteMac), to.path.remoteMac.begin());
  return sizeof(Vector);
}

}  // namespace

SendRequest parseSendWqe(ByteView bytes, std::uint64_t index, QpService service, kernel::PayloadPool& pool) {
  using Control = wire::ControlSegment;
  SendRequest request;
  request.index = index;
  const auto control = structFrom<Control>(bytes);
  const std::size_t size = Control::Size::get(control.qpSize) * wire::kSegmentUnit;
  request.blocks = blocksOf(Control::Size::get(control.qpSize));
  request.opcode = Control::Opcode::get(control.modifierIndexOpcode);
  request.completion = Control::Completion::get(control.fenceCompletionSolicited);
  request.solicited = Control::Solicited::get(control.fenceCompletionSolicited);
  request.fence = Control::Fence::get(control.fenceCompletionSolicited);
  request.immediateOrKey = control.immediate.host();
  std::size_t at = sizeof(Control);
  if (size < at || size > bytes.size()) {
    markMalformed(request);
    return request;
  }
  if (request.isMemoryOperation()) {
    request.inlineData = pool.copyOf(bytes.subview(at, size - at));
    return request;
  }
  if (hasDatagrams(service) || service == QpService::kDci) {
    const std::size_t length = takeDatagram(bytes.subview(0, size), at, request);
    if (length == 0) {
      markMalformed(request);
      return request;
    }
    at += length;
  }
  if (service == QpService::kRaw) {
    const std::size_t length = takeEthernet(bytes.subview(0, size), at, request, pool);
    if (length == 0) {
      markMalformed(request);
      return request;
    }
    at += length;
  }
  if (service == QpService::kXrc) {
    if (size < at + sizeof(wire::XrcSegment)) {
      markMalformed(request);
      return request;
    }
    const auto segment = structFrom<wire::XrcSegment>(bytes.subview(at, sizeof(wire::XrcSegment)));
    request.sharedQueue = SrqNumber(segment.sharedQueue.host() & kNumberMask);
    at += sizeof(wire::XrcSegment);
  }
  if (hasRemoteAddress(request.opcode)) {
    if (size < at + sizeof(wire::RemoteAddressSegment)) {
      markMalformed(request);
      return request;
    }
    const auto remote = structFrom<wire::RemoteAddressSegment>(bytes.subview(at, sizeof(wire::RemoteAddressSegment)));
    request.remoteAddress = remote.address.host();
    request.remoteKey = MemoryKey(remote.key.host());
    at += sizeof(wire::RemoteAddressSegment);
  }
  if (request.isAtomic()) {
    if (size < at + sizeof(wire::AtomicSegment)) {
      markMalformed(request);
      return request;
    }
    const auto operands = structFrom<wire::AtomicSegment>(bytes.subview(at, sizeof(wire::AtomicSegment)));
    request.swapOrAdd = operands.swapOrAdd.host();
    request.compare = operands.compare.host();
    at += sizeof(wire::AtomicSegment);
  }
  parseData(bytes.subview(0, size), at, request, pool);
  request.length += static_cast<std::uint32_t>(request.header.size());
  return request;
}

}  // namespace hca::adapter
