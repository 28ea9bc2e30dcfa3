#include "sim/config/config_loader.h"

#include <gmock/gmock.h>

#include "tests/sim/config/config_test_files.h"

namespace hca::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using ConfigLoaderTest = ConfigTest;

TEST_F(ConfigLoaderTest, ReadsValuesAndKeepsDefaults) {
  const LoadedConfig loaded =
      load("[run]\nseed = 7\nname = \"first\"\n[cpu]\narm = 12ns\n[flow.a]\niters = 3\nsize = 4KiB\n");
  EXPECT_THAT(lines(loaded), IsEmpty());
  EXPECT_EQ(loaded.config.run.seed, 7U);
  EXPECT_EQ(loaded.config.run.name, "first");
  EXPECT_EQ(loaded.config.run.payload, PayloadMode::kMoved);
  ASSERT_EQ(loaded.config.hosts.size(), 2U);
  EXPECT_EQ(loaded.config.hosts[1].cpu.arm, nanoseconds(12));
  EXPECT_EQ(loaded.config.hosts[1].cpu.doorbell, host::CpuConfig().doorbell);
  ASSERT_EQ(loaded.config.flows.size(), 1U);
  EXPECT_EQ(loaded.config.flows[0].name, "a");
  EXPECT_EQ(loaded.config.flows[0].flow.size, Bytes(4096));
}

TEST_F(ConfigLoaderTest, OneHostIsStrongerThanAllWhereverItStands) {
  const LoadedConfig loaded =
      load("[host.1.cpu]\narm = 5ns\n[cpu]\narm = 12ns\n" + std::string(kWork), {{"--set", "cpu.arm=13ns"}});
  EXPECT_THAT(lines(loaded), IsEmpty());
  EXPECT_EQ(loaded.config.allHosts.cpu.arm, nanoseconds(13));
  EXPECT_EQ(loaded.config.hosts[0].cpu.arm, nanoseconds(13));
  EXPECT_EQ(loaded.config.hosts[1].cpu.arm, nanoseconds(5));
}

TEST_F(ConfigLoaderTest, LaterSourcesWin) {
  write("profiles/deep.ini", "[run]\nseed = 1\nname = deep\n[cpu]\narm = 1ns\n[flow.a]\niters = 1\nsize = 1B\n");
  write("profiles/base.ini", "include = deep.ini\n[cpu]\narm = 2ns\n[run]\nname = base\n");
  const std::string first = write("first.ini", "include = profiles/base.ini\n[run]\nname = first\n");
  const std::string second = write("second.ini", "[flow.a]\nsize = 2B\n");
  const LoadedConfig loaded = loadConfig({first, second}, {{"--seed", "run.seed=5"}, {"--set", "run.seed=6"}});
  EXPECT_THAT(lines(loaded), IsEmpty());
  EXPECT_EQ(loaded.config.run.seed, 6U);
  EXPECT_EQ(loaded.config.run.name, "first");
  EXPECT_EQ(loaded.config.hosts[0].cpu.arm, nanoseconds(2));
  EXPECT_EQ(loaded.config.flows[0].flow.size, Bytes(2));
  EXPECT_EQ(loaded.config.flows[0].flow.iters, 1U);
}

TEST_F(ConfigLoaderTest, KeepsFlowsInTheOrderInWhichTheyWereNamed) {
  write("base.ini", "[flow.z]\niters = 1\n");
  const LoadedConfig loaded =
      load("include = base.ini\n[flow.b]\niters = 1\n[flow.a]\niters = 1\n[flow.z]\nsize = 8B\n");
  EXPECT_THAT(lines(loaded), IsEmpty());
  ASSERT_EQ(loaded.config.flows.size(), 3U);
  EXPECT_EQ(loaded.config.flows[0].name, "z");
  EXPECT_EQ(loaded.config.flows[1].name, "b");
  EXPECT_EQ(loaded.config.flows[2].name, "a");
}

TEST_F(ConfigLoaderTest, TheSameFileMayBeIncludedTwice) {
  write("common.ini", "[run]\nseed = 3\n");
  write("left.ini", "include = common.ini\n[run]\nname = left\n");
  const LoadedConfig loaded = load("include = common.ini\ninclude = left.ini\n" + std::string(kWork));
  EXPECT_THAT(lines(loaded), IsEmpty());
  EXPECT_EQ(loaded.config.run.seed, 3U);
  EXPECT_EQ(loaded.config.run.name, "left");
}

TEST_F(ConfigLoaderTest, C50_NamesUnknownKeys) {
  EXPECT_THAT(problems("[run]\nsede = 1\n[flow.a]\niters = 1\ntx_dept = 2\ndorbell = 1ns\nseed = 1\n"),
              ElementsAre("main.ini:2: sede: is no known key of [run] (nearest known: seed)",
                          "main.ini:5: tx_dept: is no known key of [flow.a] (nearest known: tx_depth)",
                          HasSubstr("main.ini:6: dorbell: is no known key of [flow.a] (nearest known: "),
                          "main.ini:7: seed: is no known key of [flow.a] (nearest known: run.seed)"));
}

TEST_F(ConfigLoaderTest, NamesUnknownSectionsOnceWithoutTheirKeys) {
  EXPECT_THAT(problems("[rum]\nseed = 1\nname = x\n[adapter.memery]\nx = 1\n[host.0.cup]\nx = 1\n[flow]\niters = 1\n"
                       "[flow.a.b]\niters = 1\n[host.01.cpu]\nx = 1\n[host.x.cpu]\n[host.1.run]\n" +
                       std::string(kWork)),
              ElementsAre("main.ini:1: [rum]: is no known section (nearest known: run)",
                          "main.ini:4: [adapter.memery]: is no known section (nearest known: adapter.memory)",
                          "main.ini:6: [host.0.cup]: is no known section (nearest known: host.0.cpu)",
                          "main.ini:8: [flow]: is no known section (nearest known: flow.NAME)",
                          "main.ini:10: [flow.a.b]: is no known section (nearest known: flow.a)",
                          "main.ini:12: [host.01.cpu]: is no known section (nearest known: host.0.cpu)",
                          "main.ini:14: [host.x.cpu]: is no known section (nearest known: host.0.cpu)",
                          HasSubstr("main.ini:15: [host.1.run]: is no known section (nearest known: host.1.")));
}

TEST_F(ConfigLoaderTest, NamesHostsThatAreNotThere) {
  EXPECT_THAT(problems("[host.2.cpu]\narm = 1ns\n[host.4294967296.cpu]\n" + std::string(kWork)),
              ElementsAre("main.ini:1: [host.2.cpu]: names a host that isn't there: hosts are numbered 0 to 1",
                          HasSubstr("main.ini:3: [host.4294967296.cpu]: is no known section")));
}

TEST_F(ConfigLoaderTest, AdaptersAndPortsMayDiffer) {
  const LoadedConfig loaded = load(
      "[host]\nadapters = 2\n[host.1]\nadapters = 3\n[pcie]\ngeneration = 4\n[adapter.completion]\narm_rule = ib_spec\n"
      "[host.1.pcie]\ngeneration = 5\n[host.1.adapter.2.pcie]\ngeneration = 6\n"
      "[host.1.adapter.2.completion]\narm_rule = ci_compare\n[host.1.adapter.2.device]\nports = 2\n"
      "[host.1.adapter.2.port.2.link.faults]\nloss = 0.5\n[host.1.adapter.2.port.1]\nrate = 10Gbps\n"
      "[host.1.adapter.0.port]\nrate = 25Gbps\n" +
      std::string(kWork));
  EXPECT_THAT(lines(loaded), IsEmpty());
  const std::vector<HostSections>& hosts = loaded.config.hosts;
  EXPECT_EQ(hosts[0].host.adapters, 2u);
  EXPECT_EQ(hosts[1].host.adapters, 3u);
  EXPECT_EQ(hosts[0].adapterSections(1).pcie.generation, 4);
  EXPECT_EQ(hosts[1].adapterSections(1).pcie.generation, 5);
  const AdapterSections& last = hosts[1].adapterSections(2);
  EXPECT_EQ(last.pcie.generation, 6);
  EXPECT_EQ(last.adapter.completion.armRule, adapter::ArmRule::kCiCompare);
  EXPECT_EQ(hosts[1].adapterSections(1).adapter.completion.armRule, adapter::ArmRule::kIbSpec);
  EXPECT_EQ(last.portSections(1).faults.loss, 0);
  EXPECT_EQ(last.portSections(2).faults.loss, 0.5);
  EXPECT_EQ(last.portSections(1).port.rate, BitsPerSecond(10'000'000'000));
  EXPECT_EQ(hosts[1].adapterSections(0).portSections(1).port.rate, BitsPerSecond(25'000'000'000));
  EXPECT_EQ(hosts[1].portCount(), 4u);
  EXPECT_EQ(hosts[1].firstPort(2), 3u);
}

TEST_F(ConfigLoaderTest, NamesAdaptersAndPortsThatAreNotThere) {
  EXPECT_THAT(
      problems("[host.0.adapter.1.pcie]\n[host.1.adapter.0.port.2.link.faults]\n[host.1.adapter.0.port.0]\n"
               "[flow.a]\niters = 1\nclient_adapter = 1\nserver_port = 2\n[flow.b]\niters = 1\nclient_port = 3\n"
               "[dma.c]\niters = 1\nadapter = 2\n[host.1]\nadapters = 9\n[host.2]\n"),
      ElementsAre("main.ini:1: [host.0.adapter.1.pcie]: names an adapter that isn't there: those of this host are "
                  "numbered 0 to 0",
                  "main.ini:2: [host.1.adapter.0.port.2.link.faults]: names a port that isn't there: those of this "
                  "adapter are numbered 1 to 1",
                  HasSubstr("main.ini:3: [host.1.adapter.0.port.0]: names a port that isn't there"),
                  "main.ini:6: client_adapter: 1 is no adapter of host 0: adapters are numbered 0 to 0",
                  "main.ini:7: server_port: 2 is no port of adapter 0 of host 1: ports are numbered 1 to 1",
                  "main.ini:10: client_port: 3 is out of range: 1 to 2",
                  "main.ini:13: adapter: 2 is no adapter of host 0: adapters are numbered 0 to 0",
                  "main.ini:15: adapters: 9 is out of range: 1 to 8",
                  "main.ini:16: [host.2]: names a host that isn't there: hosts are numbered 0 to 1"));
}

TEST_F(ConfigLoaderTest, NamesWrongSectionsOfAdaptersAndPorts) {
  EXPECT_THAT(
      problems("[host.0.adapter.0.cpu]\n[host.0.adapter.0.adapter.event]\n[host.0.adapter.0.port.1.pcie]\n"
               "[host.0.adapter.0.evnt]\n[host.0.adapter.00.event]\n[host.0.adapter.0.port.1.adapter.port]\n"
               "[host.0.adapter.0.]\n[host.0.adapter.0.port.1.]\n[host.0.]\n[adapter.0.event]\n" +
               std::string(kWork)),
      ElementsAre(HasSubstr("main.ini:1: [host.0.adapter.0.cpu]: is no known section"),
                  HasSubstr("main.ini:2: [host.0.adapter.0.adapter.event]: is no known section"),
                  HasSubstr("main.ini:3: [host.0.adapter.0.port.1.pcie]: is no known section"),
                  "main.ini:4: [host.0.adapter.0.evnt]: is no known section (nearest known: host.0.adapter.0.event)",
                  HasSubstr("main.ini:5: [host.0.adapter.00.event]: is no known section"),
                  HasSubstr("main.ini:6: [host.0.adapter.0.port.1.adapter.port]: is no known section"),
                  HasSubstr("main.ini:7: [host.0.adapter.0.]: is no known section"),
                  HasSubstr("main.ini:8: [host.0.adapter.0.port.1.]: is no known section"),
                  HasSubstr("main.ini:9: [host.0.]: is no known section"),
                  HasSubstr("main.ini:10: [adapter.0.event]: is no known section")));
}

TEST_F(ConfigLoaderTest, WithoutASwitchPortsLeadToTheSameOfTheOtherHost) {
  const std::string two = "[adapter.device]\nports = 2\n";
  const std::string crossed = two + "[flow.a]\niters = 1\nclient_port = 1\nserver_port = 2\n";
  EXPECT_THAT(problems(crossed), ElementsAre(HasSubstr("main.ini:6: server_port: is not the port that the client's")));
  EXPECT_THAT(problems("[switch]\nalways = yes\n" + crossed), IsEmpty());
  EXPECT_THAT(problems(two + "[flow.a]\niters = 1\nclient_port = 2\nserver_port = 2\n"), IsEmpty());
  // Counted over all adapters: the second port of one is the first of the other's second adapter.
  EXPECT_THAT(problems("[host.0.adapter.0.device]\nports = 2\n[host.1]\nadapters = 2\n"
                       "[flow.a]\niters = 1\nclient_port = 2\nserver_adapter = 1\n"),
              IsEmpty());
}

TEST_F(ConfigLoaderTest, ComplaintsOfOneAdapterStandWhereItsKeyDoes) {
  EXPECT_THAT(problems("[host.1.adapter.0.pcie]\nmps = 300B\n[host.1.adapter.0.port.1.link.faults]\nlose = x\n"
                       "[host.1.adapter.0.event]\nvectors = 2\n[flow.a]\niters = 1\ncomp_vector = 1\n"),
              ElementsAre("main.ini:2: mps: 300B is no power of two",
                          HasSubstr("main.ini:4: lose: 'x' is no list of packet numbers"),
                          HasSubstr("main.ini:9: comp_vector: 1 is no completion vector of host 1")));
}

TEST_F(ConfigLoaderTest, TwoToAThousandHosts) {
  const LoadedConfig most = load(
      "[host]\ncount = 1024\n[host.1023.link.faults]\nloss = 0.5\n[flow.a]\niters = 1\n"
      "client = 1023\n");
  EXPECT_THAT(most.problems, IsEmpty());
  ASSERT_EQ(most.config.hosts.size(), 1024u);
  EXPECT_EQ(most.config.hosts[1023].faults.loss, 0.5);
  EXPECT_EQ(most.config.hosts[1022].faults.loss, 0);
  EXPECT_THAT(problems("[host]\ncount = 1\n" + std::string(kWork)),
              ElementsAre("main.ini:2: count: 1 is out of range: 2 to 1024"));
  EXPECT_THAT(problems("[host]\ncount = 1025\n" + std::string(kWork)),
              ElementsAre("main.ini:2: count: 1025 is out of range: 2 to 1024"));
}

TEST_F(ConfigLoaderTest, C50_NamesWrongValues) {
  EXPECT_THAT(
      problems("[run]\nseed = -1\npayload = timming\nprogress = 2\n[cpu]\narm = 12\ncores = 0\npoll_empty = 0ps\n"
               "clock = 3GB\n[flow.a]\niters = 0x10\nqps = 70000\nsize =\nmtu = 4KiB x\n"),
      ElementsAre(
          "main.ini:2: seed: '-1' is negative",
          "main.ini:3: payload: 'timming' is none of moved or timing (nearest known: timing)",
          "main.ini:4: progress: '2' is neither yes nor no", "main.ini:6: arm: '12' needs a unit: ps, ns, us, ms or s",
          "main.ini:7: cores: 0 is out of range: 1 to 1024", "main.ini:8: poll_empty: 0ps is out of range: 1ps to 1ms",
          "main.ini:9: clock: '3GB': 'GB' is no unit of a frequency: Hz, kHz, MHz or GHz (nearest known: Hz)",
          "main.ini:11: iters: '0x10' is hexadecimal: write a decimal number",
          "main.ini:12: qps: 70000 is out of range: 1 to 65536", "main.ini:13: size: has no value",
          HasSubstr("main.ini:14: mtu: '4KiB x': 'KiB x' is no unit of a size")));
}

TEST_F(ConfigLoaderTest, NamesValuesOfOneHostOnce) {
  EXPECT_THAT(problems("[cpu]\narm = 1\n[host.0.cpu]\narm = 2\n" + std::string(kWork)),
              ElementsAre("main.ini:2: arm: '1' needs a unit: ps, ns, us, ms or s",
                          "main.ini:4: arm: '2' needs a unit: ps, ns, us, ms or s"));
}

TEST_F(ConfigLoaderTest, C50_RefusesCarriageReturnsAndByteOrderMarks) {
  EXPECT_THAT(problems("[flow.a]\r\niters = 1\r\n"),
              ElementsAre(HasSubstr("main.ini:1: file: has lines that end in CR LF")));
  EXPECT_THAT(problems("\xEF\xBB\xBF[flow.a]\niters = 1\nitres = 1\n"),
              ElementsAre(HasSubstr("main.ini:1: file: starts with a byte order mark"),
                          "main.ini:3: itres: is no known key of [flow.a] (nearest known: iters)"));
}

TEST_F(ConfigLoaderTest, C50_RefusesFilesThatAreEmptyMissingOrFolders) {
  EXPECT_THAT(problems(""), ElementsAre("main.ini:1: file: is empty: it has no section"));
  EXPECT_THAT(problems("# only a comment\n\n"), ElementsAre("main.ini:1: file: is empty: it has no section"));
  EXPECT_THAT(
      lines(loadConfig({path("mian.ini")}, {})),
      ElementsAre("mian.ini:1: file: 'mian.ini' can't be read: No such file or directory (nearest known: main.ini)"));
  std::filesystem::create_directory(path("folder"));
  EXPECT_THAT(lines(loadConfig({path("folder")}, {})), ElementsAre("folder:1: file: 'folder' is a folder"));
}

TEST_F(ConfigLoaderTest, NamesTheIncludeLineOfAMissingFile) {
  write("profiles/base.ini", "[run]\nseed = 1\n");
  EXPECT_THAT(problems("# profile\ninclude = profiles/bse.ini\n"),
              ElementsAre("main.ini:2: include: 'profiles/bse.ini' can't be read: No such file or directory"
                          " (nearest known: base.ini)"));
}

TEST_F(ConfigLoaderTest, C50_RefusesIncludeCycles) {
  write("a/one.ini", "include = ../two.ini\n[run]\nseed = 1\n");
  write("two.ini", "\ninclude = a/one.ini\n[run]\nseed = 1\n");
  EXPECT_THAT(lines(loadConfig({path("two.ini")}, {})),
              ElementsAre("a/one.ini:1: include: closes a cycle: two.ini -> a/one.ini -> two.ini"));
  EXPECT_THAT(problems("include = main.ini\n" + std::string(kWork)),
              ElementsAre("main.ini:1: include: closes a cycle: main.ini -> main.ini"));
}

TEST_F(ConfigLoaderTest, RefusesAnIncludeInsideASection) {
  write("base.ini", "[run]\nseed = 1\n");
  EXPECT_THAT(problems("seed = 1\n[run]\ninclude = base.ini\n" + std::string(kWork)),
              ElementsAre("main.ini:1: seed: stands before the first section",
                          "main.ini:3: include: must stand before the first section"));
}

TEST_F(ConfigLoaderTest, C50_RefusesRepeatedKeys) {
  EXPECT_THAT(problems("[flow.a]\niters = 1\niters = 2\n"),
              ElementsAre("main.ini:3: iters: is set twice in this file: first in line 2"));
}

TEST_F(ConfigLoaderTest, C50_AMillionLinesKeepTheirNumbers) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "# a comment\n";
  EXPECT_THAT(lines(load(text + "[flow.a]\niters = 1\n")), IsEmpty());
  EXPECT_THAT(lines(load(text + "[flow.a]\niters = 1\nitres = 2\n")),
              ElementsAre("main.ini:1000003: itres: is no known key of [flow.a] (nearest known: iters)"));
}

TEST_F(ConfigLoaderTest, C50_RefusesZeroWork) {
  EXPECT_THAT(problems("[run]\nseed = 1\n"),
              ElementsAre("main.ini:1: [flow.NAME]: is missing: there is nothing to do"));
  EXPECT_THAT(problems("[run]\nseed = 1\n\n[flow.a]\nsize = 2B\n"),
              ElementsAre("main.ini:4: iters: is 0 and there is no duration: the flow would do nothing"));
  EXPECT_THAT(problems("[flow.a]\nsize = 2B\niters = 0\n"),
              ElementsAre("main.ini:3: iters: is 0 and there is no duration: the flow would do nothing"));
  EXPECT_THAT(problems("[flow.a]\nduration = 1us\n"), IsEmpty());
}

TEST_F(ConfigLoaderTest, ListsTheProblemsOfAllFilesAtOnce) {
  write("base.ini", "[run]\nseed = x\n[cpu]\nam = 1ns\n");
  EXPECT_THAT(
      problems("include = base.ini\n[flow.a]\niters = y\n", {{"--set", "run.naem=1"}, {"--seed", "run.seed=z"}}),
      ElementsAre("base.ini:4: am: is no known key of [cpu] (nearest known: arm)",
                  "--set run.naem=1: naem: is no known key of [run] (nearest known: name)",
                  "--seed run.seed=z: seed: 'z' is not a number", "main.ini:3: iters: 'y' is not a number"));
}

TEST_F(ConfigLoaderTest, RefusesMalformedSettings) {
  EXPECT_THAT(problems(kWork, {{"--set", "run.seed"}, {"--set", "seed=1"}, {"--set", ".x=1"}, {"--set", "run.=1"}}),
              ElementsAre("--set run.seed: run.seed: is not of the form section.key=value",
                          "--set seed=1: seed: is not of the form section.key=value",
                          "--set .x=1: .x: is not of the form section.key=value",
                          "--set run.=1: run.: is not of the form section.key=value"));
  EXPECT_THAT(problems(kWork, {{"--set", "rum.seed=1"}}),
              ElementsAre("--set rum.seed=1: [rum]: is no known section (nearest known: run)"));
}

TEST_F(ConfigLoaderTest, StrictNotifySetsTheArmRuleOfEveryAdapter) {
  const std::string text =
      "[adapter.completion]\narm_rule = ci_compare\n[host.1.adapter.completion]\narm_rule = ci_compare_once\n";
  const LoadedConfig lenient = load(text + kWork);
  EXPECT_EQ(lenient.config.hosts[0].adapter.completion.armRule, adapter::ArmRule::kCiCompare);
  EXPECT_EQ(lenient.config.hosts[1].adapter.completion.armRule, adapter::ArmRule::kCiCompareOnce);
  const LoadedConfig strict = load(text + kWork, {{"--strict-notify", "run.strict_notify=yes"}});
  EXPECT_THAT(lines(strict), IsEmpty());
  for (const HostSections& host : strict.config.hosts) {
    EXPECT_EQ(host.adapter.completion.armRule, adapter::ArmRule::kIbSpec);
  }
}

TEST_F(ConfigLoaderTest, SettingsReachSectionsOfOneHostAndFlows) {
  const LoadedConfig loaded = load(kWork, {{"--set", "host.1.cpu.arm=3ns"}, {"--set", "flow.a.size=64B"}});
  EXPECT_THAT(lines(loaded), IsEmpty());
  EXPECT_EQ(loaded.config.hosts[1].cpu.arm, nanoseconds(3));
  EXPECT_EQ(loaded.config.flows[0].flow.size, Bytes(64));
}

}  // namespace
}  // namespace hca::config
