// Probes and the names of work requests, alone.
#include <gtest/gtest.h>

#include <vector>

#include "models/observe/probes.h"

namespace hca::observe {
namespace {

TEST(Probe, BuildsNoEventWithoutAListener) {
  Probe<StageEvent> probe;
  bool built = false;
  probe.fire([&] {
    built = true;
    return StageEvent{};
  });
  EXPECT_FALSE(built);
  EXPECT_FALSE(probe.hasListeners());
}

TEST(Probe, TellsEveryListenerInOrderOfAttachment) {
  Probe<StageEvent> probe;
  std::vector<int> order;
  probe.attach([&](const StageEvent& event) {
    EXPECT_EQ(event.time, nanoseconds(7));
    order.push_back(1);
  });
  probe.attach([&](const StageEvent&) { order.push_back(2); });
  int built = 0;
  probe.fire([&] {
    ++built;
    return StageEvent{Stage::kPosted, nanoseconds(7), {}};
  });
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_EQ(built, 1);
}

TEST(WorkRequestId, DiffersInEachPart) {
  const WorkRequestId id{HostIndex(1), AdapterIndex(0), QpNumber(5), WorkQueue::kSend, 9};
  WorkRequestId other = id;
  EXPECT_EQ(id, other);
  other.index = 10;
  EXPECT_NE(id, other);
  other = id;
  other.queue = WorkQueue::kReceive;
  EXPECT_NE(id, other);
  other = id;
  other.qp = QpNumber(6);
  EXPECT_NE(id, other);
  other = id;
  other.host = HostIndex(0);
  EXPECT_NE(id, other);
}

TEST(ExtendIndex, FindsTheNearestFreeRunningIndex) {
  EXPECT_EQ(extendIndex(5, 3), 5u);
  EXPECT_EQ(extendIndex(0x0001, 0xFFFF), 0x10001u) << "ahead over the wrap";
  EXPECT_EQ(extendIndex(0xFFFF, 0x10000), 0xFFFFu) << "behind over the wrap";
  EXPECT_EQ(extendIndex(0x1234, 0x7'0000'1230), 0x7'0000'1234u);
  EXPECT_EQ(extendIndex(0x7FFF, 0), 0x7FFFu) << "as far ahead as 16 bits can tell";
}

}  // namespace
}  // namespace hca::observe
