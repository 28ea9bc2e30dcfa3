#include "sim/options/perftest_line.h"

#include <gmock/gmock.h>

#include <map>

namespace hca::options {
namespace {

using testing::HasSubstr;

std::map<std::string, std::string> keys(const std::string& line) {
  const PerftestFlow flow = parsePerftest(line);
  EXPECT_EQ(flow.problem, "") << line;
  return {flow.keys.begin(), flow.keys.end()};
}

std::string problem(const std::string& line) {
  const PerftestFlow flow = parsePerftest(line);
  EXPECT_TRUE(flow.problem.empty() || flow.keys.empty());
  return flow.problem;
}

TEST(PerftestLine, NamesAdapterAndPortOfBothSides) {
  auto flow = keys("ib_send_lat -d mlx5_1 -i 2");
  EXPECT_EQ(flow["client_adapter"], "1");
  EXPECT_EQ(flow["server_adapter"], "1");
  EXPECT_EQ(flow["client_port"], "2");
  EXPECT_EQ(flow["server_port"], "2");
  flow = keys("ib_write_bw --ib-dev=mlx5_3 --ib-port=1");
  EXPECT_EQ(flow["server_adapter"], "3");
  EXPECT_EQ(flow["server_port"], "1");
  EXPECT_EQ(keys("ib_write_bw").count("client_port"), 0u);
  EXPECT_THAT(problem("ib_write_bw -d eth0"), HasSubstr("'-d eth0' is no device, such as mlx5_0"));
  EXPECT_THAT(problem("ib_write_bw -d mlx5_"), HasSubstr("is no device"));
  EXPECT_THAT(problem("ib_write_bw -i one"), HasSubstr("is no number"));
}

TEST(PerftestLine, SaysWhatTheFlowDoes) {
  auto flow = keys("ib_write_bw -q 4 -s 64 -t 32 -n 700 -Q 8 -I 60 -e -m 2048 -c UC -l 5 server");
  EXPECT_EQ(parsePerftest("ib_write_bw").name, "ib_write_bw");
  EXPECT_EQ(flow["kind"], "bandwidth");
  EXPECT_EQ(flow["verb"], "write");
  EXPECT_EQ(flow["transport"], "uc");
  EXPECT_EQ(flow["qps"], "4");
  EXPECT_EQ(flow["size"], "64B");
  EXPECT_EQ(flow["tx_depth"], "32");
  EXPECT_EQ(flow["iters"], "700");
  EXPECT_EQ(flow["cq_mod"], "8");
  EXPECT_EQ(flow["inline_size"], "60B");
  EXPECT_EQ(flow["events"], "safe");
  EXPECT_EQ(flow["mtu"], "2048B");
  EXPECT_EQ(flow["post_list"], "5");
}

TEST(PerftestLine, EveryProgram) {
  const std::pair<const char*, std::pair<const char*, const char*>> programs[] = {
      {"ib_write_bw", {"bandwidth", "write"}},      {"ib_write_lat", {"latency", "write"}},
      {"ib_send_bw", {"bandwidth", "send"}},        {"ib_send_lat", {"latency", "send"}},
      {"ib_read_bw", {"bandwidth", "read"}},        {"ib_read_lat", {"latency", "read"}},
      {"ib_atomic_bw", {"bandwidth", "fetch_add"}}, {"ib_atomic_lat", {"latency", "fetch_add"}}};
  for (const auto& [program, expected] : programs) {
    auto flow = keys(program);
    EXPECT_EQ(flow["kind"], expected.first) << program;
    EXPECT_EQ(flow["verb"], expected.second) << program;
  }
  EXPECT_EQ(keys("ib_atomic_bw -A CMP_AND_SWAP")["verb"], "compare_swap");
}

TEST(PerftestLine, DefaultsArePerftests) {
  auto writes = keys("ib_write_bw");
  EXPECT_EQ(writes["size"], "65536B");
  EXPECT_EQ(writes["iters"], "5000");
  EXPECT_EQ(writes["tx_depth"], "128");
  EXPECT_EQ(writes["cq_mod"], "1") << "large messages are signaled one by one";
  EXPECT_EQ(writes["inline_size"], "0B");
  EXPECT_EQ(writes.count("mtu"), 0U);
  EXPECT_EQ(writes.count("events"), 0U);
  EXPECT_EQ(keys("ib_write_bw -s 8192")["cq_mod"], "100");
  EXPECT_EQ(keys("ib_write_bw -s 8193")["cq_mod"], "1");
  EXPECT_EQ(keys("ib_write_bw -s 64 -t 16")["cq_mod"], "16");
  auto latency = keys("ib_write_lat");
  EXPECT_EQ(latency["size"], "2B");
  EXPECT_EQ(latency["iters"], "1000");
  EXPECT_EQ(latency["tx_depth"], "1");
  EXPECT_EQ(latency["inline_size"], "220B");
  EXPECT_EQ(keys("ib_send_lat")["inline_size"], "236B");
  EXPECT_EQ(keys("ib_read_lat")["inline_size"], "0B");
  EXPECT_EQ(keys("ib_atomic_lat")["size"], "8B");
  EXPECT_EQ(keys("ib_send_bw")["rx_depth"], "512");
  EXPECT_EQ(keys("ib_send_bw -n 100")["rx_depth"], "100");
  EXPECT_EQ(keys("ib_send_bw -n 100")["tx_depth"], "100");
}

TEST(PerftestLine, DatagramsAreOfOnePacketAndHaveAReceiveEach) {
  auto flow = keys("ib_send_bw -c UD");
  EXPECT_EQ(flow["transport"], "ud");
  EXPECT_EQ(flow["size"], "4096B");
  EXPECT_EQ(flow["rx_depth"], "1000");
  EXPECT_EQ(keys("ib_send_bw -c UD -m 1024")["size"], "1024B");
  EXPECT_EQ(keys("ib_read_lat -c XRC")["transport"], "xrc");
  EXPECT_EQ(keys("ib_send_bw -c UD -s 8000")["size"], "8000B") << "left to the flow's own rules";
  EXPECT_EQ(keys("ib_send_lat -c UD")["inline_size"], "188B");
}

TEST(PerftestLine, LongAndJoinedFlags) {
  auto flow = keys("  ib_send_bw   --size=64 --iters 9 -t4 --rx-depth=7 --connection UC --size 65 ");
  EXPECT_EQ(flow["size"], "65B") << "the last one counts";
  EXPECT_EQ(flow["iters"], "9");
  EXPECT_EQ(flow["tx_depth"], "4");
  EXPECT_EQ(flow["rx_depth"], "7");
  EXPECT_EQ(flow["transport"], "uc");
}

TEST(PerftestLine, NamesTheFlagThatIsUnknownAndThoseKnown) {
  EXPECT_EQ(problem("ib_write_lat -s 8 -R"),
            "'-R' is no flag of ib_write_lat that is known here; known are -s, -n, -t, -I, -m, -c, -d, -i");
  EXPECT_THAT(problem("ib_write_bw --report_gbits"), HasSubstr("'--report_gbits' is no flag of ib_write_bw"));
  EXPECT_THAT(problem("ib_write_bw -r 5"), HasSubstr("'-r' is no flag of ib_write_bw"));
  EXPECT_THAT(problem("ib_read_bw -I 5"), HasSubstr("'-I' is no flag of ib_read_bw"));
  EXPECT_THAT(problem("ib_atomic_bw -s 16"), HasSubstr("'-s' is no flag of ib_atomic_bw"));
  EXPECT_THAT(problem("ib_send_lat -q 2"), HasSubstr("'-q' is no flag of ib_send_lat"));
}

TEST(PerftestLine, ValuesAreChecked) {
  EXPECT_EQ(problem("ib_write_bw -s"), "'-s' needs a value");
  EXPECT_EQ(problem("ib_write_bw -s x"), "'-s x' is no number");
  EXPECT_EQ(problem("ib_write_bw -s -4"), "'-s -4' is no number");
  EXPECT_EQ(problem("ib_write_bw --size=1234567890"), "'--size 1234567890' is no number");
  EXPECT_EQ(problem("ib_write_bw -c DC"), "'-c DC' is none of RC, UC, UD and XRC");
  EXPECT_EQ(problem("ib_atomic_bw -A ADD"), "'-A ADD' is none of FETCH_AND_ADD and CMP_AND_SWAP");
  EXPECT_EQ(problem("ib_write_bw -e5"), "'-e5': -e or --events takes no value");
}

TEST(PerftestLine, UnknownPrograms) {
  EXPECT_EQ(problem("ib_write_bandwidth -s 8"),
            "'ib_write_bandwidth' is no program that is known here (nearest known: ib_write_bw)");
  EXPECT_THAT(problem("  "), HasSubstr("is empty"));
}

TEST(PerftestLine, HelpListsEveryFlag) {
  const std::string help = perftestFlags();
  for (const char letter : std::string("snqtrQIemclA")) {
    EXPECT_THAT(help, HasSubstr(std::string("  -") + letter + " or --"));
  }
}

}  // namespace
}  // namespace hca::options
