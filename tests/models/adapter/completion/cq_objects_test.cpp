// Completion queues as commands see them: what is refused, what can be asked, what goes.
#include <gtest/gtest.h>

#include "models/adapter/completion/cq_engine.h"
#include "tests/models/adapter/completion/cq_bench.h"

namespace hca::adapter {
namespace {

using test::CqBench;

TEST(CqEngine, ModifyChangesOnlyWhatIsSelected) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  CqModeration change;
  change.period = 4095;
  EXPECT_TRUE(bench.engine->modifyModeration(cq, change).ok());
  change.period.reset();
  change.count = 9;
  EXPECT_TRUE(bench.engine->modifyModeration(cq, change).ok());
  EXPECT_EQ(bench.query(cq).moderationPeriod, 4095);
  EXPECT_EQ(bench.query(cq).moderationCount, 9);
  change.period = 4096;
  change.count = 1;
  const CommandResult result = bench.engine->modifyModeration(cq, change);
  EXPECT_EQ(result.status, CommandStatus::kExceedLimit);
  EXPECT_EQ(result.syndrome, Syndrome::kCqModerationOutOfRange);
  EXPECT_EQ(bench.query(cq).moderationCount, 9) << "refused as a whole";
  EXPECT_EQ(bench.engine->modifyModeration(CqNumber(99), {}).syndrome, Syndrome::kUnknownCq);
}

TEST(CqEngine, WithoutModerationNothingButZeroIsTaken) {
  CqBench bench;
  bench.config.moderation = false;
  bench.build();
  const CqNumber cq = bench.create(bench.attributes(4));
  CqModeration change;
  change.period = change.count = 0;
  EXPECT_TRUE(bench.engine->modifyModeration(cq, change).ok());
  change.count = 1;
  EXPECT_EQ(bench.engine->modifyModeration(cq, change).syndrome, Syndrome::kCqModerationUnsupported);
  change.count.reset();
  change.period = 1;
  EXPECT_EQ(bench.engine->modifyModeration(cq, change).syndrome, Syndrome::kCqModerationUnsupported);
  CqAttributes attributes = bench.attributes(4);
  attributes.moderationCount = 1;
  CqNumber number;
  EXPECT_EQ(bench.engine->create(attributes, number).syndrome, Syndrome::kCqModerationUnsupported);
}

TEST(CqEngine, CreateRefusesEachBadFieldWithItsSyndrome) {
  CqBench bench;
  const auto refusal = [&](auto&& spoil) {
    CqAttributes wanted = bench.attributes(2);
    spoil(wanted);
    CqNumber number(12345);
    const CommandResult result = bench.engine->create(wanted, number);
    EXPECT_EQ(number, CqNumber(12345)) << "untouched by a refusal";
    return std::pair(result.status, result.syndrome);
  };
  const auto bad = [](Syndrome s) { return std::pair(CommandStatus::kBadParameter, s); };
  const auto compressed = [&](auto&& spoil) {
    return refusal([&spoil](auto& a) {
      a.compression = true;
      spoil(a);
    });
  };
  const auto unsupported = bad(Syndrome::kCqFormatUnsupported);
  EXPECT_EQ(compressed([](auto& a) { a.miniFormat = 2; }), unsupported);
  EXPECT_EQ(compressed([](auto& a) { a.miniFormatExtension = 1; }), unsupported);
  EXPECT_EQ(compressed([](auto& a) { a.compressionLayout = 2; }), unsupported);
  EXPECT_EQ(compressed([](auto& a) { a.stride = CqeStride::k128Padded; }), unsupported);
  EXPECT_EQ(compressed([](auto& a) { a.collapsed = true; }), unsupported) << "a session needs slots";
  EXPECT_EQ(refusal([](auto& a) { a.timestampFormat = static_cast<TimestampFormat>(3); }),
            bad(Syndrome::kCqFormatUnsupported));
  EXPECT_EQ(refusal([](auto& a) { a.stride = static_cast<CqeStride>(3); }), bad(Syndrome::kCqEntrySizeUnsupported));
  EXPECT_EQ(refusal([](auto& a) { a.logSize = 23; }),
            std::pair(CommandStatus::kExceedLimit, Syndrome::kCqSizeOutOfRange));
  EXPECT_EQ(refusal([](auto& a) { a.moderationPeriod = 4096; }),
            std::pair(CommandStatus::kExceedLimit, Syndrome::kCqModerationOutOfRange));
  EXPECT_EQ(refusal([](auto& a) { a.ring.pages.clear(); }), bad(Syndrome::kCqPagesWrong));
  EXPECT_EQ(refusal([](auto& a) { a.logSize = 7; }), bad(Syndrome::kCqPagesWrong)) << "one page holds 64";
  EXPECT_EQ(refusal([](auto& a) { a.ring.offset = 32; }), bad(Syndrome::kCqPagesWrong));
  EXPECT_EQ(refusal([](auto& a) { a.ring.offset = 4096; }), bad(Syndrome::kCqPagesWrong));
  EXPECT_EQ(refusal([](auto& a) { a.ring.pages[0] = BusAddress(0x20800); }), bad(Syndrome::kCqPagesWrong));
  EXPECT_EQ(refusal([](auto& a) { a.ring.logPageSize = 11; }), bad(Syndrome::kCqPagesWrong));
  EXPECT_EQ(refusal([](auto& a) { a.doorbellRecord = BusAddress(0x1004); }), bad(Syndrome::kCqDoorbellRecordBad));
  EXPECT_EQ(refusal([](auto& a) { a.eq = EqNumber(9); }),
            std::pair(CommandStatus::kBadResource, Syndrome::kCqEqUnknown));
  EXPECT_EQ(bench.events.holders[1], 0) << "nothing is held after a refusal";
}

TEST(CqEngine, ShortEntriesAreThereOnDemandAlone) {
  CqBench bench;
  CqNumber number;
  EXPECT_EQ(bench.engine->create(bench.attributes(2, CqeStride::k32), number).syndrome,
            Syndrome::kCqEntrySizeUnsupported);
  bench.config.shortEntries = true;
  bench.build();
  CqAttributes compressed = bench.attributes(2, CqeStride::k32);
  compressed.compression = true;
  EXPECT_EQ(bench.engine->create(compressed, number).syndrome, Syndrome::kCqFormatUnsupported);
  const CqAttributes wanted = bench.attributes(2, CqeStride::k32);
  const CqNumber cq = bench.create(wanted);
  bench.complete(cq, 2);
  bench.settle();
  const auto writes = bench.dma.of(pcie::Traffic::kCqe);
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_EQ(writes[1].address, wanted.ring.pages[0].value() + 32);
  EXPECT_EQ(writes[1].bytes.size(), 32u);
}

TEST(CqEngine, TableHasALimit) {
  CqBench bench;
  bench.config.logMaxCqs = 1;
  bench.build();
  bench.createSmall();
  CqNumber number;
  const CommandResult result = bench.engine->create(bench.attributes(2), number);
  EXPECT_EQ(result.status, CommandStatus::kNoResources);
  EXPECT_EQ(result.syndrome, Syndrome::kCqLimit);
  EXPECT_EQ(bench.events.holders[1], 1);
}

TEST(CqEngine, DestroyIsRefusedWhileAttached) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  ASSERT_TRUE(bench.engine->attach(cq).ok());
  ASSERT_TRUE(bench.engine->attach(cq).ok());
  bench.engine->detach(cq);
  EXPECT_EQ(bench.engine->destroy(cq).status, CommandStatus::kResourceBusy);
  EXPECT_EQ(bench.engine->destroy(cq).syndrome, Syndrome::kCqInUse);
  bench.engine->detach(cq);
  EXPECT_EQ(bench.events.holders[1], 1) << "the event queue is held";
  EXPECT_TRUE(bench.engine->destroy(cq).ok());
  EXPECT_EQ(bench.events.holders[1], 0);
  EXPECT_EQ(bench.engine->destroy(cq).status, CommandStatus::kBadResource);
  CqAttributes present;
  EXPECT_EQ(bench.engine->query(cq, present).syndrome, Syndrome::kUnknownCq);
  EXPECT_EQ(bench.engine->attach(cq).syndrome, Syndrome::kUnknownCq);
}

TEST(CqEngine, CompletionForADestroyedQueueIsDroppedAndFailsItsQueuePair) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.complete(cq, 1, 77);
  ASSERT_TRUE(bench.engine->destroy(cq).ok());
  bench.settle();
  EXPECT_TRUE(bench.dma.log.empty());
  EXPECT_EQ(bench.engine->counters().completionsUnknownCq, 1u);
  EXPECT_EQ(bench.failures.qps, std::vector<std::uint32_t>{77});
}

TEST(CqEngine, QueryShowsTheIndices) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.arm(cq, 0);
  bench.settle();
  CompletionRecord record = CqBench::completion(cq);
  record.opcode = CqeOpcode::kResponderSend;
  record.solicited = true;
  bench.engine->complete(record);
  record.solicited = false;
  bench.engine->complete(record);
  bench.settle();
  const CqAttributes present = bench.query(cq);
  EXPECT_EQ(present.status, CqStatus::kOk);
  EXPECT_EQ(present.producerCounter, 2u);
  EXPECT_EQ(present.consumerCounter, 0u);
  EXPECT_EQ(present.lastNotifiedIndex, 1u);
  EXPECT_EQ(present.lastSolicitedIndex, 1u);
}

TEST(CqEngine, ResetForgetsEverything) {
  CqBench bench;
  const CqNumber cq = bench.createSmall();
  bench.complete(cq, 1);
  bench.settle();
  bench.complete(cq, 2);
  bench.arm(cq, 0);
  bench.engine->reset();
  bench.settle();
  EXPECT_EQ(bench.dma.count(pcie::Traffic::kCqe), 1u);
  EXPECT_TRUE(bench.events.events.empty());
  EXPECT_TRUE(bench.failures.qps.empty());
  EXPECT_EQ(bench.createSmall(), cq) << "as after power-on";
  const auto summaries = bench.engine->summaries();
  ASSERT_EQ(summaries.size(), 2u) << "results outlive the reset";
  EXPECT_EQ(summaries[0].counters.cqes, 1u);
  EXPECT_EQ(summaries[1].counters.cqes, 0u);
}

TEST(CqEngine, SummariesKeepDestroyedQueuesThatWereUsed) {
  CqBench bench;
  const CqNumber used = bench.create(bench.attributes(3, CqeStride::k128));
  const CqNumber unused = bench.createSmall();
  bench.complete(used, 2);
  bench.settle();
  ASSERT_TRUE(bench.engine->destroy(used).ok());
  ASSERT_TRUE(bench.engine->destroy(unused).ok());
  const auto summaries = bench.engine->summaries();
  ASSERT_EQ(summaries.size(), 1u);
  EXPECT_EQ(summaries[0].number, used);
  EXPECT_EQ(summaries[0].entries, 8u);
  EXPECT_EQ(summaries[0].entryBytes, 128u);
  EXPECT_EQ(summaries[0].counters.cqes, 2u);
  EXPECT_EQ(summaries[0].counters.highWater, 2u);
}

}  // namespace
}  // namespace hca::adapter
