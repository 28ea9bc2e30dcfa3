// What a run found out, as plain values. Written as JSON (result_json.h) and as a table (result_table.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/ids.h"
#include "models/base/units.h"

namespace hca::report {

/// Of a set of latencies; see LatencyHistogram for what is exact.
struct LatencySummary {
  std::uint64_t samples = 0;
  Time minimum, p50, p99, p999, maximum, mean;
};

/// One stage in the life of a flow's work requests.
struct StageResult {
  std::string name;             ///< of the stage that ends the step, e.g. "wqe_fetched"
  std::uint64_t samples = 0;    ///< requests that passed it
  Time sincePosted;             ///< mean, from the post call to this stage
  Time minimum, mean, maximum;  ///< of the step: from the stage before it
};

/// How a latency was taken.
enum class LatencyKind : std::uint8_t {
  kPostToCompletion,  ///< from the post call to the completion seen by software
  kHalfRoundTrip,     ///< ping-pong: half of the round trip, as perftest reports it
};

struct FlowResult {
  std::string name;
  HostIndex client;              ///< the host that starts; of several clients it counts in `clients` alone
  std::uint64_t iterations = 0;  ///< work requests completed without error, without the warm-up
  std::uint64_t bytes = 0;       ///< payload of these
  std::uint64_t errors = 0;      ///< completions with an error status
  LatencyKind latencyKind = LatencyKind::kPostToCompletion;
  LatencySummary latency;
  Time measured;           ///< simulated time in which `iterations` were done; rates follow from it
  double messageRate = 0;  ///< work requests a second
  double throughput = 0;   ///< payload, Gb/s
  std::vector<StageResult> stages;
  std::string bottleneck;  ///< where requests spend most of their time, or what is saturated
  /// A published figure that the configuration names beside this flow, for comparison with the median.
  std::optional<Time> published;
  std::vector<FlowResult> clients;  ///< each alone, if the section names several; without stages
};

/// One [dma.NAME] section.
struct DmaResult {
  std::string name;
  HostIndex host;
  std::optional<AdapterIndex> adapter;  ///< where the host has more than one
  std::uint64_t iterations = 0;         ///< accesses without error, without the warm-up
  std::uint64_t bytes = 0;              ///< of these; a write and the read behind it count once
  std::uint64_t errors = 0;
  LatencySummary latency;
  Time measured;           ///< simulated time in which `iterations` were done
  double messageRate = 0;  ///< accesses a second
  double throughput = 0;   ///< Gb/s
  std::optional<Time> published;
};

/// A cache of limited size, of an adapter or its host.
struct CacheResult {
  HostIndex host;
  std::optional<AdapterIndex> adapter;  ///< of an adapter, where the host has more than one
  std::string name;                     ///< what it holds
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;  ///< misses that another entry had to make room for
};

struct CqResult {
  HostIndex host;
  AdapterIndex adapter;
  CqNumber cq;
  std::uint32_t cqe = 0;       ///< entries, as reported to software
  std::uint32_t cqeSize = 64;  ///< bytes
  std::uint64_t cqesWritten = 0;
  std::uint64_t compressedSessions = 0;
  std::uint64_t overruns = 0;
  std::uint64_t lost = 0;
  std::uint64_t highWater = 0;  ///< most entries that were visible and not yet polled
  std::uint64_t arms = 0;       ///< that reached the adapter
  std::uint64_t events = 0;     ///< raised by it
  std::uint64_t resizes = 0;
};

struct VectorResult {
  HostIndex host;
  AdapterIndex adapter;
  std::optional<std::uint32_t> completionVector;  ///< none: the vector of asynchronous and command events
  InterruptVector vector;                         ///< MSI-X table entry
  std::uint64_t interrupts = 0;                   ///< delivered to the host
};

/// One direction of one adapter's PCIe link.
struct PcieResult {
  enum class Direction : std::uint8_t { kUpstream, kDownstream };
  HostIndex host;
  AdapterIndex adapter;
  Direction direction = Direction::kUpstream;  ///< upstream: adapter to host
  std::uint64_t tlps = 0;
  std::uint64_t bytes = 0;  ///< on the link, framing included
  double utilisation = 0;   ///< of the link's capacity over the whole run, 0..1
};

using NamedCounts = std::vector<std::pair<std::string, std::uint64_t>>;

/// Objects of one kind in an adapter.
struct ObjectsResult {
  std::string name;  ///< "CQ", "memory key"
  std::uint64_t live = 0;
  std::uint64_t created = 0;
  std::uint64_t destroyed = 0;  ///< by commands, or by the adapter when a driver left them
  std::uint64_t most = 0;       ///< at once
};

/// What a driver left in an adapter.
struct LeftResult {
  std::uint64_t generation = 0;  ///< times that the adapter was brought up, until then
  std::string end;               ///< what ended it, e.g. "TEARDOWN_HCA"
  bool isTeardown = false;       ///< it was the driver itself, and in order
  NamedCounts objects;           ///< by kind
  std::uint64_t pages = 0;       ///< host memory that the adapter still held
};

/// What was in an adapter, and what its command interface was asked.
struct AdapterResult {
  struct Pages {
    std::uint64_t held = 0;
    std::uint64_t most = 0;   ///< at once
    std::uint64_t given = 0;  ///< all together, as the next
    std::uint64_t taken = 0;
    std::uint64_t needed = 0;
  };
  HostIndex host;
  AdapterIndex adapter;
  std::string state;  ///< "disabled", "enabled", "initialized": at the end
  std::uint64_t generations = 0;
  std::vector<ObjectsResult> objects;  ///< of the kinds that there were any of
  Pages pages;
  std::vector<LeftResult> left;
  NamedCounts commands;    ///< executed, by opcode
  NamedCounts statuses;    ///< what they returned
  NamedCounts rejections;  ///< what led to no command, or to one that was not executed
};

/// Something thrown away, by reason.
struct DropResult {
  HostIndex host;
  AdapterIndex adapter;
  std::optional<std::uint32_t> port;  ///< from 1; where it happened at one of several
  std::string reason;
  std::uint64_t count = 0;
};

/// What injected faults did to the packets of one direction of a port's link.
struct FaultResult {
  HostIndex host;
  std::optional<AdapterIndex> adapter;  ///< where the host has more than one
  std::optional<std::uint32_t> port;    ///< from 1, where the adapter has more than one
  bool fromSwitch = false;              ///< to the host; otherwise from it
  std::uint64_t lost = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t held = 0;
};

/// A port of the switch, by the port it leads to.
struct SwitchPortResult {
  HostIndex host;
  std::optional<AdapterIndex> adapter;  ///< where the host has more than one
  std::optional<std::uint32_t> port;    ///< from 1, where the adapter has more than one
  std::uint64_t forwarded = 0;
  std::uint64_t highWater = 0;  ///< most bytes that waited for the port
  std::uint64_t dropped = 0;    ///< packets that found no room
};

struct AsyncEventResult {
  HostIndex host;
  AdapterIndex adapter;
  Time time;
  std::string type;          ///< e.g. "CQ_ERR"
  std::uint32_t object = 0;  ///< CQ, QP, SRQ or port number, by type
  std::uint8_t syndrome = 0;
};

/// Notifications that the InfiniBand specification would not have promised, for one CQ.
struct HazardResult {
  std::string kind;  ///< "arm_after_entry" or "lost_wakeup"
  HostIndex host;
  AdapterIndex adapter;
  CqNumber cq;
  std::uint64_t count = 0;    ///< how often
  std::uint64_t entries = 0;  ///< CQEs concerned, all together
  Time first, last;
};

/// A fault that an adapter had on purpose.
struct DrillResult {
  std::string name;  ///< of its section, or "now" and a number
  std::string kind;
  HostIndex host;
  AdapterIndex adapter;
  Time at;                             ///< when it first did anything
  bool done = false;                   ///< it did
  std::uint64_t times = 0;             ///< how often
  std::string effect;                  ///< what it did first, or why it did nothing
  std::vector<std::string> kernelLog;  ///< what the driver said then
};

/// Why the run counts as failed.
struct FailureResult {
  std::string kind;  ///< "lost_wakeup", "flow_stuck", ...
  HostIndex host;
  AdapterIndex adapter;
  std::optional<CqNumber> cq;
  std::uint64_t entries = 0;
  Time since;
  std::string software;  ///< what software did last, with the time
  std::string hardware;  ///< what the adapter did last, with the time
  std::string message;   ///< one sentence for a person, with what to do
};

/// A guest of hcasim vm.
struct GuestResult {
  /// What its kernel said of level warning or worse.
  struct Warning {
    std::string level;
    std::string text;
    bool isDrivers = false;               ///< said while the adapter's driver was loaded
    Time simulated;                       ///< when hcasim read it
    std::uint64_t guestMicroseconds = 0;  ///< of the guest's clock, since its start
  };
  HostIndex host;
  bool wasUp = false;
  std::optional<int> exitStatus;  ///< of its command; none: it had none, or didn't end it
  std::vector<Warning> kernelWarnings;
  std::vector<std::string> troubles;  ///< what its first program couldn't do
};

/// Only with --timing: these differ from run to run.
struct TimingResult {
  double wallSeconds = 0;
  std::uint64_t kernelActivations = 0;
  std::uint64_t calendarEntries = 0;
};

/// Section name and its keys with their values, in the order of declaration.
using ConfigText = std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::string>>>>;

struct Result {
  /// Grows by one when a field is added; fields are never removed or given another meaning.
  static constexpr int kSchemaVersion = 5;

  std::string name;   ///< of the run, from the configuration
  ConfigText config;  ///< effective
  std::vector<FlowResult> flows;
  std::vector<DmaResult> dma;       ///< written only if there is any
  std::vector<CacheResult> caches;  ///< likewise
  std::vector<CqResult> cqs;
  std::vector<VectorResult> vectors;
  std::vector<PcieResult> pcie;
  std::vector<DropResult> drops;
  std::vector<AdapterResult> adapters;
  std::vector<FaultResult> faults;
  std::vector<SwitchPortResult> switchPorts;
  std::vector<AsyncEventResult> asyncEvents;
  std::vector<DrillResult> drills;  ///< written only if there is any
  std::vector<HazardResult> hazards;
  std::vector<FailureResult> failures;
  Time simulated;
  /// Of a co-simulation: times that it went on without a program's thread that called nothing. Results of runs with 0
  /// are the same each time.
  std::optional<std::uint64_t> forcedAdvances;
  std::vector<GuestResult> guests;  ///< written only if there is any
  std::optional<TimingResult> timing;

  [[nodiscard]] bool failed() const { return !failures.empty(); }
};

/// The figures of `histogram` that are reported.
class LatencyHistogram;
[[nodiscard]] LatencySummary summarise(const LatencyHistogram& histogram);
/// Fills messageRate and throughput from iterations, bytes and measured.
void computeRates(FlowResult& flow);
void computeRates(DmaResult& dma);

}  // namespace hca::report
