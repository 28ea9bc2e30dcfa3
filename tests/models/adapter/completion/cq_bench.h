// A completion block alone, with recorded neighbours.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "models/adapter/completion/cq_engine.h"
#include "tests/models/adapter/event/fake_dma_port.h"

namespace hca::adapter::test {

/// Event queues 1 and 2 exist; events are kept with their time and with the number of DMA operations before them.
struct RecordedEvents final : EqDirectory, EventPort {
  struct Event {
    Time time{};
    EqNumber eq;
    EventRecord record;
    std::size_t operationsBefore = 0;
  };
  RecordedEvents(kernel::Calendar& c, hca::test::FakeDmaPort& d) : calendar(c), dma(d) {}

  CommandResult create(const EqAttributes&, EqNumber&) override { return {}; }
  CommandResult destroy(EqNumber) override { return {}; }
  CommandResult query(EqNumber, EqAttributes&) const override { return {}; }
  [[nodiscard]] bool accepts(EventType) const override { return true; }
  CommandResult attach(EqNumber number) override {
    if (number.value() != 1 && number.value() != 2) return {CommandStatus::kBadResource, Syndrome::kUnknownEq};
    ++holders[number.value()];
    return {};
  }
  void detach(EqNumber number) override { --holders[number.value()]; }
  void raiseCompletion(EqNumber eq, CqNumber cq) override {
    EventRecord record;
    record.object = cq.value();
    events.push_back({calendar.now(), eq, record, dma.log.size()});
  }
  void raise(const EventRecord& event) override { events.push_back({calendar.now(), {}, event, dma.log.size()}); }

  [[nodiscard]] std::vector<Event> of(EventType type) const {
    std::vector<Event> found;
    std::copy_if(events.begin(), events.end(), std::back_inserter(found),
                 [type](const Event& e) { return e.record.type == type; });
    return found;
  }

  kernel::Calendar& calendar;
  hca::test::FakeDmaPort& dma;
  int holders[3] = {};
  std::vector<Event> events;
};

struct RecordedFailures final : QpFailureSink {
  void onCompletionQueueFailed(QpNumber qp) override { qps.push_back(qp.value()); }
  std::vector<std::uint32_t> qps;
};

/// 1 GHz clock: a cycle is a nanosecond.
class CqBench {
 public:
  static constexpr std::uint64_t kRingBase = 0x10000;
  static constexpr std::uint64_t kRecordBase = 0x1000;
  static constexpr UarIndex kUar{7};

  explicit CqBench(ArmRule rule = ArmRule::kIbSpec) {
    config.armRule = rule;
    build();
  }
  void build() {
    engine = std::make_unique<CqEngine>(context, config, events, events);
    engine->setFailureSink(failures);
  }

  /// A queue of 2^logSize entries; each bench holds a few.
  CqAttributes attributes(std::uint8_t logSize, CqeStride stride = CqeStride::k64) {
    CqAttributes wanted;
    wanted.logSize = logSize;
    wanted.stride = stride;
    wanted.uar = kUar;
    wanted.eq = EqNumber(1);
    const std::uint64_t bytes = std::uint64_t{strideBytes(stride)} << logSize;
    for (std::uint64_t page = 0; page * 4096 < std::max<std::uint64_t>(bytes, 1); ++page) {
      wanted.ring.pages.push_back(BusAddress(nextRing_));
      nextRing_ += 4096;
    }
    wanted.doorbellRecord = BusAddress(nextRecord_);
    nextRecord_ += 64;
    return wanted;
  }
  CqNumber create(const CqAttributes& wanted) {
    CqNumber number;
    EXPECT_TRUE(engine->create(wanted, number).ok());
    return number;
  }
  CqNumber createSmall() { return create(attributes(2)); }

  static CompletionRecord completion(CqNumber cq, std::uint32_t qp = 64, std::uint16_t wqe = 0) {
    CompletionRecord record;
    record.cq = cq;
    record.qp = QpNumber(qp);
    record.wqeCounter = wqe;
    return record;
  }
  void complete(CqNumber cq, int entries = 1, std::uint32_t qp = 64) {
    for (int i = 0; i < entries; ++i) engine->complete(completion(cq, qp, nextWqe_++));
  }
  /// Software's write of the consumer index.
  void setConsumerIndex(CqNumber cq, std::uint32_t index) {
    wire::storeBigEndian(&dma.memory[record(cq)], index & 0xFFFFFF);
  }
  void arm(CqNumber cq, std::uint64_t consumer, std::uint8_t sequence = 0, bool solicitedOnly = false) {
    armThrough(kUar, cq, consumer, sequence, solicitedOnly);
  }
  void armThrough(UarIndex uar, CqNumber cq, std::uint64_t consumer, std::uint8_t sequence = 0,
                  bool solicitedOnly = false) {
    const wire::CqArm word{cq.value(), static_cast<std::uint32_t>(consumer & 0xFFFFFF), sequence, solicitedOnly};
    engine->onArm(uar, word.word());
  }
  void settle() { calendar.runUntil(kForever); }
  void runFor(Time span) { calendar.runUntil(calendar.now() + span); }

  [[nodiscard]] std::uint64_t record(CqNumber cq) const { return engine->find(cq)->attributes.doorbellRecord.value(); }
  [[nodiscard]] const CqCounters& counters(CqNumber cq) const { return engine->find(cq)->counters; }
  [[nodiscard]] CqAttributes query(CqNumber cq) const {
    CqAttributes present;
    EXPECT_TRUE(engine->query(cq, present).ok());
    return present;
  }
  [[nodiscard]] std::size_t completionEvents() const { return events.of(EventType::kCompletion).size(); }

  kernel::Calendar calendar;
  observe::Probes probes;
  kernel::PayloadPool pool;
  hca::test::FakeDmaPort dma{calendar, 1u << 20};
  AdapterContext context{calendar,     probes,         pool, dma, kernel::ClockDomain(Hertz(1'000'000'000)),
                         HostIndex(3), AdapterIndex(1)};
  RecordedEvents events{calendar, dma};
  RecordedFailures failures;
  CompletionConfig config;
  std::unique_ptr<CqEngine> engine;

 private:
  std::uint64_t nextRing_ = kRingBase;
  std::uint64_t nextRecord_ = kRecordBase;
  std::uint16_t nextWqe_ = 0;
};

}  // namespace hca::adapter::test
