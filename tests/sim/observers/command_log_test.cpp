#include "sim/observers/command_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/logging/logging.h"

namespace hca::observers {
namespace {

using adapter::CommandRecord;
using adapter::CommandStatus;

/// DESTROY_CQ of 0x81, and its answer.
struct Example {
  Example() {
    record.rung = Time(1'000'000);
    record.answered = Time(4'500'500);
    record.host = HostIndex(1);
    record.adapter = AdapterIndex(0);
    record.slot = 3;
    record.opcode = wire::CommandOpcode::kDestroyCq;
    record.name = wire::name(record.opcode);
    record.input = {input.data(), input.size()};
    record.output = {output.data(), output.size()};
  }
  Example(const Example&) = delete;
  Example& operator=(const Example&) = delete;

  void refuse(CommandStatus status, adapter::Syndrome syndrome) { record.result = {status, syndrome}; }

  std::vector<std::uint8_t> input{0x04, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0, 0, 0, 0};
  std::vector<std::uint8_t> output = std::vector<std::uint8_t>(16);
  CommandRecord record;
};

TEST(CommandLog, ACommandInALine) {
  const Example example;
  EXPECT_EQ(commandLine(example.record),
            "      4.500500 us  host 1 adapter 0 slot 3   DESTROY_CQ cqn=0x81 -> OK (3.501 us)");
}

TEST(CommandLog, ARefusedOneHasStatusAndSyndrome) {
  Example example;
  example.refuse(CommandStatus::kBadResource, adapter::Syndrome::kUnknownCq);
  EXPECT_EQ(commandText(example.record), "DESTROY_CQ cqn=0x81 -> BAD_RES_ERR syndrome=0x301 (unknown CQ) (3.501 us)");
}

TEST(CommandLog, ABrokenOneHasItsDeliveryStatus) {
  Example example;
  example.record.delivery = wire::DeliveryStatus::kTokenError;
  example.record.rejection = adapter::CommandRejection::kToken;
  EXPECT_EQ(commandText(example.record),
            "DESTROY_CQ cqn=0x81 -> not executed: delivery status 0x2 (token error) (3.501 us)");
  const auto json = nlohmann::json::parse(commandJson(example.record));
  EXPECT_EQ(json.at("delivery"), "token error");
  EXPECT_EQ(json.at("rejection"), "token");
  EXPECT_FALSE(json.contains("status"));
}

TEST(CommandLog, ADoorbellThatLeadsToNothing) {
  CommandRecord record;
  record.slot = 5;
  record.rejection = adapter::CommandRejection::kSlotBusy;
  EXPECT_EQ(commandText(record), "rejected: slot busy");
  const auto json = nlohmann::json::parse(commandJson(record));
  EXPECT_EQ(json.at("rejection"), "slot busy");
  EXPECT_FALSE(json.contains("opcode"));
  EXPECT_FALSE(json.contains("status"));
}

TEST(CommandLog, AnUnknownOpcodeIsShownRaw) {
  Example example;
  example.input[0] = 0x0B;
  example.input[1] = 0xAD;
  example.record.opcode = static_cast<wire::CommandOpcode>(0xBAD);
  example.record.name = wire::name(example.record.opcode);
  example.refuse(CommandStatus::kBadOperation, adapter::Syndrome::kUnknownOpcode);
  EXPECT_EQ(commandText(example.record),
            "opcode=0xbad at_0x08=0x81 -> BAD_OP_ERR syndrome=0x101 (unknown opcode) (3.501 us)");
}

TEST(CommandLog, JsonLeadsBackToTheStatus) {
  for (unsigned value = 0; value <= 0xFF; ++value) {
    const auto status = static_cast<CommandStatus>(value);
    if (std::string(wire::driverName(status)) == "UNKNOWN") continue;
    Example example;
    example.refuse(status, adapter::Syndrome::kNone);
    const auto json = nlohmann::json::parse(commandJson(example.record));
    EXPECT_EQ(json.at("status_value"), value);
    EXPECT_EQ(json.at("status"), wire::driverName(status));
    EXPECT_EQ(json.at("in").at("cqn"), 0x81);
    EXPECT_EQ(json.at("rung_ns"), 1000);
    EXPECT_EQ(json.at("opcode_value"), 0x401);
  }
}

TEST(CommandLog, RepeatableTextHasNamesForAddresses) {
  Example example;
  example.input.assign(0x120, 0);
  example.input[0] = 0x02;      // CREATE_MKEY
  example.input[0x25] = 0x11;   // start_addr
  example.input[0x115] = 0x40;  // a page
  example.record.opcode = wire::CommandOpcode::kCreateMemoryKey;
  example.record.name = wire::name(example.record.opcode);
  example.record.input = {example.input.data(), example.input.size()};
  const std::string text = commandText(example.record, [](std::uint64_t) { return std::string("r1+0x0"); });
  EXPECT_NE(text.find(" mkc.start_addr=r1+0x0 "), std::string::npos) << text;
  EXPECT_EQ(text.find("klm_pas_mtt"), std::string::npos) << "of two runs one may have memory on two pages: " << text;
  EXPECT_EQ(text.find("translations_octword"), std::string::npos) << text;
}

// A full disk: said once, and the run goes on.
TEST(CommandLog, SaysThatItsFileIsFull) {
  std::ostringstream words;
  logging::configure(words, spdlog::level::warn);
  observe::Probes probes;
  const CommandLog log(probes, "/dev/full");
  const Example example;
  for (int n = 0; n < 2; ++n) probes.command.fire([&] { return observe::CommandEvent{&example.record}; });
  const std::string said = words.str();
  const auto at = said.find("--log-commands: '/dev/full' could not be written to its end: No space left on device");
  ASSERT_NE(at, std::string::npos) << said;
  EXPECT_EQ(said.find("could not be written", at + 40), std::string::npos) << said;
}

class CommandLogFile : public testing::Test {
 protected:
  ~CommandLogFile() override { std::remove(path_.c_str()); }

  std::vector<std::string> linesOf(const std::string& ending) {
    path_ = testing::TempDir() + "command_log_test." + std::to_string(getpid()) + ending;
    observe::Probes probes;
    const CommandLog log(probes, path_);
    const Example example;
    for (int n = 0; n < 2; ++n) probes.command.fire([&] { return observe::CommandEvent{&example.record}; });
    std::vector<std::string> lines;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  std::string path_;
};

TEST_F(CommandLogFile, HoldsALineACommand) {
  const auto lines = linesOf(".log");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], commandLine(Example().record));
}

TEST_F(CommandLogFile, HoldsJsonIfItsNameSaysSo) {
  const auto lines = linesOf(".jsonl");
  ASSERT_EQ(lines.size(), 2U);
  for (const std::string& line : lines) EXPECT_EQ(nlohmann::json::parse(line).at("opcode"), "DESTROY_CQ");
}

TEST_F(CommandLogFile, ThatCantBeWrittenIsNamed) {
  observe::Probes probes;
  try {
    const CommandLog log(probes, "/nowhere/log");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()).rfind("--log-commands: '/nowhere/log' can't be written: ", 0), 0U);
  }
}

}  // namespace
}  // namespace hca::observers
