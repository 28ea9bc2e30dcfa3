#include "sim/config/config_text.h"

#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "sim/config/section_catalog.h"
#include "sim/drills/drill_kinds.h"
#include "tests/sim/config/config_test_files.h"

namespace hca::config {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using ConfigTextTest = ConfigTest;

constexpr const char* kRich =
    "[run]\nname = \"a # b\"\nseed = 9\ntime_limit = 1.5ms\nlog = debug\n[cpu]\narm = 12.345ns\n"
    "[host.1.cpu]\narm = 1ns\n[flow.b]\niters = 3\nsize = 100B\nevents = safe\n[flow.a]\nduration = 1us\nclient = "
    "1\nserver = 0\n[dma.c]\niters = 5\nnode = remote\n";

TEST_F(ConfigTextTest, TheEffectiveConfigurationReadsBack) {
  for (const bool withDocs : {false, true}) {
    const LoadedConfig first = load(kRich);
    ASSERT_THAT(lines(first), IsEmpty());
    const std::string shown = effectiveIni(first.config, withDocs);
    const LoadedConfig second = load(shown);
    EXPECT_THAT(lines(second), IsEmpty()) << shown;
    EXPECT_EQ(effectiveSections(first.config), effectiveSections(second.config));
    EXPECT_EQ(effectiveIni(second.config, withDocs), shown);
  }
}

TEST_F(ConfigTextTest, ShowsEveryKeyAndOnlyDifferencesOfAHost) {
  const std::string shown = effectiveIni(load(kRich).config, false);
  EXPECT_THAT(shown, HasSubstr("name = \"a # b\"\n"));
  EXPECT_THAT(shown, HasSubstr("time_limit = 1.5ms\n"));
  EXPECT_THAT(shown, HasSubstr("[host.1.cpu]\narm = 1ns\n\n[flow.b]\n"));
  EXPECT_THAT(shown, testing::Not(HasSubstr("[host.0")));
  const SectionCatalog catalog;
  for (const SectionSchema& section : catalog.sections()) {
    if (section.name == sim::kDrillSection) continue;  // each has the keys of its kind alone
    for (const KeySchema& key : section.keys) EXPECT_THAT(shown, HasSubstr('\n' + key.name + " = "));
  }
}

TEST_F(ConfigTextTest, ADrillShowsTheKeysOfItsKind) {
  std::string text(kWork);
  for (const sim::DrillKindInfo& info : sim::drillKinds()) {
    text += std::string("[drill.") + info.name + "]\nkind = " + info.name + "\nat = 3ms\n";
    if (info.kind == sim::DrillKind::kCommandLate) text += "duration = 1s\n";
  }
  const LoadedConfig first = load(text);
  ASSERT_THAT(lines(first), IsEmpty());
  const std::string shown = effectiveIni(first.config, true);
  const LoadedConfig second = load(shown);
  EXPECT_THAT(lines(second), IsEmpty()) << shown;
  EXPECT_EQ(effectiveSections(first.config), effectiveSections(second.config));
  EXPECT_THAT(shown, HasSubstr("[drill.reset]\n"));
  EXPECT_EQ(first.config.drills.size(), sim::drillKinds().size());
}

TEST_F(ConfigTextTest, ShowsDifferencesOfAdaptersAndPorts) {
  const LoadedConfig first = load(
      "[host.1]\nadapters = 2\n[host.1.pcie]\ngeneration = 4\n[host.1.adapter.1.pcie]\ngeneration = 5\n"
      "[host.1.adapter.1.device]\nports = 2\n[host.1.adapter.1.link.faults]\nloss = 0.25\n"
      "[host.1.adapter.1.port.2.link.faults]\nloss = 0.5\n[host.1.adapter.1.port.1]\nrate = 10Gbps\n" +
      std::string(kWork));
  ASSERT_THAT(lines(first), IsEmpty());
  const std::string shown = effectiveIni(first.config, false);
  EXPECT_THAT(shown, HasSubstr("[host.1]\nadapters = 2\n\n[host.1.pcie]\ngeneration = 4\n\n"
                               "[host.1.adapter.1.pcie]\ngeneration = 5\n\n"
                               "[host.1.adapter.1.link.faults]\nloss = 0.25\n\n"
                               "[host.1.adapter.1.device]\nports = 2\n\n"
                               "[host.1.adapter.1.port.1]\nrate = 10Gbps\n\n"
                               "[host.1.adapter.1.port.2.link.faults]\nloss = 0.5\n\n[flow."));
  const LoadedConfig second = load(shown);
  EXPECT_THAT(lines(second), IsEmpty());
  EXPECT_EQ(effectiveIni(second.config, false), shown);
}

TEST_F(ConfigTextTest, DocumentsEachKeyOnce) {
  const SectionCatalog catalog;
  std::set<std::string> sections;
  for (const SectionSchema& section : catalog.sections()) {
    EXPECT_TRUE(sections.insert(section.name).second) << section.name;
    EXPECT_FALSE(section.doc.empty());
    std::set<std::string> keys;
    for (const KeySchema& key : section.keys) {
      EXPECT_TRUE(keys.insert(key.name).second) << section.name << '.' << key.name;
      EXPECT_FALSE(key.doc.empty()) << section.name << '.' << key.name;
      EXPECT_EQ(key.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos) << key.name;
    }
  }
}

// The defaults of every section pass their own checks.
TEST_F(ConfigTextTest, DefaultsAreInRange) {
  const std::string shown = effectiveIni(load(kWork).config, false);
  EXPECT_THAT(problems(shown), IsEmpty());
}

TEST(ConfigReference, IsFresh) {
  std::ifstream stored(HCASIM_SOURCE_DIR "/configs/REFERENCE.md");
  std::istringstream current(referenceMarkdown());
  std::string storedLine;
  std::string currentLine;
  while (std::getline(current, currentLine)) {
    std::getline(stored, storedLine);
    ASSERT_EQ(storedLine, currentLine) << "stale: hcasim config reference > configs/REFERENCE.md";
    storedLine.clear();
  }
  EXPECT_FALSE(std::getline(stored, storedLine)) << "stale: hcasim config reference > configs/REFERENCE.md";
}

}  // namespace
}  // namespace hca::config
