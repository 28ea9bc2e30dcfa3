// An event block alone, with a host memory behind its DMA port.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "models/adapter/event/eq_engine.h"
#include "models/wire/doorbell.h"
#include "tests/models/adapter/event/fake_dma_port.h"

namespace hca::adapter::test {

/// 1 GHz clock: a cycle is a nanosecond. Vector v sends data 0x40 + v to address 0xFEE00000 + 4096 v.
class EqBench {
 public:
  static constexpr UarIndex kUar{7};

  EqBench() { build(); }
  void build() {
    vectors = std::make_unique<MsixTable>(context, static_cast<std::uint32_t>(config.vectors));
    vectors->setControl(true, false);
    for (std::uint32_t v = 0; v < vectors->vectors(); ++v) programVector(v, false);
    engine = std::make_unique<EqEngine>(context, config, *vectors);
  }
  static constexpr std::uint64_t address(std::uint32_t vector) { return 0xFEE00000 + 4096 * std::uint64_t{vector}; }
  void programVector(std::uint32_t vector, bool masked) {
    const auto low = static_cast<std::uint32_t>(address(vector));
    writeWord(vector * 16, low);
    writeWord(vector * 16 + 4, 0);
    writeWord(vector * 16 + 8, 0x40 + vector);
    writeWord(vector * 16 + 12, masked ? 1 : 0);
  }
  void setMask(std::uint32_t vector, bool masked) { writeWord(vector * 16 + 12, masked ? 1 : 0); }
  void writeWord(std::uint32_t offset, std::uint32_t value) {
    const std::uint8_t bytes[4] = {static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(value >> 8),
                                   static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 24)};
    vectors->writeTable(offset, {bytes, sizeof bytes});
  }

  EqAttributes attributes(std::uint8_t logSize, std::uint32_t vector = 0) {
    EqAttributes wanted;
    wanted.logSize = logSize;
    wanted.uar = kUar;
    wanted.vector = InterruptVector(vector);
    for (std::uint64_t page = 0; page * 4096 < std::uint64_t{64} << logSize; ++page) {
      wanted.ring.pages.push_back(BusAddress(nextRing_));
      nextRing_ += 4096;
    }
    return wanted;
  }
  EqNumber create(const EqAttributes& wanted) {
    EqNumber number;
    EXPECT_TRUE(engine->create(wanted, number).ok());
    return number;
  }
  void doorbell(EqNumber eq, std::uint64_t consumer, bool arm, UarIndex uar = kUar) {
    const wire::EqDoorbell word{static_cast<std::uint8_t>(eq.value()), static_cast<std::uint32_t>(consumer & 0xFFFFFF)};
    engine->onDoorbell(uar, word.word(), arm);
  }
  void arm(EqNumber eq, std::uint64_t consumer) {
    doorbell(eq, consumer, true);
    settle();
  }
  void raise(EqNumber eq, int events = 1, std::uint32_t cq = 5) {
    for (int i = 0; i < events; ++i) engine->raiseCompletion(eq, CqNumber(cq));
  }
  void settle() { calendar.runUntil(kForever); }

  [[nodiscard]] std::uint64_t messages() const { return dma.messages; }
  [[nodiscard]] std::size_t entries() const { return dma.count(pcie::Traffic::kEqe); }
  [[nodiscard]] EqAttributes query(EqNumber eq) const {
    EqAttributes present;
    EXPECT_TRUE(engine->query(eq, present).ok());
    return present;
  }

  kernel::Calendar calendar;
  observe::Probes probes;
  kernel::PayloadPool pool;
  hca::test::FakeDmaPort dma{calendar, 1u << 20};
  AdapterContext context{calendar,     probes,         pool, dma, kernel::ClockDomain(Hertz(1'000'000'000)),
                         HostIndex(3), AdapterIndex(1)};
  EventConfig config;
  std::unique_ptr<MsixTable> vectors;
  std::unique_ptr<EqEngine> engine;

 private:
  std::uint64_t nextRing_ = 0x10000;
};

}  // namespace hca::adapter::test
