// The shape of each curve: what software does, and completion entries.
#include "tests/sim/run/study.h"

namespace hca::test {
namespace {

constexpr const char* kModeration = "studies/moderation.ini";
constexpr const char* kBatching = "studies/batching.ini";
constexpr const char* kInline = "studies/inline.ini";
constexpr const char* kWakeUp = "studies/wake_up.ini";

const Shape kSoftware[] = {
    {"FewerEvents",
     kModeration,
     {},
     {"flow.events.cq_count=4", "flow.events.cq_period=50"},
     "cqs.1.events",
     "cqs.1.events",
     Compare::kRatio,
     0.4,
     0.6},
    {"TooLongAPeriod",
     kModeration,
     {},
     {"flow.events.cq_count=32", "flow.events.cq_period=200"},
     "flows.events.latency_ns.p50",
     "flows.events.latency_ns.p50",
     Compare::kRatio,
     3,
     6},
    {"ListsOfRequests",
     kBatching,
     {},
     {"flow.writes.post_list=16"},
     "flows.writes.message_rate",
     "flows.writes.message_rate",
     Compare::kRatio,
     1.2,
     2},
    {"FewCompletions",
     kBatching,
     {},
     {"flow.writes.cq_mod=16"},
     "flows.writes.message_rate",
     "flows.writes.message_rate",
     Compare::kRatio,
     1.2,
     2},
    {"NotInline",
     kInline,
     {},
     {"flow.small.inline_size=0B"},
     "flows.small.latency_ns.p50",
     "flows.small.latency_ns.p50",
     Compare::kDifference,
     450,
     650},
    {"SleepingCosts",
     kWakeUp,
     {"flow.ping.events=off"},
     {"flow.ping.events=safe"},
     "flows.ping.latency_ns.p50",
     "flows.ping.latency_ns.p50",
     Compare::kDifference,
     5000,
     7000},
    {"AnInterruptElsewhere",
     kWakeUp,
     {},
     {"flow.ping.comp_vector=0"},
     "flows.ping.latency_ns.p50",
     "flows.ping.latency_ns.p50",
     Compare::kDifference,
     1999,
     2001},
};
INSTANTIATE_TEST_SUITE_P(Software, StudyTest, ::testing::ValuesIn(kSoftware), nameOf);

constexpr const char* kCompression = "studies/cqe_compression.ini";
constexpr const char* kEntryRate = "flows.a.message_rate";
constexpr const char* kEntryBytes = "pcie.2.bytes";  // host 1, upstream

Settings entries(const std::vector<std::string>& keys) {
  Settings settings;
  for (const char* flow : {"a", "b", "c", "d"}) {
    for (const std::string& key : keys) settings.push_back(std::string("flow.") + flow + '.' + key);
  }
  return settings;
}

// 48,192 completions: 88 bytes each on the link alone, 2 x 88 / 8 in sessions of eight, 152 padded.
constexpr double kCompletions = 48192;
Settings shortEntries() {
  Settings settings = entries({"cqe_size=32B"});
  settings.push_back("adapter.completion.cqe_32=yes");
  return settings;
}
const Shape kEntries[] = {
    {"ShortEntriesSaveTheirBytes",
     kCompression,
     {},
     shortEntries(),
     kEntryBytes,
     kEntryBytes,
     Compare::kDifference,
     -32 * kCompletions - 480,  // a few of the reads of receive WQEs, 24 bytes each, fall otherwise
     -32 * kCompletions + 480},
    {"AndTheRateOfTheLink", kCompression, {}, shortEntries(), kEntryRate, kEntryRate, Compare::kRatio, 1.53, 1.61},
    {"SessionsOfEightSaveThreeQuarters",
     kCompression,
     {},
     entries({"cqe_compression=basic"}),
     kEntryBytes,
     kEntryBytes,
     Compare::kDifference,
     -66 * kCompletions,
     -66 * kCompletions},
    {"AndTheLinkCarriesMoreOfThem",
     kCompression,
     {},
     entries({"cqe_compression=basic"}),
     kEntryRate,
     kEntryRate,
     Compare::kRatio,
     3.45,
     3.75},
    {"EnhancedSessionsOfEightCostTheSame", kCompression, entries({"cqe_compression=basic"}),
     entries({"cqe_compression=enhanced"}), kEntryBytes, kEntryBytes, Compare::kDifference, 0, 0},
    {"PaddingCostsItsBytes", kCompression, entries({"cqe_size=128B"}), entries({"cqe_pad=yes"}), kEntryBytes,
     kEntryBytes, Compare::kDifference, 64 * kCompletions, 64 * kCompletions},
    {"AndTheRate", kCompression, entries({"cqe_size=128B"}), entries({"cqe_pad=yes"}), kEntryRate, kEntryRate,
     Compare::kRatio, 0.57, 0.61},
    {"UnpaddedEntriesCostWhatNarrowOnesDo",
     kCompression,
     {},
     entries({"cqe_size=128B"}),
     kEntryRate,
     kEntryRate,
     Compare::kRatio,
     0.999,
     1.001},
};
INSTANTIATE_TEST_SUITE_P(Entries, StudyTest, ::testing::ValuesIn(kEntries), nameOf);

}  // namespace
}  // namespace hca::test
