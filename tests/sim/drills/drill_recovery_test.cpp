// Functions that are gone or start anew, and health that is bad.
#include "tests/sim/drills/drill_fixture.h"

namespace hca::sim {
namespace {

using Lines = std::vector<std::string>;

class FatalDrills : public test::DrillTest {
 protected:
  FatalDrills() { config_.hosts[0].driver.health_poll = milliseconds(100); }
  void expectFatal(const std::string& line) {
    EXPECT_EQ(types_, std::vector<unsigned>{8});
    EXPECT_TRUE(role().hasFailed());
    EXPECT_EQ(log(), Lines{line});
    allocatePd();
    settle();
    EXPECT_EQ(ended_.result.status, adapter::CommandStatus::kInternalError);
  }
};

TEST_F(FatalDrills, AFunctionThatIsGoneIsNoticedAtTheNextLook) {
  drill(DrillKind::kRemoval).at = milliseconds(50);
  ASSERT_EQ(start(), "");
  system_->run(milliseconds(60));
  allocatePd();  // never answered
  system_->run(milliseconds(150));
  EXPECT_FALSE(ended_.is);
  settle();
  EXPECT_TRUE(ended_.is) << "commands under way end with it";
  expectFatal("Fatal error 1 detected");
}

TEST_F(FatalDrills, OneThatIsBackIsAsAfterPowerOn) {
  DrillConfig& wanted = drill(DrillKind::kRemoval);
  wanted.at = milliseconds(50);
  wanted.duration = milliseconds(10);
  ASSERT_EQ(start(), "");
  system_->run(milliseconds(55));
  pcie::PciFunction& function = system_->host(0).adapter().environment().function;
  EXPECT_EQ(function.configRead(0, 4), ~0U);
  system_->run(milliseconds(65));
  EXPECT_EQ(function.configRead(0, 2), 0x15B3U);
  EXPECT_EQ(hca().events().find(EqNumber(1)), nullptr);
}

TEST_F(FatalDrills, AFirmwareThatStartsAnewReadsAsDisabled) {
  drill(DrillKind::kReset).at = milliseconds(50);
  ASSERT_EQ(start(), "");
  settle();
  expectFatal("Fatal error 3 detected");
}

TEST_F(FatalDrills, ARequestForAResetIsFatal) {
  DrillConfig& wanted = drill(DrillKind::kHealth);
  wanted.at = milliseconds(50);
  wanted.fatal = false;
  wanted.resetRequest = true;
  ASSERT_EQ(start(), "");
  settle();
  expectFatal("Fatal error 5 detected");
}

TEST_F(FatalDrills, ASyndromeAloneIsNot) {
  DrillConfig& wanted = drill(DrillKind::kHealth);
  wanted.at = milliseconds(50);
  wanted.fatal = false;
  ASSERT_EQ(start(), "");
  settle();
  EXPECT_TRUE(types_.empty());
  EXPECT_LT(now(), milliseconds(1000)) << "looking ends";
}

TEST_F(FatalDrills, AFatalOneComesAsAnEventAtOnce) {
  drill(DrillKind::kHealth).at = milliseconds(50);
  ASSERT_EQ(start(), "");
  system_->run(milliseconds(51));
  EXPECT_EQ(types_, std::vector<unsigned>{8});
  settle();
  EXPECT_EQ(types_, std::vector<unsigned>{8}) << "once";
}

TEST_F(FatalDrills, ACounterThatStandsStillIsSaidAfterThreeMisses) {
  DrillConfig& wanted = drill(DrillKind::kHealthCounter);
  wanted.at = milliseconds(50);
  ASSERT_EQ(start(), "");
  system_->run(milliseconds(449));
  EXPECT_EQ(log(), Lines{});
  settle();
  EXPECT_EQ(log(), Lines{"device's health compromised - reached miss count"});
  allocatePd();
  settle();
  EXPECT_TRUE(ended_.result.ok()) << "the driver goes on";
}

}  // namespace
}  // namespace hca::sim
