// One WQE of a send queue, parsed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/adapter/completion/completion_port.h"
#include "models/adapter/transport/qp_attributes.h"
#include "models/base/ids.h"
#include "models/kernel/payload_pool.h"
#include "models/wire/tag_matching.h"
#include "models/wire/wqe.h"

namespace hca::adapter {

/// A piece of local memory that a WQE names.
struct DataSegment {
  std::uint64_t address = 0;
  std::uint32_t length = 0;
  MemoryKey key;
};

/// The data segments of a WQE: two without allocation, as nearly every request has.
class DataSegments {
 public:
  void push(const DataSegment& segment) {
    if (count_ < kInline) {
      inline_[count_] = segment;
    } else {
      more_.push_back(segment);
    }
    ++count_;
  }
  [[nodiscard]] std::size_t size() const { return count_; }
  const DataSegment& operator[](std::size_t i) const { return i < kInline ? inline_[i] : more_[i - kInline]; }

 private:
  static constexpr std::size_t kInline = 2;
  std::array<DataSegment, kInline> inline_{};
  std::vector<DataSegment> more_;
  std::size_t count_ = 0;
};

using wire::CompletionMode;
using wire::FenceMode;
using wire::SendOpcode;

/// Where a datagram, or a request of a dynamic connection, goes: the address vector of its WQE.
struct DatagramAddress {
  AddressPath path;
  QpNumber remoteQp;
  std::uint32_t queueKey = 0;
  std::uint64_t accessKey = 0;  ///< of a dynamic connection
};

/// Of a request that the adapter made itself, for a rendezvous that matched a tag.
struct RendezvousTransfer {
  std::uint16_t place = 0;                                       ///< of the tag in its list
  PdNumber domain;                                               ///< of the tag's buffer
  std::array<std::uint8_t, wire::kRendezvousHeaders> headers{};  ///< of the message that asked for it
};

struct SendRequest {
  std::uint64_t index = 0;   ///< free-running number of the first block
  std::uint16_t blocks = 1;  ///< 64-byte blocks
  SendOpcode opcode = SendOpcode::kNop;
  CompletionMode completion = CompletionMode::kAlways;
  bool solicited = false;
  FenceMode fence = FenceMode::kNone;
  bool insertNetworkChecksum = false;    ///< of a raw packet
  bool insertTransportChecksum = false;  ///< likewise
  bool faulted = false;                  ///< fails with `syndrome` once everything before it is done
  CqeSyndrome syndrome = CqeSyndrome::kLocalQpOperation;
  std::uint8_t vendorError = 0;
  std::uint32_t immediateOrKey = 0;
  std::uint64_t remoteAddress = 0;
  MemoryKey remoteKey;
  SrqNumber sharedQueue;  ///< of XRC: the peer's
  std::uint64_t swapOrAdd = 0;
  std::uint64_t compare = 0;
  std::uint32_t length = 0;  ///< bytes of payload
  DataSegments segments;
  kernel::Payload header;                     ///< of a raw packet: what the WQE holds of the frame, before the segments
  kernel::Payload inlineData;                 ///< instead of segments; of a UMR: all behind the control segment
  std::unique_ptr<DatagramAddress> datagram;  ///< of unreliable datagrams and dynamic connections
  std::unique_ptr<RendezvousTransfer> rendezvous;  ///< of a request that is not software's

  // Set when the first packet is built.
  bool started = false;
  bool done = false;  ///< of a memory operation: it had its effect
  std::uint32_t firstPsn = 0;
  std::uint32_t packets = 0;          ///< sequence numbers it takes
  std::uint32_t packetsReturned = 0;  ///< of a read or atomic: responses that arrived

  /// Completed by a response with data rather than by an acknowledgement.
  [[nodiscard]] bool hasResponse() const { return opcode == SendOpcode::kRead || isAtomic(); }
  [[nodiscard]] bool isAtomic() const { return opcode == SendOpcode::kCompareSwap || opcode == SendOpcode::kFetchAdd; }
  /// Changes a memory key or a list of tags of its own adapter, or nothing at all: no packet, no peer.
  [[nodiscard]] bool isMemoryOperation() const {
    return opcode == SendOpcode::kUmr || opcode == SendOpcode::kLocalInvalidate || opcode == SendOpcode::kTagMatching ||
           opcode == SendOpcode::kNop;
  }
  [[nodiscard]] bool isInline() const { return !inlineData.empty(); }
};

}  // namespace hca::adapter
