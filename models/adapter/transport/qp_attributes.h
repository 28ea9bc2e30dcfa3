// A queue pair's context, decoded.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/adapter/memory/number_table.h"
#include "models/adapter/memory/page_list.h"
#include "models/base/ids.h"
#include "models/network/packet.h"

namespace hca::adapter {

/// qpc.st
enum class QpService : std::uint8_t {
  kRc = 0x0,
  kUc = 0x1,
  kUd = 0x2,
  kXrc = 0x3,
  kDci = 0x5,            ///< initiator of dynamic connections: each request names its target
  kDct = 0x6,            ///< their target, made by commands of its own
  kRegisteredUmr = 0xC,  ///< the driver's own: executes nothing but UMRs, for keys of every protection domain
  kQp0 = 0x7,            ///< a port's queue pair of subnet management
  kQp1 = 0x8,            ///< and that of general services
  kDcResponder = 0xF0,   ///< the adapter's own: what a target keeps of one initiator
  kRaw = 0x9,            ///< Ethernet frames: one send queue or one receive queue, made by commands of their own
};
/// Whether it is a management queue pair of a port.
constexpr bool isSpecial(QpService service) { return service == QpService::kQp0 || service == QpService::kQp1; }
/// Whether it sends and receives unreliable datagrams.
constexpr bool hasDatagrams(QpService service) { return service == QpService::kUd || isSpecial(service); }
/// Whether each request is one packet that stands alone.
constexpr bool isDatagram(QpService service) { return hasDatagrams(service) || service == QpService::kRaw; }
/// Whether requests of this kind are acknowledged and retried.
constexpr bool isReliable(QpService service) {
  return service == QpService::kRc || service == QpService::kXrc || service == QpService::kDci ||
         service == QpService::kDcResponder;
}

/// qpc.state
enum class QpState : std::uint8_t {
  kReset = 0,
  kInit = 1,
  kReadyToReceive = 2,
  kReadyToSend = 3,
  kSendQueueError = 4,
  kSendQueueDrain = 5,
  kError = 6,
  kSendQueueDraining = 7,  ///< reported by a query alone: kSendQueueDrain with requests under way
};
/// qpc.rq_type
enum class RqType : std::uint8_t { kOwn = 0, kSrq = 1, kNone = 3 };

/// qpc.pm_state
enum class MigrationState : std::uint8_t { kArmed = 0, kRearm = 1, kMigrated = 3 };

/// qpc.primary_address_path and secondary_address_path
struct AddressPath {
  Lid remoteLid;
  std::uint16_t partitionIndex = 0;  ///< of the port's table of partition keys
  std::uint8_t serviceLevel = 0;
  std::uint8_t sourcePathBits = 0;
  bool globalRoute = false;
  std::uint8_t port = 1;
  std::uint8_t ackTimeout = 0;  ///< 4.096 us x 2^n, 0: none
  // With a global route alone.
  std::uint8_t sourceGidIndex = 0;
  std::uint8_t hopLimit = 0;
  std::uint8_t trafficClass = 0;
  std::uint16_t udpSourcePort = 0;
  std::uint32_t flowLabel = 0;
  network::Gid remoteGid{};
  std::array<std::uint8_t, 6> remoteMac{};
};

/// Of a receive queue whose entries take several packets, each in strides of its own (wq.wq_type
/// MLX5_WQ_TYPE_CYCLIC_STRIDING_RQ).
struct StridingLayout {
  static constexpr std::uint8_t kLogFewest = 9, kLogMost = 16;       ///< strides
  static constexpr std::uint8_t kLogSmallest = 6, kLogLargest = 13;  ///< bytes of a stride
  static constexpr std::uint32_t kShift = 2;

  bool isOn = false;
  bool shifts = false;        ///< two bytes of zeros before each packet, so that its network header is aligned
  std::uint8_t logCount = 0;  ///< log2 of strides an entry
  std::uint8_t logSize = 0;   ///< log2 of bytes a stride

  [[nodiscard]] std::uint32_t count() const { return 1U << logCount; }
  [[nodiscard]] std::uint32_t prefix() const { return shifts ? kShift : 0; }
  /// Strides that a packet of `length` bytes takes.
  [[nodiscard]] std::uint32_t stridesOf(std::uint32_t length) const {
    return std::max(1U, (length + prefix() + (1U << logSize) - 1) >> logSize);
  }
};

/// Of a queue whose software knows it by its number: completions name the shared queue, or none (CQE version 0).
constexpr std::uint32_t kNoUserIndex = 0xFFFFFF;

/// What each message needs comes first (see QueuePair).
struct QpAttributes {
  QpState state = QpState::kReset;
  QpService service = QpService::kRc;
  RqType receiveQueueType = RqType::kOwn;
  bool hasSendQueue = true;
  std::uint8_t logSendQueueSize = 0;     ///< log2 of 64-byte blocks
  std::uint8_t logReceiveQueueSize = 0;  ///< log2 of entries
  std::uint8_t logReceiveStride = 0;     ///< log2 of bytes an entry (qpc holds it minus 4)
  std::uint8_t logMaxMessage = 30;
  std::uint8_t retryCount = 7;
  std::uint8_t rnrRetry = 7;                ///< 7: for ever
  std::uint8_t logMaxOutstandingReads = 0;  ///< as requester
  bool remoteRead = false;
  bool remoteWrite = false;
  bool remoteAtomic = false;
  MigrationState migration = MigrationState::kMigrated;
  std::uint8_t requesterInlineScatter = 0;  ///< cs_req: 0, 0x11 (32 B), 0x22 (64 B)
  std::uint8_t responderInlineScatter = 0;  ///< cs_res: 0, 1 (32 B), 2 (64 B)
  PdNumber pd;
  UarIndex uar;
  std::uint32_t userIndex = 0;
  CqNumber sendCq;
  CqNumber receiveCq;
  QpNumber remoteQp;
  std::uint32_t mtu = 1024;  ///< bytes
  AddressPath path;
  bool offersRendezvous = false;        ///< may fetch the data of rendezvous requests that match a tag
  bool blockMulticastLoopback = false;  ///< what it sends to its own groups doesn't come back to it
  bool stripVlan = false;               ///< of kRaw: a VLAN tag is taken out of the frame and told in the completion
  bool scatterFcs = false;              ///< of kRaw: the frame check sequence stays at the frame's end
  std::uint32_t transportDomain = 0;    ///< of kRaw that sends: TransportDomainNumber

  StridingLayout striding;          ///< of a receive queue of kRaw
  std::uint32_t workQueueType = 1;  ///< of kRaw: wq.wq_type
  PageList buffer;                  ///< receive queue first, then send queue
  BusAddress doorbellRecord;        ///< +0 receive counter, +4 send counter
  SrqNumber srq;
  XrcdNumber domain;  ///< of XRC: of the shared queues that it may receive into
  std::uint32_t nextSendPsn = 0;
  std::uint32_t nextReceivePsn = 0;
  std::uint32_t queueKey = 0;
  std::uint8_t minRnrNak = 0;
  std::uint8_t logMaxResponderReads = 0;  ///< as responder

  std::uint64_t accessKey = 0;   ///< of kDct: what initiators must know; of kDci: what it told its present target
  std::uint32_t connection = 0;  ///< of kDcResponder: which of the initiator's
  QpNumber target;               ///< of kDcResponder

  AddressPath alternatePath;       ///< with its own port, partition and ACK time-out
  bool notifyWhenDrained = false;  ///< of the command that drains the send queue: raise an event when it is done

  // Reported by a query alone.
  std::uint32_t hardwareSendCounter = 0;
  std::uint32_t softwareSendCounter = 0;
  std::uint32_t hardwareReceiveCounter = 0;
  std::uint32_t softwareReceiveCounter = 0;
};

}  // namespace hca::adapter
