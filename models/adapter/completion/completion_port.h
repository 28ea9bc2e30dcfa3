// How queues report that a work request is done.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "models/base/byte_view.h"
#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/observe/work_request_id.h"
#include "models/wire/cqe.h"
#include "models/wire/tag_matching.h"

namespace hca::adapter {

using wire::CqeOpcode;
using wire::CqeSyndrome;

/// What the completion of a received Ethernet frame tells of it. Codes of the entry: wire::Cqe.
struct FrameDescription {
  std::uint32_t flowTag = 0;  ///< 24 bits, in place of the queue pair number
  std::uint16_t vlan = 0;     ///< the tag that was taken out
  bool hadVlan = false;
  bool networkOk = false;    ///< header checksum
  bool transportOk = false;  ///< TCP or UDP checksum
  std::uint8_t networkType = 0;
  std::uint8_t transportType = 0;
  std::uint32_t rssHash = 0;
  std::uint8_t rssHashType = 0;  ///< 0: there is none

  friend bool operator==(const FrameDescription& a, const FrameDescription& b) {
    return a.flowTag == b.flowTag && a.vlan == b.vlan && a.hadVlan == b.hadVlan && a.networkOk == b.networkOk &&
           a.transportOk == b.transportOk && a.networkType == b.networkType && a.transportType == b.transportType &&
           a.rssHash == b.rssHash && a.rssHashType == b.rssHashType;
  }
};

/// What a completion of a tag-matching receive queue tells.
struct TagDescription {
  wire::TagCompletion operation = wire::TagCompletion::kNoTag;
  std::uint16_t place = 0;  ///< in the list of tags
  bool hasFront = false;
  std::array<std::uint8_t, 16> front{};  ///< the entry's first bytes: the message's tag header, or a wire::TagListCqe

  void setFront(ByteView bytes) {
    hasFront = true;
    std::copy_n(bytes.data(), front.size(), front.data());
  }
};

/// Everything a CQE may carry, in host order. The completion block builds the bytes.
struct CompletionRecord {
  CqNumber cq;
  QpNumber qp;
  std::uint32_t userIndex = 0;  ///< CQE version 1: user index of QP or SRQ (24 bits)
  CqeOpcode opcode = CqeOpcode::kRequester;
  std::uint8_t sendOpcode = 0;   ///< WQE opcode of the request, for requester completions and errors
  std::uint16_t wqeCounter = 0;  ///< index of the WQE's first block
  std::uint32_t byteCount = 0;
  // Of a packet in a striding receive queue, where wqeCounter is its first stride.
  std::uint16_t strides = 0;  ///< that it took; 0: of another queue
  std::uint16_t wqeId = 0;
  bool isFiller = false;             ///< no packet: strides that stay empty
  std::uint32_t immediateOrKey = 0;  ///< immediate (host order of the big-endian word), invalidated rkey, or pkey
  QpNumber remoteQp;                 ///< responder: source QP (UD), else the connected peer
  std::uint16_t sourceLid = 0;
  std::uint8_t serviceLevel = 0;
  std::uint8_t pathBits = 0;
  std::uint16_t checksum = 0;
  bool globalRouteInBuffer = false;  ///< a GRH precedes the data in the buffer
  bool solicited = false;            ///< SE bit of the message; error completions count as solicited anyway
  bool forceEvent = false;           ///< CE = 3 of the WQE: an EQE whatever the arm state
  CqeSyndrome syndrome = CqeSyndrome::kWorkRequestFlushed;  ///< of an error opcode
  std::uint8_t vendorError = 0;
  std::uint8_t inlineLength = 0;  ///< scatter to CQE: bytes of `inlineData` in use (0..64)
  std::array<std::uint8_t, 64> inlineData{};
  std::optional<FrameDescription> frame;  ///< of a raw packet received
  std::optional<TagDescription> tag;      ///< of a tag-matching receive queue
  observe::WorkRequestId request;

  /// The entry's byte count, with what a striding queue puts there.
  [[nodiscard]] std::uint32_t byteCountWord() const {
    if (strides == 0) return byteCount;
    return byteCount | wire::Cqe::ConsumedStrides::make(strides) | wire::Cqe::Filler::make(isFiller);
  }
  [[nodiscard]] bool isError() const {
    return opcode == CqeOpcode::kRequesterError || opcode == CqeOpcode::kResponderError;
  }
};

/// Takes completions, in the order in which they are to appear in the queue.
class CompletionPort {
 public:
  /// Reports at Calendar::now(). Data written by DMA before this call is visible before the CQE.
  /// If the queue refuses it (overrun, destroyed), the queue pair is failed through QpFailureSink.
  virtual void complete(const CompletionRecord& record) = 0;

 protected:
  ~CompletionPort() = default;
};

/// Told that a queue pair can't go on.
class QpFailureSink {
 public:
  /// `qp` used a completion queue that is in error: InfiniBand class F, the queue pair goes to error and an affiliated
  /// asynchronous event names it.
  virtual void onCompletionQueueFailed(QpNumber qp) = 0;

 protected:
  ~QpFailureSink() = default;
};

}  // namespace hca::adapter
