#include "sim/vm/kernel_log.h"

#include <gtest/gtest.h>

namespace hca::vm {
namespace {

using std::chrono::milliseconds;

TEST(KernelLog, ReadsRecordsInPieces) {
  KernelLog log;
  std::vector<std::string> heard;
  log.addListener([&heard](const KernelLine& line) { heard.push_back(line.text); });
  log.take("6,1,1500,-;mlx5_core 0000:00:03.0: firm", nanoseconds(5), milliseconds(1));
  EXPECT_TRUE(log.lines().empty());
  log.take("ware version: 16.0.0\n SUBSYSTEM=pci\n DEVICE=+pci:0000:00:03.0\n", nanoseconds(7), milliseconds(2));
  ASSERT_EQ(log.lines().size(), 1U);
  const KernelLine& line = log.lines()[0];
  EXPECT_EQ(line.text, "mlx5_core 0000:00:03.0: firmware version: 16.0.0");
  EXPECT_EQ(line.level, KernelLevel::kInfo);
  EXPECT_EQ(line.guestTime.count(), 1500);
  EXPECT_EQ(line.simulated, nanoseconds(7));
  EXPECT_EQ(line.wall, milliseconds(2));
  EXPECT_FALSE(line.isWarning());
  EXPECT_EQ(heard, std::vector<std::string>{line.text});
}

TEST(KernelLog, TellsWarningsFromOtherLevelsAndFromPrograms) {
  KernelLog log;
  log.take("5,1,0,-;a notice\n4,2,0,-;a warning\n3,3,0,c;an error\n12,4,0,-;a program's warning\n", Time(),
           milliseconds());
  const auto warnings = log.warnings();
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(warnings[0].text, "a warning");
  EXPECT_EQ(warnings[1].text, "an error");
  EXPECT_STREQ(name(warnings[1].level), "error");
}

TEST(KernelLog, KnowsWhenTheDriverIsThere) {
  KernelLog log;
  log.take(
      "4,1,0,-;early\n12,2,0,-;hcasim: the adapter's driver is loaded\n4,3,0,-;driver's\n"
      "12,4,0,-;hcasim: the adapter's driver is gone\n4,5,0,-;late\n",
      Time(), milliseconds());
  ASSERT_EQ(log.lines().size(), 5U);
  EXPECT_FALSE(log.lines()[0].isDrivers);
  EXPECT_TRUE(log.lines()[2].isDrivers);
  EXPECT_FALSE(log.lines()[4].isDrivers);
}

TEST(KernelLog, PartsLinesThatTheKernelJoined) {
  KernelLog log;
  log.take("4,1,0,-;one\\x0atwo \\x5c three\n", Time(), milliseconds());
  ASSERT_EQ(log.lines().size(), 2U);
  EXPECT_EQ(log.lines()[0].text, "one");
  EXPECT_EQ(log.lines()[1].text, "two \\ three");
}

TEST(KernelLog, LeavesOutWhatIsNoRecord) {
  KernelLog log;
  log.take("nonsense\n6,x,0,-;text\n6,1,2\n\n", Time(), milliseconds());
  EXPECT_TRUE(log.lines().empty());
}

TEST(KernelLog, KnowsFaultsOfTheKernel) {
  EXPECT_TRUE(isKernelFault("Kernel panic - not syncing: Fatal exception"));
  EXPECT_TRUE(isKernelFault("BUG: kernel NULL pointer dereference, address: 0000000000000010"));
  EXPECT_FALSE(isKernelFault("mlx5_core 0000:00:03.0: health compromised"));
}

}  // namespace
}  // namespace hca::vm
