// Send work requests that do nothing but complete.
#include <gtest/gtest.h>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

using Options = RcPair::Options;

constexpr std::uint8_t kFence = 2 << 5;

Options nop(std::uint8_t completion = 0x08) {
  Options options;
  options.opcode = 0;
  options.completion = completion;
  return options;
}

TEST(Nop, CompletesWithoutAPacketOnQueuePairsOfEveryKind) {
  for (const QpService service : {QpService::kRc, QpService::kUc, QpService::kUd, QpService::kQp1}) {
    RcPair pair(0, service);
    pair.post(0, nop());
    pair.run();
    ASSERT_EQ(pair.a.completions.records.size(), 1u) << static_cast<int>(service);
    const CompletionRecord& record = pair.a.completions.records[0];
    EXPECT_EQ(record.opcode, CqeOpcode::kRequester);
    EXPECT_EQ(record.sendOpcode, 0);
    EXPECT_EQ(record.wqeCounter, 0);
    EXPECT_EQ(pair.a.wire.sent, 0);
  }
}

TEST(Nop, CompletesInTheOrderOfTheQueue) {
  RcPair pair;
  pair.fill(600);
  pair.putWqe(pair.wqe(600, {}));
  pair.putWqe(pair.wqe(0, nop()));
  pair.putWqe(pair.wqe(600, {}));
  pair.ring();
  pair.run();
  EXPECT_TRUE(pair.arrived(600));
  ASSERT_EQ(pair.a.completions.records.size(), 3u);
  for (std::uint16_t n = 0; n < 3; ++n) EXPECT_EQ(pair.a.completions.records[n].wqeCounter, n);
  EXPECT_EQ(pair.a.completions.records[1].sendOpcode, 0);
}

TEST(Nop, UnsignalledTellsNothing) {
  RcPair pair;
  pair.putWqe(pair.wqe(0, nop(0)));
  pair.putWqe(pair.wqe(64, {}));
  pair.ring();
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].wqeCounter, 1);
}

TEST(Nop, AFencedOneWaitsForReadsAndTheQueueGoesOn) {
  RcPair pair;
  Options read;
  read.opcode = 0x10;
  pair.putWqe(pair.wqe(600, read));
  pair.putWqe(pair.wqe(0, nop(0x08 | kFence)));
  pair.putWqe(pair.wqe(64, {}));
  pair.ring();
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 3u);
  EXPECT_EQ(pair.a.completions.records[0].sendOpcode, 0x10);
  EXPECT_EQ(pair.a.completions.records[1].sendOpcode, 0);
  EXPECT_FALSE(pair.a.completions.records[2].isError());
}

TEST(Nop, OfAQueuePairInErrorIsFlushed) {
  RcPair pair;
  ASSERT_TRUE(pair.a.table.modify(pair.qpA, QpTransition::kToError, 0, {}).ok());
  pair.post(0, nop());
  pair.run();
  ASSERT_EQ(pair.a.completions.records.size(), 1u);
  EXPECT_EQ(pair.a.completions.records[0].syndrome, CqeSyndrome::kWorkRequestFlushed);
}

}  // namespace
}  // namespace hca::adapter::test
