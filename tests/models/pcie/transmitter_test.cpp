#include "models/pcie/transmitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace hca::pcie {
namespace {

using Sender = Transmitter<int>;

struct Lanes : Sender::Sink {
  Lanes(kernel::Calendar& c, const CreditLimits& limits) : calendar(c), sender(c, limits, *this) {}
  void onTransmit(const Sender::Outbound& outbound, Time last) override {
    sent.emplace_back(outbound.cargo, last);
    if (processing != kForever) sender.giveBack(outbound.tlpClass, outbound.burst, last + processing);
  }
  void send(TlpClass tlpClass, int cargo, std::uint32_t data = 1, bool relaxed = false) {
    Sender::Outbound outbound;
    outbound.tlpClass = tlpClass;
    outbound.relaxedOrdering = relaxed;
    outbound.burst = {1, data, Bytes(100), nanoseconds(10)};
    outbound.cargo = cargo;
    sender.send(outbound);
  }
  [[nodiscard]] std::vector<int> order() const {
    std::vector<int> cargos;
    for (const auto& [cargo, last] : sent) cargos.push_back(cargo);
    return cargos;
  }
  kernel::Calendar& calendar;
  Sender sender;
  Time processing = kForever;  // until credits come back; kForever: by hand
  std::vector<std::pair<int, Time>> sent;
};

constexpr auto kPosted = TlpClass::kPosted;
constexpr auto kNonPosted = TlpClass::kNonPosted;
constexpr auto kCompletion = TlpClass::kCompletion;

TEST(Transmitter, BackToBackAndThenIdle) {
  kernel::Calendar calendar;
  Lanes lanes(calendar, {});
  lanes.send(kPosted, 1);
  lanes.send(kNonPosted, 2);
  calendar.advanceTo(nanoseconds(50));
  lanes.send(kCompletion, 3);
  EXPECT_EQ(lanes.sent,
            (std::vector<std::pair<int, Time>>{{1, nanoseconds(10)}, {2, nanoseconds(20)}, {3, nanoseconds(60)}}));
  EXPECT_EQ(calendar.next(), kForever) << "without a wait there is no event";
}

CreditLimits oneOfEach() { return {1, 0, 1, 0, 1, 0}; }

TEST(Transmitter, PostedAndCompletionsPassABlockedNonPosted) {
  kernel::Calendar calendar;
  Lanes lanes(calendar, oneOfEach());
  lanes.send(kNonPosted, 1);
  lanes.send(kNonPosted, 2);
  lanes.send(kPosted, 3);
  lanes.send(kCompletion, 4);
  EXPECT_EQ(lanes.order(), (std::vector<int>{1, 3, 4}));
  EXPECT_EQ(lanes.sender.waitState().classes[1].bursts, 1U);
  lanes.sender.giveBack(kNonPosted, {1, 0, Bytes(0), Time()}, nanoseconds(77));
  calendar.runUntil(nanoseconds(77) - picoseconds(1));
  EXPECT_EQ(lanes.sent.size(), 3U);
  calendar.runUntil(nanoseconds(77));
  EXPECT_EQ(lanes.sent.back(), std::make_pair(2, nanoseconds(87)));
  EXPECT_EQ(lanes.sender.waitState().delayed, 1U);
  EXPECT_EQ(lanes.sender.waitState().longestWait, nanoseconds(77));
}

TEST(Transmitter, NothingPassesABlockedPosted) {
  kernel::Calendar calendar;
  Lanes lanes(calendar, {1, 0, 0, 0, 0, 0});
  lanes.send(kPosted, 1);
  lanes.send(kPosted, 2);
  lanes.send(kNonPosted, 3);
  lanes.send(kCompletion, 4);
  EXPECT_EQ(lanes.order(), std::vector<int>{1});
  lanes.sender.giveBack(kPosted, {1, 1, Bytes(0), Time()}, nanoseconds(5));
  calendar.runUntil(nanoseconds(5));
  EXPECT_EQ(lanes.order(), (std::vector<int>{1, 2, 3, 4}));
}

TEST(Transmitter, WhatCameBeforeABlockedPostedNeedNotWaitForIt) {
  kernel::Calendar calendar;
  Lanes lanes(calendar, oneOfEach());
  lanes.send(kNonPosted, 1);
  lanes.send(kPosted, 2);
  lanes.send(kNonPosted, 3);   // blocked
  lanes.send(kPosted, 4);      // blocked
  lanes.send(kCompletion, 5);  // behind 4
  lanes.sender.giveBack(kNonPosted, {1, 0, Bytes(0), Time()}, nanoseconds(1));
  calendar.runUntil(nanoseconds(1));
  EXPECT_EQ(lanes.order(), (std::vector<int>{1, 2, 3}));
}

TEST(Transmitter, RelaxedOnesPassABlockedPosted) {
  kernel::Calendar calendar;
  Lanes lanes(calendar, {0, 8, 0, 0, 0, 0});
  lanes.send(kPosted, 1, 4);
  lanes.send(kPosted, 2, 8);         // blocked: needs all data credits
  lanes.send(kPosted, 3, 4, false);  // could go, but may not
  lanes.send(kPosted, 4, 4, true);
  lanes.send(kCompletion, 5, 0, true);
  EXPECT_EQ(lanes.order(), (std::vector<int>{1, 4, 5}));
  lanes.sender.giveBack(kPosted, {1, 8, Bytes(0), Time()}, nanoseconds(9));
  calendar.runUntil(nanoseconds(9));
  EXPECT_EQ(lanes.order(), (std::vector<int>{1, 4, 5, 2}));
}

TEST(Transmitter, AStreamOfRelaxedOnesLetsThePostedGoInTheEnd) {
  kernel::Calendar calendar;
  Lanes lanes(calendar, {0, 8, 0, 0, 0, 0});
  lanes.processing = nanoseconds(100);
  lanes.send(kPosted, 1, 4);
  lanes.send(kPosted, 2, 8);
  for (int i = 0; i < 200; ++i) lanes.send(kPosted, 1000 + i, 4, true);
  calendar.runUntil(kForever);
  ASSERT_EQ(lanes.sent.size(), 202U);
  const std::vector<int> order = lanes.order();
  const auto place = std::find(order.begin(), order.end(), 2) - order.begin();
  EXPECT_GT(place, 1);
  EXPECT_LE(place, 17);
}

TEST(Transmitter, CountsTrafficByKind) {
  kernel::Calendar calendar;
  Lanes lanes(calendar, {});
  for (int i = 0; i < 3; ++i) lanes.send(kPosted, i);
  const TrafficCount& count = lanes.sender.counts()[static_cast<std::size_t>(Traffic::kPayload)];
  EXPECT_EQ(count.tlps, 3U);
  EXPECT_EQ(count.bytes, 300U);
  EXPECT_EQ(count.busy, nanoseconds(30));
}

}  // namespace
}  // namespace hca::pcie
