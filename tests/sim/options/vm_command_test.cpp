#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>

#include "sim/options/command_line.h"

namespace hca::options {
namespace {

using testing::HasSubstr;

// What `hcasim vm WORDS` asks for.
class VmCommandTest : public testing::Test {
 protected:
  int run(std::vector<std::string> words) {
    words.insert(words.begin(), "vm");
    Environment environment{out_, err_, false, {}, {}, {}, {}, {}, [this](const VmRequest& request) {
                              commands_ = request.commands;
                              shellHost_ = request.shellHost;
                              files_ = request.files;
                              qemuArguments_ = request.qemuArguments;
                              timeout_ = request.timeout;
                              sync_ = request.sync;
                              armRule_ = request.config.hosts[0].adapter.completion.armRule;
                              return 7;
                            }};
    return runCommandLine(words, environment);
  }
  void refuses(const std::vector<std::string>& words, const std::string& text) {
    err_.str("");
    EXPECT_EQ(run(words), kCosimBadInput);
    EXPECT_THAT(err_.str(), HasSubstr(text));
  }

  std::ostringstream out_, err_;
  std::vector<CosimCommand> commands_;
  std::optional<std::uint32_t> shellHost_;
  std::vector<std::pair<std::string, std::string>> files_;
  std::vector<std::string> qemuArguments_;
  std::chrono::milliseconds timeout_{};
  sim::Sync sync_;
  adapter::ArmRule armRule_ = adapter::ArmRule::kIbSpec;
};

TEST_F(VmCommandTest, RunsACommandAHost) {
  EXPECT_EQ(run({"--timeout", "1.5", "--qemu-args", "-s -S", "a", "-x", ":", "b"}), 7);
  ASSERT_EQ(commands_.size(), 2U);
  EXPECT_EQ(commands_[0].words, (std::vector<std::string>{"a", "-x"}));
  EXPECT_EQ(commands_[1].host, 1U);
  EXPECT_FALSE(shellHost_);
  EXPECT_EQ(qemuArguments_, (std::vector<std::string>{"-s", "-S"}));
  EXPECT_EQ(timeout_.count(), 1500);
  EXPECT_EQ(sync_.kind, sim::Sync::Kind::kPaced);
}

TEST_F(VmCommandTest, OpensAShellWithoutACommand) {
  EXPECT_EQ(run({}), 7);
  EXPECT_EQ(shellHost_, 0U);
  EXPECT_EQ(run({"-H", "1"}), 7);
  EXPECT_EQ(shellHost_, 1U);
}

TEST_F(VmCommandTest, PutsFilesWhereTheyAreOrAreToBe) {
  EXPECT_EQ(run({"--add", "/etc/hostname", "--add", "/etc/passwd:/opt/users", "ls"}), 7);
  ASSERT_EQ(files_.size(), 2U);
  EXPECT_EQ(files_[0].second, "etc/hostname");
  EXPECT_EQ(files_[1], std::pair(std::string("/etc/passwd"), std::string("opt/users")));
}

// The stock driver relies on it; whoever says something else gets that.
TEST_F(VmCommandTest, AdaptersCompareUnlessTheUserSaysOtherwise) {
  EXPECT_EQ(run({"ls"}), 7);
  EXPECT_EQ(armRule_, adapter::ArmRule::kCiCompareOnce);
  EXPECT_EQ(run({"--set", "adapter.completion.arm_rule=ci_compare", "ls"}), 7);
  EXPECT_EQ(armRule_, adapter::ArmRule::kCiCompare);
  const std::string file = testing::TempDir() + "vm_command_test." + std::to_string(getpid()) + ".ini";
  std::ofstream(file) << "[host]\ncount = 2\n";
  EXPECT_EQ(run({"--config", file, "ls"}), 7);
  EXPECT_EQ(armRule_, adapter::ArmRule::kIbSpec);
  std::remove(file.c_str());
}

TEST_F(VmCommandTest, RefusesWhatMakesNoSense) {
  refuses({"a", ":", "-H", "0", "b"}, "host 0 has two commands");
  refuses({"-H", "9"}, "there is no host 9");
  refuses({"-H", "x"}, "-H needs the number");
  refuses({"--sync", "lockstep", "a"}, "--sync: 'lockstep' is none of");
  refuses({"--accel", "xen", "a"}, "--accel: 'xen' is none of");
  refuses({"--processors", "0", "a"}, "--processors");
  refuses({"--timeout", "soon", "a"}, "--timeout: 'soon' is no number of seconds");
  refuses({"--kernel", "/no/kernel", "a"}, "--kernel: there is no file '/no/kernel'");
  refuses({"--add", "/no/file", "a"}, "--add: there is no file '/no/file'");
  refuses({"--add", "/etc/passwd:users", "a"}, "no absolute path");
  refuses({"--log-commands", "-", "a"}, "--log-commands: name a file");
  refuses({"--log-entries", "/no/such/folder/log", "a"}, "--log-entries: '/no/such/folder/log' can't be written");
  refuses({"--module", "/etc/passwd", "a"}, "is no kernel module");
}

}  // namespace
}  // namespace hca::options
