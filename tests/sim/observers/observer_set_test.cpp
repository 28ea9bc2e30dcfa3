#include "sim/observers/observer_set.h"

#include <gmock/gmock.h>

#include "tests/sim/observers/probe_events.h"

namespace hca::observers {
namespace {

using observe::CqAction;
using observe::InterruptEvent;
using testing::SizeIs;

std::optional<std::uint32_t> behindTheFirst(HostIndex, AdapterIndex, InterruptVector vector) {
  if (vector.value() == 0) return std::nullopt;
  return vector.value() - 1;
}

void interrupt(observe::Probes& probes, InterruptEvent::Action action, std::uint32_t vector) {
  probes.interrupt.fire([&] { return InterruptEvent{action, Time(), kHost, kAdapter, InterruptVector(vector)}; });
}

TEST(ObserverSet, FillsItsPartOfTheResult) {
  observe::Probes probes;
  ObserverSet observers(probes);
  interrupt(probes, InterruptEvent::Action::kMessageSent, 3);
  interrupt(probes, InterruptEvent::Action::kMaskedPending, 3);
  interrupt(probes, InterruptEvent::Action::kDelivered, 3);
  interrupt(probes, InterruptEvent::Action::kDelivered, 3);
  interrupt(probes, InterruptEvent::Action::kDelivered, 0);
  probes.async.fire([] { return observe::AsyncEvent{nanoseconds(7), kHost, kAdapter, 0x04, 0, 0x81, 1}; });
  fire(probes, CqAction::kCqeVisible, 100);
  fire(probes, CqAction::kSleep, 200);

  report::Result result;
  observers.collect(behindTheFirst, result);
  ASSERT_THAT(result.vectors, SizeIs(2));
  EXPECT_EQ(result.vectors[0].completionVector, std::nullopt);
  EXPECT_EQ(result.vectors[0].interrupts, 1U);
  EXPECT_EQ(result.vectors[1].completionVector, 2U);
  EXPECT_EQ(result.vectors[1].interrupts, 2U);
  ASSERT_THAT(result.asyncEvents, SizeIs(1));
  EXPECT_EQ(result.asyncEvents[0].type, "CQ_ERR");
  EXPECT_THAT(result.cqs, SizeIs(1));
  ASSERT_THAT(result.failures, SizeIs(1));
  EXPECT_EQ(result.failures[0].kind, "lost_wakeup");
  ASSERT_THAT(result.hazards, SizeIs(1));
  EXPECT_EQ(result.hazards[0].kind, "lost_wakeup");
  EXPECT_TRUE(result.failed());
}

TEST(AsyncObserver, KeepsTheFirstOfManyEvents) {
  observe::Probes probes;
  AsyncObserver observer(probes);
  for (std::size_t i = 0; i <= AsyncObserver::kMost; ++i) {
    probes.async.fire([] { return observe::AsyncEvent{Time(), kHost, kAdapter, 0x09, 4, 1, 0}; });
  }
  EXPECT_THAT(observer.results(), SizeIs(AsyncObserver::kMost));
}

TEST(AsyncObserver, NamesTypes) {
  EXPECT_EQ(eventTypeName(0x05), "QP_FATAL");
  EXPECT_EQ(eventTypeName(0x1c), "type 0x1c");
}

}  // namespace
}  // namespace hca::observers
