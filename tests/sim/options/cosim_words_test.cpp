#include "sim/options/cosim_words.h"

#include <gtest/gtest.h>

namespace hca::options {
namespace {

using Words = std::vector<std::string>;

TEST(CosimWords, CommandsRunOnOneHostAfterTheOther) {
  std::string problem;
  const auto commands = splitCommands({"server", "-p", "1", ":", "client", ":", "-H", "1", "third"}, ":", 2, problem);
  ASSERT_TRUE(commands) << problem;
  ASSERT_EQ(commands->size(), 3U);
  EXPECT_EQ((*commands)[0].host, 0U);
  EXPECT_EQ((*commands)[0].words, (Words{"server", "-p", "1"}));
  EXPECT_EQ((*commands)[1].host, 1U);
  EXPECT_EQ((*commands)[2].host, 1U);
  EXPECT_EQ((*commands)[2].words, (Words{"third"}));
}

TEST(CosimWords, SeparatorMayBeAnotherWord) {
  std::string problem;
  const auto commands = splitCommands({"echo", ":", "--", "echo"}, "--", 2, problem);
  ASSERT_TRUE(commands) << problem;
  EXPECT_EQ((*commands)[0].words, (Words{"echo", ":"}));
}

TEST(CosimWords, RefusesWhatMakesNoSense) {
  std::string problem;
  EXPECT_FALSE(splitCommands({"server", ":"}, ":", 2, problem));
  EXPECT_EQ(problem, "a command is missing");
  EXPECT_FALSE(splitCommands({"-H", "2", "server"}, ":", 2, problem));
  EXPECT_EQ(problem, "there is no host 2: the configuration has 2 (host.count)");
  EXPECT_FALSE(splitCommands({"-H", "x", "server"}, ":", 2, problem));
  EXPECT_EQ(problem, "-H needs the number of a host");
}

}  // namespace
}  // namespace hca::options
