// A completion queue behind a real PCI Express link, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "models/adapter/completion/cq_engine.h"
#include "sim/driver/completion_ring.h"
#include "tests/models/adapter/completion/cq_bench.h"
#include "tests/models/pcie/pcie_system.h"

namespace hca::driver {

/// One queue behind a link, and the software that reads it.
class BusQueue {
 public:
  struct Shape {
    adapter::CqeStride stride = adapter::CqeStride::k64;
    CqCompression compression{};
    unsigned logSize = 7;
    std::uint32_t offset = 0;  // of the ring in its first page
    std::int64_t maxPayload = 256;
    std::int64_t generation = 3;
    pcie::LinkWidth width = pcie::LinkWidth::kX16;
    std::int64_t sessionMax = 64;
    std::int64_t buildCycles = 4;  // a completion occupies the writer
  };

  explicit BusQueue(const Shape& shape)
      : system_(configOf(shape)),
        attributes_(attributesOf(shape)),
        ring_(memory(kRing + shape.offset), memory(kRecord), shape.logSize, strideBytes(shape.stride),
              shape.compression),
        context_{system_.calendar, probes_,        pool_, system_.endpoint, kernel::ClockDomain(Hertz(1'000'000'000)),
                 HostIndex(0),     AdapterIndex(0)},
        events_(system_.calendar, unused_) {
    config_.compressionMax = shape.sessionMax;
    config_.shortEntries = true;
    config_.cqeBuildCycles = Cycles(shape.buildCycles);
    engine = std::make_unique<adapter::CqEngine>(context_, config_, events_, events_);
    engine->setFailureSink(failures_);
    ring_.initialise();
    EXPECT_TRUE(engine->create(attributes_, cq).ok());
  }
  void startAt(std::uint64_t index) {
    engine->startAt(cq, index);
    ring_.startAt(index);
  }
  [[nodiscard]] CompletionRing& ring() { return ring_; }
  [[nodiscard]] observe::Probes& probes() { return probes_; }
  [[nodiscard]] kernel::Calendar& calendar() { return system_.calendar; }
  [[nodiscard]] std::uint64_t bytes() const {
    return system_.link.counts(pcie::Link::Direction::kUpstream)[static_cast<std::size_t>(pcie::Traffic::kCqe)].bytes;
  }
  void complete(const adapter::CompletionRecord& record) {
    adapter::CompletionRecord own = record;
    own.cq = cq;
    engine->complete(own);
  }

  std::unique_ptr<adapter::CqEngine> engine;
  CqNumber cq;

 private:
  static constexpr std::uint64_t kRecord = 0, kRing = 4096;

  static pcie::PcieConfig configOf(const Shape& shape) {
    pcie::PcieConfig config;
    config.maxPayload = Bytes(shape.maxPayload);
    config.generation = shape.generation;
    config.width = shape.width;
    return config;
  }
  static std::uint32_t strideBytes(adapter::CqeStride stride) { return adapter::strideBytes(stride); }
  adapter::CqAttributes attributesOf(const Shape& shape) {
    adapter::CqAttributes wanted;
    wanted.logSize = static_cast<std::uint8_t>(shape.logSize);
    wanted.stride = shape.stride;
    wanted.eq = EqNumber(1);
    wanted.ring.offset = shape.offset;
    const std::uint64_t length = shape.offset + (std::uint64_t{strideBytes(shape.stride)} << shape.logSize);
    for (std::uint64_t at = 0; at < length; at += 4096) wanted.ring.pages.push_back(system_.at(kRing + at));
    wanted.doorbellRecord = system_.at(kRecord);
    wanted.compression = shape.compression.layout != CompressionKind::kNone;
    wanted.compressionLayout = shape.compression.layout == CompressionKind::kEnhanced ? 1 : 0;
    wanted.miniFormat = wanted.compression ? static_cast<std::uint8_t>(shape.compression.miniFormat) : 0;
    return wanted;
  }
  std::uint8_t* memory(std::uint64_t offset) {
    return system_.memory.direct(host::SparseMemory::kFirstAddress, pcie::test::PcieSystem::kMemory) + offset;
  }

  pcie::test::PcieSystem system_;
  observe::Probes probes_;
  kernel::PayloadPool pool_;
  adapter::CompletionConfig config_;
  adapter::CqAttributes attributes_;
  CompletionRing ring_;
  adapter::AdapterContext context_;
  hca::test::FakeDmaPort unused_{system_.calendar, 1};
  adapter::test::RecordedEvents events_;
  adapter::test::RecordedFailures failures_;
};

inline adapter::CompletionRecord receiveOf(std::uint16_t counter, std::uint8_t inlineLength = 0) {
  adapter::CompletionRecord record;
  record.qp = QpNumber(64);
  record.userIndex = 5;
  record.opcode = adapter::CqeOpcode::kResponderSend;
  record.wqeCounter = counter;
  record.byteCount = inlineLength != 0 ? inlineLength : 1000U + counter;
  record.remoteQp = QpNumber(7);
  record.inlineLength = inlineLength;
  return record;
}

}  // namespace hca::driver
