#include "sim/report/result_table.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "sim/report/text_table.h"
#include "tests/sim/report/result_examples.h"

namespace hca::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t widest(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::size_t width = 0;
  while (std::getline(lines, line)) width = std::max(width, line.size());
  return width;
}

TEST(TextTable, AlignsColumns) {
  TextTable table({"name", "n"});
  table.add({"a", "1"});
  table.add({"longer", "100"});
  EXPECT_EQ(table.text(), "name      n\na         1\nlonger  100\n");
}

TEST(TextTable, LeavesNoTrailingBlanks) {
  TextTable table({"a", "b"});
  table.add({"x", ""});
  EXPECT_EQ(table.text(), "a  b\nx\n");
}

TEST(TextTable, WrapsBetweenWords) {
  EXPECT_EQ(wrapped("aa bb cc", 2, 5), "aa bb\n  cc");
  EXPECT_EQ(wrapped("aaaaaaaa b", 2, 5), "aaaaaaaa\n  b");
  EXPECT_EQ(wrapped("", 2, 5), "");
}

TEST(TextTable, Clips) {
  EXPECT_EQ(clipped("abcde", 5), "abcde");
  EXPECT_EQ(clipped("abcdef", 5), "abc..");
}

TEST(ResultTable, ShowsFlowsWithUnits) {
  const std::string text = toTable(exampleResult());
  EXPECT_THAT(text, HasSubstr("example: 2 ms simulated\n"));
  EXPECT_THAT(text, HasSubstr("p50 us"));
  EXPECT_THAT(text, HasSubstr("0.970"));
  EXPECT_THAT(text, HasSubstr("latency: half of the round trip\n"));
  EXPECT_THAT(text, HasSubstr("cqe_visible       750.5 ns          900.5 ns\n"));
}

TEST(ResultTable, NamesAdaptersWhereAHostHasSeveral) {
  Result result = exampleResult();
  EXPECT_THAT(toTable(result), Not(HasSubstr("adapter  ")));
  EXPECT_THAT(toTable(result), HasSubstr("dropped: host 0: 2 x unknown destination\n"));
  result.pcie.push_back({HostIndex(0), AdapterIndex(1), PcieResult::Direction::kUpstream, 1, 2, 0.5});
  result.drops[0].port = 2;
  result.caches.push_back({HostIndex(0), {}, "iotlb", 1, 2, 3});
  const std::string text = toTable(result);
  EXPECT_THAT(text, HasSubstr("\nhost.adapter      PCIe"));
  EXPECT_THAT(text, HasSubstr("\n0.1           upstream"));
  EXPECT_THAT(text, HasSubstr("\n1.0           0x81"));
  EXPECT_THAT(text, HasSubstr("\n0             iotlb"));
  EXPECT_THAT(text, HasSubstr("dropped: host 0, adapter 0, port 2: 2 x unknown destination\n"));
}

TEST(ResultTable, ShowsPublishedFiguresOnlyWhereThereAreAny) {
  Result result = exampleResult();
  result.flows[0].published = Time(1'000'000);
  EXPECT_THAT(toTable(result), HasSubstr("-3.0 %"));
  result.flows[0].published.reset();
  EXPECT_THAT(toTable(result), Not(HasSubstr("published")));
}

TEST(ResultTable, TellsHazardsAndFailuresInWords) {
  const std::string text = toTable(exampleResult());
  EXPECT_THAT(text, HasSubstr("notification hazard: host 1, CQ 0x81: 3 times an event came for entries (4 in all)"));
  EXPECT_THAT(text, HasSubstr("FAILED, lost_wakeup: the thread sleeps for ever\n"
                              "  software last: armed at 12.1 us\n"
                              "  adapter last:  wrote an entry at 12 us\n"));
  EXPECT_THAT(text, HasSubstr("dropped: host 0: 2 x unknown destination"));
  EXPECT_THAT(text, HasSubstr("asynchronous event: host 1: CQ_ERR of object 0x81 at 5.000500 us"));
}

TEST(ResultTable, ListsClientsBelowTheirFlow) {
  Result result = exampleResult();
  FlowResult client = exampleFlow();
  client.client = HostIndex(7);
  client.iterations = 123;
  result.flows[0].clients.assign(2, client);
  EXPECT_THAT(toTable(result), HasSubstr("\n  from host 7    123"));
  EXPECT_THAT(toTable(result), Not(HasSubstr(" more\n")));
  result.flows[0].clients.assign(20, client);
  EXPECT_THAT(toTable(result), HasSubstr("\n  4 more\n"));
}

TEST(ResultTable, FitsIntoAHundredColumns) {
  Result result = exampleResult();
  FlowResult& flow = result.flows[0];
  flow.name = std::string(200, 'n');
  flow.iterations = 2'000'000'000;
  flow.bytes = std::uint64_t{2'000'000'000} << 30;
  flow.latency.minimum = flow.latency.p50 = flow.latency.p99 = Time(9'999'999'999);
  flow.latency.p999 = flow.latency.maximum = Time(9'999'999'999);
  flow.messageRate = 999e6;
  flow.throughput = 999.999;
  flow.stages[0].name = "last_packet_arrived";
  EXPECT_LE(widest(toTable(exampleResult())), 100U);
  result.failures[0].message.clear();
  EXPECT_LE(widest(toTable(result)), 100U) << toTable(result);
}

TEST(ResultTable, ListsOnlyQueuesThatSaySomething) {
  Result result = exampleResult();
  EXPECT_THAT(toTable(result), HasSubstr("high water"));
  result.cqs[0].arms = result.cqs[0].events = 0;
  EXPECT_THAT(toTable(result), Not(HasSubstr("high water")));
  CqResult lossy = result.cqs[0];
  lossy.lost = 1;
  result.cqs.assign(20, lossy);
  EXPECT_THAT(toTable(result), HasSubstr("... and 8 more (--json has all)"));
}

TEST(ResultTable, TellsWhatDriversLeftInAdapters) {
  EXPECT_EQ(leftLines(exampleResult()),
            "\nleft in the adapter: 2 CQ, 1 PD (host 1, at TEARDOWN_HCA of bring-up 2)\n"
            "left in the adapter: 12 pages (host 1, at the end)\n");
  Result result = exampleResult();
  result.adapters[0].left[0].isTeardown = false;  // a reset
  result.adapters[0].state = "initialized";
  EXPECT_EQ(leftLines(result), "") << "a driver uses them";
}

}  // namespace
}  // namespace hca::report
