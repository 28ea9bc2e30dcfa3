// What a port sends to itself goes round inside the adapter.
#include <gtest/gtest.h>

#include "tests/models/adapter/transport/rc_pair.h"

namespace hca::adapter::test {
namespace {

using Options = RcPair::Options;

constexpr std::uint64_t kThere = RcPair::kData + 0x8000;

/// A pair whose left queue pair is connected with itself.
struct SelfConnected : RcPair {
  explicit SelfConnected(QpService service = QpService::kRc) {
    qpA = qpB = create(a, service);
    connect(a, qpA, qpA, 1, 0x500);
  }
  void receive(std::uint32_t length) { postReceiveAt(a, length, kThere, PlainTranslator::kKey); }
  [[nodiscard]] bool cameRound(std::uint32_t length) const {
    return std::memcmp(&a.memory.bytes[kData], &a.memory.bytes[kThere], length) == 0;
  }
};

TEST(Loopback, QueuePairConnectedWithItselfUsesNoLink) {
  SelfConnected pair;
  Options write, read, send;
  write.remote = kThere;
  read.opcode = 0x10;
  read.local = kThere + 0x1000;
  read.remote = kThere;
  send.opcode = 0x0A;
  pair.fill(600);
  pair.receive(600);
  pair.post(600, write);
  pair.post(600, read);
  pair.run();
  EXPECT_TRUE(pair.cameRound(600));
  EXPECT_EQ(std::memcmp(&pair.a.memory.bytes[kThere], &pair.a.memory.bytes[kThere + 0x1000], 600), 0);
  std::fill_n(pair.a.memory.bytes.begin() + static_cast<std::ptrdiff_t>(kThere), 600, std::uint8_t{0});
  pair.post(600, send);
  pair.run();
  EXPECT_TRUE(pair.cameRound(600));
  ASSERT_EQ(pair.a.completions.records.size(), 4u);
  for (const CompletionRecord& record : pair.a.completions.records) EXPECT_FALSE(record.isError());
  EXPECT_EQ(pair.a.wire.sent, 0);
  EXPECT_EQ(pair.a.loopback.packets(), 3u + 1 + 1 + 3 + 3 + 1) << "requests with their answers";
}

TEST(Loopback, DatagramToTheOwnPortComesRound) {
  SelfConnected pair(QpService::kUd);
  Options send;
  send.opcode = 0x0A;
  send.datagram = true;
  send.remoteLid = 1;
  pair.fill(100);
  pair.receive(140);
  pair.post(100, send);
  pair.run();
  EXPECT_EQ(std::memcmp(&pair.a.memory.bytes[RcPair::kData], &pair.a.memory.bytes[kThere + 40], 100), 0);
  ASSERT_EQ(pair.a.completions.records.size(), 2u);
  EXPECT_EQ(pair.a.completions.records[1].sourceLid, 1u);
  EXPECT_EQ(pair.a.wire.sent, 0);
}

Time timeOfWrite(std::int64_t gigabits, Time latency) {
  SelfConnected pair;
  pair.a.config.loopbackRate = BitsPerSecond(gigabits * 1'000'000'000);
  pair.a.config.loopbackLatency = latency;
  Time completed;
  pair.a.probes.stage.attach([&](const observe::StageEvent& event) {
    if (event.stage == observe::Stage::kAcknowledged) completed = event.time;
  });
  pair.post(200);
  pair.run();
  return completed;
}

TEST(Loopback, TakesItsLatencyAndItsRate) {
  const Time base = timeOfWrite(100, Time(0));
  EXPECT_EQ(timeOfWrite(100, nanoseconds(250)) - base, nanoseconds(500)) << "there and back";
  // 8 LRH, 12 BTH, 16 RETH, 200, 4 + 2 CRC; and 8, 12, 4 AETH, 4 + 2: 80 ps a byte at 100 Gbit/s, 800 at 10.
  EXPECT_EQ(timeOfWrite(10, Time(0)) - base, picoseconds(720) * (242 + 30));
}

}  // namespace
}  // namespace hca::adapter::test
