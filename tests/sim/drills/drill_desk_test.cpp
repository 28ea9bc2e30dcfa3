// Drills that are asked for while a simulation runs.
#include "sim/drills/drill_desk.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "sim/drills/drill_request.h"
#include "tests/sim/drills/drill_fixture.h"

namespace hca::sim {
namespace {

class DrillDeskTest : public test::DrillTest {
 protected:
  void SetUp() override {
    std::string path = (std::filesystem::temp_directory_path() / "hcasim-desk-XXXXXX").string();
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
    ASSERT_EQ(start(), "");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  DrillAnswer ask(const DrillKeys& keys) {
    DrillDesk desk(*bench_, config_, folder_, [this] { return now() + Time(1); });
    DrillAnswer answer;
    bool isOver = false;
    std::thread visitor([&] {
      answer = askForDrill(folder_, keys);
      __atomic_store_n(&isOver, true, __ATOMIC_SEQ_CST);
    });
    while (!__atomic_load_n(&isOver, __ATOMIC_SEQ_CST)) {
      if (desk.look()) runFor(milliseconds(1));
    }
    visitor.join();
    return answer;
  }
  std::string folder_;
};

TEST_F(DrillDeskTest, OneIsPerformedAndTold) {
  const DrillAnswer answer = ask({{"kind", "link_flap"}, {"duration", "100us"}});
  EXPECT_TRUE(answer.isAccepted);
  EXPECT_NE(answer.text.find("drill now-1 (link_flap), host 0: the link of port 1 is down, for 100 us"),
            std::string::npos)
      << answer.text;
  EXPECT_EQ(subTypes_, (std::vector<unsigned>{1, 4}));
}

TEST_F(DrillDeskTest, OneThatWaitsSaysSo) {
  const DrillAnswer answer = ask({{"kind", "command_timeout"}, {"opcode", "ALLOC_PD"}});
  EXPECT_TRUE(answer.isAccepted);
  EXPECT_NE(answer.text.find("waits for what it concerns"), std::string::npos) << answer.text;
}

TEST_F(DrillDeskTest, WhatMakesNoSenseIsRefusedWithEveryReason) {
  const DrillAnswer answer = ask({{"kind", "cq_error"}, {"syndrome", "9"}, {"hots", "1"}});
  EXPECT_FALSE(answer.isAccepted);
  EXPECT_EQ(answer.text,
            "hots=1: hots: is no known key of a drill (nearest known: host)\n"
            "syndrome=9: syndrome: 9 is none: 1 overrun, 2 access violation\n");
}

TEST_F(DrillDeskTest, NobodyListensIsAnError) { EXPECT_THROW((void)askForDrill(folder_, {}), std::runtime_error); }

TEST(DrillRequest, MessagesAreRead) {
  EXPECT_EQ(keysOf(toMessage({{"a", "1"}, {"b", "x=y"}})), (DrillKeys{{"a", "1"}, {"b", "x=y"}}));
  EXPECT_EQ(keysOf("nonsense\n"), DrillKeys{});
}

}  // namespace
}  // namespace hca::sim
