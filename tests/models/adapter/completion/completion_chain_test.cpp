// Completion and event block together: data, CQE, EQE, MSI-X.
#include <gtest/gtest.h>

#include "models/adapter/completion/cq_engine.h"
#include "tests/models/adapter/event/eq_bench.h"

namespace hca::adapter {
namespace {

using test::EqBench;
using Traffic = pcie::Traffic;

struct Chain : EqBench {
  Chain() : completions(context, completionConfig, *engine, *engine) {
    for (std::uint32_t v = 0; v < 2; ++v) {
      EqAttributes wanted = attributes(4, v);
      wanted.eventBitmap[0] = v == 0 ? std::uint64_t{1} << 0x04 : 0;  // CQ errors to the first
      queues[v] = create(wanted);
      arm(queues[v], 0);
    }
  }
  CqNumber createCq(EqNumber eq) {
    CqAttributes wanted;
    wanted.logSize = 2;
    wanted.uar = kUar;
    wanted.eq = eq;
    wanted.ring.pages = {BusAddress(nextCq)};
    wanted.doorbellRecord = BusAddress(nextCq + 2048);
    nextCq += 4096;
    CqNumber number;
    EXPECT_TRUE(completions.create(wanted, number).ok());
    return number;
  }
  void armCq(CqNumber cq, std::uint32_t consumer, std::uint8_t sequence = 0) {
    completions.onArm(kUar, wire::CqArm{cq.value(), consumer, sequence, false}.word());
    settle();
  }
  void complete(CqNumber cq) {
    CompletionRecord record;
    record.cq = cq;
    completions.complete(record);
  }
  std::vector<Traffic> order() const {
    std::vector<Traffic> seen;
    for (const auto& operation : dma.log) seen.push_back(operation.traffic);
    return seen;
  }

  CompletionConfig completionConfig;
  CqEngine completions;
  EqNumber queues[2];
  std::uint64_t nextCq = 0x80000;
};

TEST(CompletionChain, DataThenCqeThenEqeThenMessage) {
  Chain chain;
  const CqNumber cq = chain.createCq(chain.queues[1]);
  chain.armCq(cq, 0);
  const std::vector<std::uint8_t> data(64, 1);
  pcie::DmaWrite payload;
  payload.address = BusAddress(0x90000);
  payload.data = data;
  payload.length = 64;
  chain.dma.write(payload);
  const Time start = chain.calendar.now();
  chain.complete(cq);
  chain.settle();
  EXPECT_EQ(chain.order(),
            (std::vector<Traffic>{Traffic::kPayload, Traffic::kCqe, Traffic::kEqe, Traffic::kInterrupt}));
  EXPECT_EQ(chain.dma.log[1].time, start + nanoseconds(40));
  EXPECT_EQ(chain.dma.log[2].time, start + nanoseconds(80));
  EXPECT_EQ(chain.dma.log[3].time, start + nanoseconds(80));
  EXPECT_EQ(chain.dma.log[3].address, EqBench::address(1)) << "the vector of its event queue, and no other";
  EXPECT_EQ(chain.dma.log[2].bytes[0x3B], cq.value());
}

TEST(CompletionChain, OrderHoldsWithoutAnyLatency) {
  Chain chain;
  chain.completionConfig.cqeBuildCycles = chain.completionConfig.cqeWriteCycles = Cycles(0);
  chain.config.eqeBuildCycles = chain.config.eqeWriteCycles = Cycles(0);
  EqEngine events(chain.context, chain.config, *chain.vectors);
  CqEngine completions(chain.context, chain.completionConfig, events, events);
  EqNumber eq;
  ASSERT_TRUE(events.create(chain.attributes(3), eq).ok());
  CqAttributes wanted;
  wanted.logSize = 2;
  wanted.uar = EqBench::kUar;
  wanted.eq = eq;
  wanted.ring.pages = {BusAddress(0xA0000)};
  wanted.doorbellRecord = BusAddress(0xA0800);
  CqNumber cq;
  ASSERT_TRUE(completions.create(wanted, cq).ok());
  events.onDoorbell(EqBench::kUar, wire::EqDoorbell{static_cast<std::uint8_t>(eq.value()), 0}.word(), true);
  completions.onArm(EqBench::kUar, wire::CqArm{cq.value(), 0, 0, false}.word());
  chain.settle();
  CompletionRecord record;
  record.cq = cq;
  completions.complete(record);
  completions.complete(record);
  chain.settle();
  const auto order = chain.order();
  ASSERT_EQ(order.size(), 4u);
  const auto position = [&](Traffic t) { return std::find(order.begin(), order.end(), t) - order.begin(); };
  EXPECT_EQ(position(Traffic::kCqe), 0);
  EXPECT_EQ(position(Traffic::kInterrupt), position(Traffic::kEqe) + 1);
}

TEST(CompletionChain, ManyEntriesOneInterrupt) {
  Chain chain;
  const CqNumber cq = chain.createCq(chain.queues[1]);
  chain.armCq(cq, 0);
  for (int i = 0; i < 4; ++i) chain.complete(cq);
  chain.settle();
  EXPECT_EQ(chain.dma.count(Traffic::kCqe), 4u);
  EXPECT_EQ(chain.dma.count(Traffic::kEqe), 1u);
  EXPECT_EQ(chain.messages(), 1u);
}

TEST(CompletionChain, EventOfADestroyedQueueStillComesOnce) {
  Chain chain;
  const CqNumber cq = chain.createCq(chain.queues[1]);
  chain.armCq(cq, 0);
  chain.complete(cq);
  chain.calendar.runUntil(chain.calendar.now() + nanoseconds(41));
  ASSERT_TRUE(chain.completions.destroy(cq).ok());
  chain.settle();
  EXPECT_EQ(chain.dma.count(Traffic::kEqe), 1u) << "it was raised before the end";
}

TEST(CompletionChain, OverrunReachesTheErrorQueue) {
  Chain chain;
  const CqNumber cq = chain.createCq(chain.queues[1]);
  for (int i = 0; i < 7; ++i) chain.complete(cq);
  chain.settle();
  const auto entries = chain.dma.of(Traffic::kEqe);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].bytes[0x01], 0x04);
  EXPECT_EQ(entries[0].bytes[0x23], cq.value());
  EXPECT_EQ(entries[0].bytes[0x2B], 1);
  ASSERT_EQ(chain.messages(), 1u);
  EXPECT_EQ(chain.dma.of(Traffic::kInterrupt)[0].address, EqBench::address(0));
}

TEST(CompletionChain, EventQueueIsHeldByItsCompletionQueues) {
  Chain chain;
  const CqNumber cq = chain.createCq(chain.queues[1]);
  EXPECT_EQ(chain.engine->destroy(chain.queues[1]).syndrome, Syndrome::kEqInUse);
  ASSERT_TRUE(chain.completions.destroy(cq).ok());
  EXPECT_TRUE(chain.engine->destroy(chain.queues[1]).ok());
}

}  // namespace
}  // namespace hca::adapter
