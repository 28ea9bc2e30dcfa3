// Commands as tools/cqe_dump shows them. The bytes are assembled by hand.
#include <gtest/gtest.h>

#include "tests/tools/dump/dump_run.h"

namespace hca::dump {
namespace {

using test::contains;
using test::run;

TEST(CommandDump, InputByItsOpcode) {
  const auto dumped = run({"--command-input"}, "05000000 00000000 00000081 00000000\n");
  EXPECT_EQ(dumped.exitCode, 0) << dumped.error;
  EXPECT_EQ(dumped.out.rfind("opcode: 0x500 (CREATE_QP)\n", 0), 0U) << dumped.out;
  EXPECT_TRUE(contains(run({"--command-input"}, "04010000 00000000 00000081 00000000\n").out, "cqn: 0x81\n"));
}

TEST(CommandDump, OutputByTheCommandThatIsNamed) {
  const auto dumped = run({"--command-output", "CREATE_CQ"}, "00000000 00000000 00000081 00000000\n");
  EXPECT_EQ(dumped.exitCode, 0) << dumped.error;
  EXPECT_EQ(dumped.out, "status: 0x0 (OK)\nsyndrome: 0x0\ncqn: 0x81\n");
  const auto refused = run({"--command-output", "0x400"}, "03000000 00000303 00000000 00000000\n");
  EXPECT_EQ(refused.out, "status: 0x3 (BAD_PARAM_ERR)\nsyndrome: 0x303\n");
  const auto read = run({"--command-output", "ACCESS_REG", "--register", "0x5003"},
                        "00000000 00000000 00000000 00000000 00010000 10000000 10000000 10000000\n");
  EXPECT_TRUE(contains(read.out, "pmtu.max_mtu: 0x1000\n")) << read.out;
}

TEST(CommandDump, SaysWhatIsWrong) {
  EXPECT_TRUE(contains(run({"--command-output", "CREATE_NOTHING"}, "00").error, "'CREATE_NOTHING' is no command"));
  EXPECT_TRUE(contains(run({"--op-mod", "1"}, "00").error, "--op-mod follows --command-output"));
  EXPECT_TRUE(contains(run({"--command-input"}, "04000000\n").error, "4 bytes are too few"));
}

}  // namespace
}  // namespace hca::dump
