// Two data paths back to back over a scripted wire, with plain memory behind them.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/memory/mkey_table.h"
#include "models/adapter/receive_queue/receive_queue_engine.h"
#include "models/adapter/receive_queue/tag_matching_unit.h"
#include "models/adapter/requester/requester.h"
#include "models/adapter/responder/responder.h"
#include "models/adapter/send_queue/send_queue_engine.h"
#include "models/adapter/transport/egress_pipeline.h"
#include "models/adapter/transport/packet_dispatcher.h"
#include "models/adapter/transport/qp_table.h"
#include "models/kernel/inbox.h"
#include "tests/support/plain_memory.h"

namespace hca::adapter::test {

/// A key that covers [0, limit) of the bus one to one; all others are those of the table.
class PlainTranslator final : public Translator {
 public:
  Translation translate(const AccessRequest& request, std::vector<Segment>& segments) override {
    lastDomain = request.pd;
    if (request.key.value() != kKey) return keys.translate(request, segments);
    Translation result;
    if (request.length == 0) return result;
    if (request.address + request.length > limit) result.fault = AccessFault::kOutOfRange;
    if (result.fault == AccessFault::kNone) {
      segments.push_back({BusAddress(request.address), static_cast<std::uint32_t>(request.length)});
    }
    return result;
  }
  PlainTranslator() {
    PdNumber pd;
    EXPECT_TRUE(pds.allocate(pd).ok());
    EXPECT_EQ(pd.value(), kPd);
  }
  static constexpr std::uint32_t kKey = 0x4201;
  static constexpr std::uint32_t kPd = 1;
  std::uint64_t limit = 1 << 20;
  MemoryConfig config;
  PdTable pds{1};
  CachePort cache;
  MkeyTable keys{config, pds, cache};
  PdNumber lastDomain;
};

class Completions final : public CompletionPort, public CqDirectory {
 public:
  void complete(const CompletionRecord& record) override { records.push_back(record); }
  CommandResult create(const CqAttributes&, CqNumber&) override { return {}; }
  CommandResult destroy(CqNumber) override { return {}; }
  CommandResult query(CqNumber, CqAttributes&) const override { return {}; }
  CommandResult modifyModeration(CqNumber, const CqModeration&) override { return {}; }
  void refreshConsumerIndex(CqNumber, std::function<void()> done) override { done(); }
  CommandResult resize(CqNumber, const CqRing&) override { return {}; }
  CommandResult attach(CqNumber number) override {
    if (number.value() >= 10) return {CommandStatus::kBadResource, Syndrome::kUnknownCq};
    ++attached;
    return {};
  }
  void detach(CqNumber) override { --attached; }
  void discard(QpNumber) override {}
  std::vector<CompletionRecord> records;
  int attached = 0;
};

class Events final : public EventPort {
 public:
  void raiseCompletion(EqNumber, CqNumber) override {}
  void raise(const EventRecord& event) override { events.push_back(event); }
  std::vector<EventRecord> events;
};

/// One direction of the wire: `filter` may drop a packet (return false) or change it. A packet's last bit leaves `pace`
/// after its start.
class Wire final : public network::PacketSender {
 public:
  explicit Wire(kernel::Calendar& calendar)
      : calendar_(calendar), inbox_(calendar, kernel::Priority::kNetwork, *this, &Wire::arrive) {}
  Time transmit(network::Packet&& packet) override {
    ++sent;
    if (!filter || filter(packet)) inbox_.send(calendar_.now() + nanoseconds(100), std::move(packet));
    return calendar_.now() + pace;
  }
  [[nodiscard]] Time freeAt() const override { return calendar_.now(); }
  network::PacketReceiver* receiver = nullptr;
  std::function<bool(network::Packet&)> filter;
  Time pace = nanoseconds(10);
  int sent = 0;

 private:
  void arrive(network::Packet& packet) { receiver->onPacket(packet); }
  kernel::Calendar& calendar_;
  kernel::Inbox<Wire, network::Packet> inbox_;
};

/// One adapter's data path, with two ports. The second has a LID of its own, kSecondLid above.
struct Side {
  Side(kernel::Calendar& calendar, std::uint32_t host, std::uint16_t lid, std::uint8_t lmc = 0,
       network::LinkLayer layer = network::LinkLayer::kInfiniBand)
      : memory(calendar),
        wire(calendar),
        secondWire(calendar),
        context{calendar,        probes,         pool, memory, kernel::ClockDomain(Hertz(1'000'000'000)),
                HostIndex(host), AdapterIndex(0)},
        routes({addressOf(lid, lmc, layer), addressOf(lid + kSecondLid, lmc, layer)}),
        table(config, completions, events, 2),
        egress(context, config, routes, true, cache),
        loopback(context, config),
        secondLoopback(context, config),
        memoryOperations(context, config, translator, translator.keys, table),
        requester(context, config, {egress, translator, completions, table, table, routes, memoryOperations, cache}),
        sharedQueues(context, config, completions, events, table),
        tags(context, sharedQueues, completions, requester),
        receiveQueue(context, config, table, completions, sharedQueues),
        responses(context, egress, translator, table, routes),
        atomics(context),
        responder(context, config,
                  {receiveQueue, translator, completions, table, table, responses, atomics, translator.keys, cache,
                   routes, tags}),
        sendQueue(context, config, table, requester, cache),
        dispatcher({table, requester, responder, cache, table.groups(), table.steering(), table, context.pool, routes,
                    table}) {
    egress.connect(table.groups(), table.steering());
    egress.addPort(wire, loopback);
    egress.addPort(secondWire, secondLoopback);
    loopback.connect(dispatcher.port(1));
    secondLoopback.connect(dispatcher.port(2));
    table.connect({sendQueue, receiveQueue, requester, responder, sharedQueues});
  }
  static constexpr std::uint16_t kSecondLid = 0x10;
  static PortAddress addressOf(unsigned lid, std::uint8_t lmc, network::LinkLayer layer) {
    PortAddress address;
    address.lid = Lid(static_cast<std::uint16_t>(lid));
    address.lmc = lmc;
    address.linkLayer = layer;
    address.mac = {0x02, 0, 0, 0, 0, static_cast<std::uint8_t>(lid)};
    return address;
  }
  observe::Probes probes;
  kernel::PayloadPool pool;
  PlainMemory memory;
  PlainTranslator translator;
  Completions completions;
  Events events;
  Wire wire, secondWire;
  CachePort cache;
  DatapathConfig config;
  AdapterContext context;
  RouteBuilder routes;
  QpTable table;
  EgressPipeline egress;
  Loopback loopback, secondLoopback;
  MemoryOperationUnit memoryOperations;
  Requester requester;
  SrqEngine sharedQueues;
  TagMatchingUnit tags;
  ReceiveQueueEngine receiveQueue;
  ResponseEngine responses;
  AtomicUnit atomics;
  Responder responder;
  SendQueueEngine sendQueue;
  PacketDispatcher dispatcher;
};

/// A pair of connected queue pairs: rings at fixed places of each memory.
class RcPair {
 public:
  static constexpr std::uint64_t kRecord = 0x100;  // doorbell record
  static constexpr std::uint64_t kRing = 0x10000;  // receive ring, then send ring
  static constexpr std::uint8_t kLogSend = 4, kLogReceive = 3, kLogStride = 5;
  static constexpr std::uint64_t kSendRing = kRing + (1U << (kLogReceive + kLogStride));
  static constexpr std::uint64_t kData = 0x40000;
  static constexpr std::uint32_t kMtu = 256;
  static constexpr std::uint32_t kUar = 64;
  static constexpr std::uint32_t kQueueKey = 0x11111111;

  /// With LID mask control the ports have more LIDs each, the first of which is 2^lmc times what it is without.
  explicit RcPair(std::uint32_t firstPsn = 0, QpService service = QpService::kRc, std::uint8_t lmc = 0)
      : a(calendar, 0, static_cast<std::uint16_t>(1U << lmc), lmc, layerOf(service)),
        b(calendar, 1, static_cast<std::uint16_t>(2U << lmc), lmc, layerOf(service)) {
    a.wire.receiver = &b.dispatcher.port(1);
    b.wire.receiver = &a.dispatcher.port(1);
    a.secondWire.receiver = &b.dispatcher.port(2);
    b.secondWire.receiver = &a.dispatcher.port(2);
    qpA = create(a, service);
    qpB = create(b, service);
    connect(a, qpA, qpB, 2, firstPsn);
    connect(b, qpB, qpA, 1, firstPsn);
  }

  static network::LinkLayer layerOf(QpService service) {
    return service == QpService::kRaw ? network::LinkLayer::kRoceV2 : network::LinkLayer::kInfiniBand;
  }
  static QpAttributes attributes() {
    QpAttributes attributes;
    attributes.pd = PdNumber(PlainTranslator::kPd);
    attributes.uar = UarIndex(kUar);
    attributes.userIndex = 0x77;
    attributes.logSendQueueSize = kLogSend;
    attributes.logReceiveQueueSize = kLogReceive;
    attributes.logReceiveStride = kLogStride;
    for (std::uint64_t page = 0; page < 2; ++page) attributes.buffer.pages.push_back(BusAddress(kRing + page * 4096));
    attributes.doorbellRecord = BusAddress(kRecord);
    attributes.sendCq = CqNumber(1);
    attributes.receiveCq = CqNumber(2);
    return attributes;
  }
  static QpNumber create(Side& side, QpService service) {
    QpNumber number;
    QpAttributes wanted = attributes();
    wanted.service = service;
    EXPECT_TRUE(side.table.create(wanted, number).ok());
    return number;
  }
  static void connect(Side& side, QpNumber qp, QpNumber peer, std::uint16_t peerLid, std::uint32_t psn,
                      std::uint8_t port = 1) {
    QpAttributes to;
    to.path.port = port;
    to.queueKey = kQueueKey;
    to.remoteWrite = true;
    to.remoteRead = true;
    to.remoteAtomic = true;
    to.logMaxOutstandingReads = 1;
    to.logMaxResponderReads = 1;
    EXPECT_TRUE(side.table.modify(qp, QpTransition::kResetToInit, 0, to).ok());
    to.mtu = kMtu;
    to.remoteQp = peer;
    to.path.remoteLid = Lid(peerLid);
    to.nextReceivePsn = psn;
    to.minRnrNak = 1;
    EXPECT_TRUE(side.table.modify(qp, QpTransition::kInitToReadyToReceive, 0, to).ok());
    to.nextSendPsn = psn;
    to.retryCount = 2;
    to.rnrRetry = 2;
    to.path.ackTimeout = 1;
    EXPECT_TRUE(side.table.modify(qp, QpTransition::kReadyToReceiveToReadyToSend, 0, to).ok());
  }

  /// Writes a WQE of `blocks` at the next place of A's ring. Bytes as software would write them.
  void putWqe(const std::vector<std::uint8_t>& wqe) {
    const std::size_t blocks = (wqe.size() + 63) / 64;
    for (std::size_t i = 0; i < wqe.size(); ++i) {
      const std::uint64_t place = (sendIndex % (1U << kLogSend)) * 64 + i;
      a.memory.bytes[kSendRing + place % (64U << kLogSend)] = wqe[i];
    }
    lastHead.assign(wqe.begin(), wqe.begin() + 8);
    sendIndex += blocks;
  }
  void ring() { a.sendQueue.onDoorbell(UarIndex(kUar), lastHead); }

  struct Options {
    std::uint8_t opcode = 0x08;      // RDMA WRITE
    std::uint8_t completion = 0x08;  // CQE always
    std::uint32_t key = PlainTranslator::kKey;
    std::uint32_t remoteKey = PlainTranslator::kKey;
    std::uint64_t local = kData, remote = kData;
    std::uint32_t immediate = 0;
    std::uint64_t swapOrAdd = 0, compare = 0;
    bool datagram = false;  // with a 48-byte address vector to B
    std::uint32_t queueKey = kQueueKey;
    bool globalRoute = false;
    std::uint8_t pathBits = 0;
    std::uint16_t remoteLid = 2;
    std::optional<std::uint32_t> remoteQp;
    std::optional<network::Gid> remoteGid;
  };
  /// Hand-assembled WQE: control, remote address (WRITE), one data segment.
  [[nodiscard]] std::vector<std::uint8_t> wqe(std::uint32_t length, const Options& o) const {
    const bool atomic = o.opcode == 0x11 || o.opcode == 0x12;
    const bool remote = o.opcode == 0x08 || o.opcode == 0x09 || o.opcode == 0x10 || atomic;
    const std::uint32_t units =
        1U + (remote ? 1U : 0U) + (atomic ? 1U : 0U) + (length > 0 ? 1U : 0U) + (o.datagram ? 3U : 0U);
    std::vector<std::uint8_t> bytes;
    put(bytes, (sendIndex & 0xFFFF) << 8 | o.opcode, 4);
    put(bytes, std::uint64_t{qpA.value()} << 8 | units, 4);
    put(bytes, o.completion, 4);
    put(bytes, o.immediate, 4);
    if (o.datagram) {
      put(bytes, o.queueKey, 4);
      put(bytes, 0, 4);
      put(bytes, 0x80000000U | o.remoteQp.value_or(qpB.value()), 4);
      put(bytes, 3, 1);  // service level
      put(bytes, o.pathBits, 1);
      put(bytes, o.remoteLid, 2);
      put(bytes, 0, 8);
      put(bytes, 0, 3);
      put(bytes, 0x40, 1);  // hop limit
      put(bytes, o.globalRoute ? 0x40000000U : 0U, 4);
      for (unsigned i = 0; i < 16; ++i) put(bytes, o.remoteGid ? (*o.remoteGid)[i] : 0xB0U + i, 1);
    }
    if (remote) {
      put(bytes, o.remote, 8);
      put(bytes, o.remoteKey, 4);
      put(bytes, 0, 4);
    }
    if (atomic) {
      put(bytes, o.swapOrAdd, 8);
      put(bytes, o.compare, 8);
    }
    if (length > 0) {
      put(bytes, length, 4);
      put(bytes, o.key, 4);
      put(bytes, o.local, 8);
    }
    return bytes;
  }
  static void put(std::vector<std::uint8_t>& bytes, std::uint64_t value, int count) {
    for (int i = count - 1; i >= 0; --i) {
      const bool isPadding = i >= static_cast<int>(sizeof value);
      bytes.push_back(isPadding ? std::uint8_t{0} : static_cast<std::uint8_t>(value >> (8 * i)));
    }
  }
  void post(std::uint32_t length, const Options& options) {
    putWqe(wqe(length, options));
    ring();
  }
  void post(std::uint32_t length) { post(length, Options{}); }
  /// Posts a receive of `length` bytes at `address` on B: memory alone, as software does.
  void postReceive(std::uint32_t length, std::uint64_t address = kData, std::uint32_t key = PlainTranslator::kKey) {
    postReceiveAt(b, length, address, key);
  }
  void postReceiveAt(Side& side, std::uint32_t length, std::uint64_t address, std::uint32_t key) {
    std::vector<std::uint8_t> bytes;
    put(bytes, length, 4);
    put(bytes, key, 4);
    put(bytes, address, 8);
    put(bytes, 0, 4);
    put(bytes, 0x100, 4);
    put(bytes, 0, 8);
    std::copy(bytes.begin(), bytes.end(),
              side.memory.bytes.begin() + static_cast<std::ptrdiff_t>(kRing + (receiveIndex % 8) * 32));
    ++receiveIndex;
    side.memory.bytes[kRecord + 2] = static_cast<std::uint8_t>(receiveIndex >> 8);
    side.memory.bytes[kRecord + 3] = static_cast<std::uint8_t>(receiveIndex);
  }
  void fill(std::uint32_t length) {
    for (std::uint32_t i = 0; i < length; ++i) a.memory.bytes[kData + i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  }
  [[nodiscard]] bool arrived(std::uint32_t length) const {
    return std::memcmp(&a.memory.bytes[kData], &b.memory.bytes[kData], length) == 0;
  }
  void run(Time span = microseconds(50)) { calendar.runUntil(calendar.now() + span); }

  kernel::Calendar calendar;
  Side a, b;
  QpNumber qpA, qpB;
  std::uint64_t sendIndex = 0;
  std::uint32_t receiveIndex = 0;
  std::vector<std::uint8_t> lastHead;
};

}  // namespace hca::adapter::test
