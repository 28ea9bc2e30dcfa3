#include "sim/config/size_files.h"

#include <gmock/gmock.h>

#include "sim/config/config_text.h"
#include "tests/sim/config/config_test_files.h"

namespace hca::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using SizeFilesTest = ConfigTest;

const std::string kFlow = "[flow.a]\nkind = bandwidth\niters = 1\nsize = 4KiB\nsize_distribution = file:";

TEST_F(SizeFilesTest, ThePathIsRelativeToTheFileThatNamesIt) {
  write("base/sizes.csv", "64,3\n4KiB,1\n");
  write("base/flows.ini", kFlow + "sizes.csv\n");
  const LoadedConfig loaded = load("include = base/flows.ini\n[flow.a]\niters = 2\n");
  EXPECT_THAT(lines(loaded), IsEmpty());
  const sim::FlowConfig& flow = loaded.config.flows[0].flow;
  EXPECT_EQ(flow.size_distribution, sim::SizeDistribution::kFile);
  ASSERT_EQ(flow.size_table.rows.size(), 2U);
  EXPECT_EQ(flow.size_table.rows[1].most, 4096U);
  for (const auto& [section, keys] : effectiveSections(loaded.config)) {
    for (const auto& [key, value] : keys) {
      if (section == "flow.a" && key == "size_distribution") {
        EXPECT_EQ(value, "file:sizes.csv");
      }
    }
  }
}

TEST_F(SizeFilesTest, TheCommandLineMeansThePresentFolder) {
  write("here.csv", "64,1\n");
  const std::string set = "flow.a.size_distribution=file:" + path("here.csv");
  const LoadedConfig loaded = load(kFlow + "missing.csv\n", {{"--set", set}});
  EXPECT_THAT(lines(loaded), IsEmpty());
  EXPECT_EQ(loaded.config.flows[0].flow.size_table.rows.size(), 1U);
}

TEST_F(SizeFilesTest, WhatIsWrongIsToldWithTheLineOfTheFile) {
  write("sizes.csv", "# sizes\n64,1\nlong,1\n128,x\n");
  EXPECT_THAT(problems(kFlow + "sizes.csv\n"),
              ElementsAre("sizes.csv:3: size: 'long' is no size of at most 1GiB, such as 64, 64B or 4KiB",
                          "sizes.csv:4: weight: 'x' is no number, such as 12.5"));
  write("sizes.csv", "64,1\n4KiB,1\n4097,1\n");
  EXPECT_THAT(problems(kFlow + "sizes.csv\n"),
              ElementsAre("sizes.csv:3: size: 4097B is more than size of [flow.a] (4KiB)"));
  write("sizes.csv", "");
  EXPECT_THAT(problems(kFlow + "sizes.csv\n"), ElementsAre("sizes.csv:1: file: has no sizes"));
  EXPECT_THAT(problems(kFlow + "size.csv\n"),
              ElementsAre("main.ini:5: size_distribution: 'size.csv' can't be read: No such file or directory "
                          "(nearest known: sizes.csv)"));
  EXPECT_THAT(problems(kFlow + "\n"), ElementsAre("main.ini:5: size_distribution: names no file"));
}

TEST_F(SizeFilesTest, AFileIsForBandwidth) {
  write("sizes.csv", "64,1\n");
  EXPECT_THAT(problems("[flow.a]\niters = 1\nsize = 4KiB\nsize_distribution = file:sizes.csv\n"),
              ElementsAre("main.ini:4: size_distribution: is for kind = bandwidth, and not for atomics"));
}

}  // namespace
}  // namespace hca::config
