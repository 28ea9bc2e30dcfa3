#include "models/host/interrupt_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace hca::host {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RecordingSink final : public pcie::InterruptSink {
 public:
  explicit RecordingSink(kernel::Calendar& c) : calendar(c) {}
  void onInterrupt(InterruptVector vector) override { seen.emplace_back(calendar.now(), vector.value()); }
  kernel::Calendar& calendar;
  std::vector<std::pair<Time, std::uint32_t>> seen;
};

class InterruptControllerTest : public testing::Test {
 protected:
  static constexpr Time kLatency = nanoseconds(200);
  void send(const MsiMessage& message) { controller.onMessage(message.address, message.data); }

  kernel::Calendar calendar;
  observe::Probes probes;
  InterruptController controller{calendar, probes, HostIndex(3), kLatency};
  RecordingSink sink{calendar};
};

TEST_F(InterruptControllerTest, DeliversAfterTheLatencyAndNotBefore) {
  const MsiMessage message = controller.allocate(sink, InterruptVector(5));
  calendar.advanceTo(nanoseconds(10));
  send(message);
  calendar.runUntil(nanoseconds(10) + kLatency - picoseconds(1));
  EXPECT_THAT(sink.seen, IsEmpty());
  calendar.runUntil(nanoseconds(10) + kLatency);
  EXPECT_THAT(sink.seen, ElementsAre(std::pair(nanoseconds(210), 5u)));
}

TEST_F(InterruptControllerTest, MessagesLieInTheInterruptRangeAndAreDistinct) {
  const MsiMessage a = controller.allocate(sink, InterruptVector(0));
  const MsiMessage b = controller.allocate(sink, InterruptVector(1));
  RecordingSink other(calendar);
  const MsiMessage c = controller.allocate(other, InterruptVector(0), AdapterIndex(1));
  for (const MsiMessage& message : {a, b, c}) EXPECT_EQ(message.address.value() >> 20, 0xFEEu);
  send(c);
  send(b);
  calendar.runUntil(kLatency);
  EXPECT_THAT(sink.seen, ElementsAre(std::pair(kLatency, 1u)));
  EXPECT_THAT(other.seen, ElementsAre(std::pair(kLatency, 0u)));
  EXPECT_EQ(controller.delivered(a), 0u);
  EXPECT_EQ(controller.delivered(b), 1u);
  EXPECT_EQ(controller.delivered(c), 1u);
}

TEST_F(InterruptControllerTest, DropsAndCountsWhatNobodyAllocated) {
  const MsiMessage message = controller.allocate(sink, InterruptVector(0));
  controller.onMessage(message.address, message.data + 1);
  controller.onMessage(advance(message.address, 0x1000), message.data);
  controller.onMessage(message.address, 0xFFFF'FFFF);
  calendar.runUntil(microseconds(1));
  EXPECT_THAT(sink.seen, IsEmpty());
  EXPECT_EQ(controller.unknown(), 3u);
}

TEST_F(InterruptControllerTest, AMessageMergesWithOneThatWasNotDelivered) {
  const MsiMessage message = controller.allocate(sink, InterruptVector(2));
  const MsiMessage other = controller.allocate(sink, InterruptVector(3));
  send(message);
  calendar.runUntil(kLatency - picoseconds(1));
  send(message);
  send(other);
  calendar.runUntil(microseconds(1));
  EXPECT_EQ(controller.delivered(message), 1u);
  EXPECT_EQ(controller.delivered(other), 1u);
  EXPECT_EQ(controller.merged(), 1u);
  send(message);
  calendar.runUntil(microseconds(2));
  EXPECT_EQ(controller.delivered(message), 2u);
}

TEST_F(InterruptControllerTest, AReleasedSinkIsLeftAlone) {
  const MsiMessage message = controller.allocate(sink, InterruptVector(0));
  send(message);
  controller.release(sink);
  calendar.runUntil(microseconds(1));
  send(message);
  calendar.runUntil(microseconds(2));
  EXPECT_THAT(sink.seen, IsEmpty());
  EXPECT_EQ(controller.unknown(), 2u);
  EXPECT_NE(controller.allocate(sink, InterruptVector(0)).data, message.data);
}

TEST_F(InterruptControllerTest, TellsTheProbe) {
  std::vector<observe::InterruptEvent> events;
  probes.interrupt.attach([&](const observe::InterruptEvent& event) { events.push_back(event); });
  send(controller.allocate(sink, InterruptVector(7), AdapterIndex(1)));
  calendar.runUntil(microseconds(1));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].action, observe::InterruptEvent::Action::kDelivered);
  EXPECT_EQ(events[0].time, kLatency);
  EXPECT_EQ(events[0].host, HostIndex(3));
  EXPECT_EQ(events[0].adapter, AdapterIndex(1));
  EXPECT_EQ(events[0].vector, InterruptVector(7));
}

}  // namespace
}  // namespace hca::host
