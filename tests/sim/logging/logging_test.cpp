#include "sim/logging/logging.h"

#include <gtest/gtest.h>

#include <sstream>

namespace hca::logging {
namespace {

struct FixedTime final : TimeOrigin {
  Time time;
  [[nodiscard]] Time now() const override { return time; }
};

class LoggingTest : public testing::Test {
 protected:
  ~LoggingTest() override { setTimeOrigin(nullptr); }
  std::ostringstream stream_;
  FixedTime clock_;
};

TEST_F(LoggingTest, ALineStartsWithSimulatedTime) {
  configure(stream_, spdlog::level::info);
  clock_.time = Time(12'345'678);
  setTimeOrigin(&clock_);
  logger("host.0.adapter.completion")->warn("queue {:#x} is full", 0x81);
  EXPECT_EQ(stream_.str(), "12.345678 us [host.0.adapter.completion] warning: queue 0x81 is full\n");
}

TEST_F(LoggingTest, OutsideOfARunThereIsNoTime) {
  configure(stream_, spdlog::level::info);
  logger("run")->info("starts");
  EXPECT_EQ(stream_.str(), "- [run] info: starts\n");
}

TEST_F(LoggingTest, LevelAndStreamHoldForLoggersMadeBefore) {
  const auto early = logger("early");
  configure(stream_, spdlog::level::err);
  early->warn("not shown");
  logger("late")->warn("not shown");
  EXPECT_EQ(stream_.str(), "");
  std::ostringstream other;
  configure(other, spdlog::level::debug);
  early->debug("shown");
  EXPECT_EQ(stream_.str(), "");
  EXPECT_EQ(other.str(), "- [early] debug: shown\n");
}

TEST_F(LoggingTest, AModuleHasOneLogger) {
  EXPECT_EQ(logger("a"), logger("a"));
  EXPECT_NE(logger("a"), logger("b"));
}

}  // namespace
}  // namespace hca::logging
