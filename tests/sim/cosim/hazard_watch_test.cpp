#include "sim/cosim/hazard_watch.h"

#include <gtest/gtest.h>

namespace hca::cosim {
namespace {

class HazardWatchTest : public testing::Test {
 protected:
  // An event for entries `first` to `first + entries - 1`, which were there before the arm.
  void raise(std::uint64_t first, std::uint64_t entries, std::uint32_t cq = 1) {
    probes_.hazard.fire([&] {
      return observe::HazardEvent{observe::HazardEvent::Kind::kArmAfterEntry,
                                  microseconds(3),
                                  HostIndex(0),
                                  AdapterIndex(0),
                                  CqNumber(cq),
                                  first,
                                  entries};
    });
  }
  void take(std::uint32_t polled, std::uint32_t cq = 1) {
    watch_.eventTaken(HostIndex(0), AdapterIndex(0), CqNumber(cq), polled);
  }

  observe::Probes probes_;
  HazardWatch watch_{probes_};
};

TEST_F(HazardWatchTest, CountsEventsThatAreTakenBeforeTheirEntries) {
  raise(5, 2);
  EXPECT_TRUE(watch_.isWatching());
  take(6);
  EXPECT_FALSE(watch_.isWatching());
  ASSERT_EQ(watch_.results().size(), 1U);
  EXPECT_EQ(watch_.results()[0].kind, "arm_after_entry");
  EXPECT_EQ(watch_.results()[0].entries, 2U);
}

TEST_F(HazardWatchTest, LetsEventsPassWhoseEntriesWerePolled) {
  raise(5, 2);
  take(7);
  EXPECT_FALSE(watch_.isWatching());
  EXPECT_TRUE(watch_.results().empty());
}

TEST_F(HazardWatchTest, CountsIndicesWith24Bits) {
  raise(0xFFFFFF, 2);  // up to 0x1000000
  take(0);
  ASSERT_EQ(watch_.results().size(), 1U);
  raise(0xFFFFFF, 2);
  take(1);
  EXPECT_EQ(watch_.results()[0].count, 1U);
}

TEST_F(HazardWatchTest, KeepsQueuesApart) {
  raise(0, 1, 1);
  raise(0, 1, 2);
  take(0, 3);
  take(0, 2);
  EXPECT_TRUE(watch_.isWatching());
  ASSERT_EQ(watch_.results().size(), 1U);
  EXPECT_EQ(watch_.results()[0].cq, CqNumber(2));
}

}  // namespace
}  // namespace hca::cosim
