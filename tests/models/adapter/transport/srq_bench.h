// Queue pairs that share a receive queue, on two scripted data paths.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {

/// Queue pairs from A to B; all of B's share one receive queue, which the test keeps as software would.
class SharedBench {
 public:
  static constexpr std::uint64_t kRecord = 0x80, kRing = 0x8000, kSendRings = 0x10000, kData = 0x60000;
  static constexpr std::uint8_t kLogSendBlocks = 6;

  explicit SharedBench(unsigned pairs, std::uint8_t logSize = 3, std::uint8_t logStride = 5,
                       QpService service = QpService::kRc)
      : a(calendar, 0, 1), b(calendar, 1, 2), logSize_(logSize), logStride_(logStride) {
    a.wire.receiver = &b.dispatcher.port(1);
    b.wire.receiver = &a.dispatcher.port(1);
    for (std::uint32_t place = 0; place < entries(); ++place) link(place, (place + 1) % entries());
    EXPECT_TRUE(b.sharedQueues.create(srqAttributes(), srq).ok());
    for (unsigned i = 0; i < pairs; ++i) {
      QpAttributes wanted = RcPair::attributes();
      wanted.service = service;
      wanted.logSendQueueSize = kLogSendBlocks;
      wanted.receiveQueueType = RqType::kNone;
      wanted.buffer.pages = {BusAddress(kSendRings + i * 0x1000)};
      Sender sender;
      EXPECT_TRUE(a.table.create(wanted, sender.qp).ok());
      wanted.receiveQueueType = RqType::kSrq;
      wanted.srq = srq;
      EXPECT_TRUE(b.table.create(wanted, sender.peer).ok());
      RcPair::connect(a, sender.qp, sender.peer, 2, 0);
      RcPair::connect(b, sender.peer, sender.qp, 1, 0);
      senders.push_back(sender);
    }
  }

  [[nodiscard]] std::uint32_t entries() const { return 1U << logSize_; }
  SrqAttributes srqAttributes() const {
    SrqAttributes wanted;
    wanted.pd = PdNumber(7);
    wanted.logSize = logSize_;
    wanted.logStride = logStride_;
    for (std::uint64_t page = 0; page < 8; ++page) wanted.buffer.pages.push_back(BusAddress(kRing + page * 4096));
    wanted.doorbellRecord = BusAddress(kRecord);
    return wanted;
  }

  // ---- the list
  std::uint8_t* entry(std::uint32_t place) { return &b.memory.bytes[kRing + (std::size_t{place} << logStride_)]; }
  void link(std::uint32_t place, std::uint32_t next) {
    entry(place)[2] = static_cast<std::uint8_t>(next >> 8);
    entry(place)[3] = static_cast<std::uint8_t>(next);
  }
  /// Writes `pieces` data segments of `length` bytes altogether at kData + place * 256, and a terminator if one fits.
  void write(std::uint32_t place, std::uint32_t length, std::uint32_t pieces = 1) {
    std::vector<std::uint8_t> bytes;
    for (std::uint32_t i = 0; i < pieces; ++i) {
      RcPair::put(bytes, length / pieces, 4);
      RcPair::put(bytes, PlainTranslator::kKey, 4);
      RcPair::put(bytes, kData + place * 256 + i * (length / pieces), 8);
    }
    RcPair::put(bytes, 0, 4);
    RcPair::put(bytes, 0x100, 4);
    bytes.resize(std::min<std::size_t>(bytes.size(), (std::size_t{1} << logStride_) - 16));
    std::copy(bytes.begin(), bytes.end(), entry(place) + 16);
  }
  void publish(std::uint32_t count) {
    posted += count;
    b.memory.bytes[kRecord + 2] = static_cast<std::uint8_t>(posted >> 8);
    b.memory.bytes[kRecord + 3] = static_cast<std::uint8_t>(posted);
  }
  /// Posts `count` entries in the order in which they lie.
  void post(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) write((posted + i) % entries(), 64);
    publish(count);
  }

  /// SEND of `length` bytes of A's memory at kData.
  void send(std::size_t which, std::uint32_t length = 64) {
    Sender& sender = senders[which];
    std::vector<std::uint8_t> wqe;
    RcPair::put(wqe, (sender.posted & 0xFFFF) << 8 | 0x0A, 4);
    RcPair::put(wqe, std::uint64_t{sender.qp.value()} << 8 | 2, 4);
    RcPair::put(wqe, 0x08, 4);
    RcPair::put(wqe, 0, 4);
    RcPair::put(wqe, length, 4);
    RcPair::put(wqe, PlainTranslator::kKey, 4);
    RcPair::put(wqe, kData, 8);
    const std::uint64_t at = kSendRings + which * 0x1000 + (sender.posted++ % (1U << kLogSendBlocks)) * 64;
    std::copy(wqe.begin(), wqe.end(), a.memory.bytes.begin() + static_cast<std::ptrdiff_t>(at));
    wqe.resize(8);
    a.sendQueue.onDoorbell(UarIndex(RcPair::kUar), wqe);
  }
  void sendAndRun(std::size_t which, int count = 1) {
    for (int i = 0; i < count; ++i) {
      send(which);
      run();
    }
  }
  void run(Time span = microseconds(50)) { calendar.runUntil(calendar.now() + span); }

  [[nodiscard]] std::vector<std::uint32_t> counters() const {
    std::vector<std::uint32_t> all;
    for (const auto& record : b.completions.records) all.push_back(record.wqeCounter);
    return all;
  }
  [[nodiscard]] int events(EventType type) const {
    return static_cast<int>(std::count_if(b.events.events.begin(), b.events.events.end(),
                                          [type](const EventRecord& event) { return event.type == type; }));
  }
  void toError(std::size_t which) {
    EXPECT_TRUE(b.table.modify(senders[which].peer, QpTransition::kToError, 0, {}).ok());
  }

  struct Sender {
    QpNumber qp, peer;
    std::uint32_t posted = 0;
  };
  kernel::Calendar calendar;
  Side a, b;
  SrqNumber srq;
  std::vector<Sender> senders;
  std::uint32_t posted = 0;

 private:
  std::uint8_t logSize_, logStride_;
};

}  // namespace hca::adapter::test
