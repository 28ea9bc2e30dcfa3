#include "sim/config/ini_scanner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hca::config {
namespace {

using namespace std::string_literals;

std::vector<std::string> assignments(const ScannedFile& file) {
  std::vector<std::string> texts;
  for (const Assignment& a : file.assignments) {
    texts.push_back(std::to_string(a.origin.line) + ": " + a.section + '.' + a.key + '=' + a.value);
  }
  return texts;
}

std::vector<std::string> problems(const ScannedFile& file) {
  std::vector<std::string> texts;
  for (const Problem& problem : file.problems) texts.push_back(describe(problem));
  return texts;
}

using Lines = std::vector<std::string>;

TEST(IniScanner, KeepsLinesSectionsAndValues) {
  const ScannedFile file =
      scanIni("include = a.ini\n\n[run]\nseed=1\n  name =  two words  \n\t[ flow.x ]\nsize = 2B", "f");
  EXPECT_EQ(problems(file), Lines{});
  EXPECT_EQ(assignments(file),
            (Lines{"1: .include=a.ini", "4: run.seed=1", "5: run.name=two words", "7: flow.x.size=2B"}));
  ASSERT_EQ(file.headers.size(), 2U);
  EXPECT_EQ(file.headers[1].section, "flow.x");
  EXPECT_EQ(file.headers[1].origin.line, 6);
}

TEST(IniScanner, DropsComments) {
  const ScannedFile file = scanIni(
      "# one\n; two\n[run] # three\nseed = 1 ; four\nname = \"a # b ; c\" # five\nprint = none#six\n[x];seven\n", "f");
  EXPECT_EQ(problems(file), Lines{});
  EXPECT_EQ(assignments(file), (Lines{"4: run.seed=1", "5: run.name=a # b ; c", "6: run.print=none"}));
}

TEST(IniScanner, KeepsEqualSignsAndEmptyValues) {
  const ScannedFile file = scanIni("[run]\nname = a=b\nlog =\nprint = \"\"\n", "f");
  EXPECT_EQ(problems(file), Lines{});
  EXPECT_EQ(assignments(file), (Lines{"2: run.name=a=b", "3: run.log=", "4: run.print="}));
}

TEST(IniScanner, NamesMalformedLines) {
  const ScannedFile file =
      scanIni("[run]\nnonsense # why\n= 3\n[run\nseed = 1\n[]\n[a b]\n[run] x\n[run]\nna me = 1\n", "f");
  EXPECT_EQ(
      problems(file),
      (Lines{"f:2: nonsense: is neither [section] nor key = value", "f:3: = 3: is neither [section] nor key = value",
             "f:4: [run: is no section: write [name]", "f:6: []: is no section: write [name]",
             "f:7: [a b]: is no section: write [name]", "f:8: [run] x: is no section: write [name]",
             "f:10: na me = 1: is neither [section] nor key = value"}));
  EXPECT_EQ(assignments(file), Lines{});  // the key under the malformed section belongs nowhere
}

TEST(IniScanner, NamesBadQuotes) {
  EXPECT_EQ(problems(scanIni("[run]\nname = \"a\n", "f")),
            Lines{"f:2: name: has an opening quote without a closing one"});
  EXPECT_EQ(problems(scanIni("[run]\nname = \"a\" b\n", "f")),
            Lines{"f:2: name: has text after the closing quote: 'b'"});
}

TEST(IniScanner, NamesRepeatedKeys) {
  const ScannedFile file = scanIni("[run]\nseed = 1\n[flow.a]\nsize = 2B\n[run]\nname = x\nseed = 2\n", "f");
  EXPECT_EQ(problems(file), Lines{"f:7: seed: is set twice in this file: first in line 2"});
  EXPECT_EQ(assignments(file), (Lines{"2: run.seed=1", "4: flow.a.size=2B", "6: run.name=x"}));
}

TEST(IniScanner, IncludeMayBeRepeated) { EXPECT_EQ(problems(scanIni("include = a\ninclude = b\n", "f")), Lines{}); }

TEST(IniScanner, RefusesCarriageReturnsOnceAndReadsOn) {
  const ScannedFile file = scanIni("[run]\r\nseed = 1\r\nbad\r\n", "f");
  EXPECT_EQ(problems(file),
            (Lines{"f:1: file: has lines that end in CR LF: save it with LF line ends (dos2unix does that)",
                   "f:3: bad: is neither [section] nor key = value"}));
  EXPECT_EQ(assignments(file), Lines{"2: run.seed=1"});
}

TEST(IniScanner, RefusesAByteOrderMarkAndReadsOn) {
  const ScannedFile file = scanIni("\xEF\xBB\xBF[run]\nseed = 1\n", "f");
  EXPECT_EQ(problems(file), Lines{"f:1: file: starts with a byte order mark: save it as UTF-8 without one"});
  EXPECT_EQ(assignments(file), Lines{"2: run.seed=1"});
}

TEST(IniScanner, RefusesOtherEncodings) {
  EXPECT_EQ(problems(scanIni("\xFF\xFE[\0r\0"s, "f")), Lines{"f:1: file: is not plain text: save it as UTF-8"});
  EXPECT_EQ(problems(scanIni("\xFE\xFF\0["s, "f")), Lines{"f:1: file: is not plain text: save it as UTF-8"});
  EXPECT_EQ(problems(scanIni("[run]\n\0\n"s, "f")), Lines{"f:1: file: is not plain text: save it as UTF-8"});
}

TEST(IniScanner, TakesAnEmptyFileAndOneWithoutALastLineEnd) {
  EXPECT_TRUE(scanIni("", "f").headers.empty());
  EXPECT_EQ(assignments(scanIni("[run]\nseed = 1", "f")), Lines{"2: run.seed=1"});
}

}  // namespace
}  // namespace hca::config
