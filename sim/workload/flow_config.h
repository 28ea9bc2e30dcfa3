// Keys of a [flow.NAME] section.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "models/base/config_key.h"
#include "models/base/units.h"
#include "sim/driver/verbs_types.h"
#include "sim/workload/size_table.h"

namespace hca::sim {

enum class FlowKind : std::uint8_t { kLatency, kBandwidth, kArmRace };
enum class FlowVerb : std::uint8_t {
  kWrite,
  kWriteImmediate,
  kSend,
  kSendImmediate,
  kRead,
  kFetchAdd,
  kCompareSwap,
};
enum class FlowTransport : std::uint8_t { kRc, kUc, kUd, kXrc };

/// Whether requests are acknowledged and repeated.
constexpr bool isReliable(FlowTransport transport) {
  return transport == FlowTransport::kRc || transport == FlowTransport::kXrc;
}

/// Whether the message lands at an address that the client names.
constexpr bool isWrite(FlowVerb verb) { return verb == FlowVerb::kWrite || verb == FlowVerb::kWriteImmediate; }
constexpr bool isAtomic(FlowVerb verb) { return verb == FlowVerb::kFetchAdd || verb == FlowVerb::kCompareSwap; }
/// Whether the peer's adapter answers with data, without its software.
constexpr bool hasResponse(FlowVerb verb) { return verb == FlowVerb::kRead || isAtomic(verb); }
/// Whether a message takes a receive of the peer.
constexpr bool usesReceive(FlowVerb verb) { return verb != FlowVerb::kWrite && !hasResponse(verb); }

enum class EventOrder : std::uint8_t { kOff, kSafe, kUnsafe, kAdaptive, kTurns };
enum class ArrivalKind : std::uint8_t { kClosed, kFixed, kPoisson, kBurst };
enum class SizeDistribution : std::uint8_t { kFixed, kMix, kUniform, kLogNormal, kFile };

}  // namespace hca::sim

namespace hca::config {

template <>
struct EnumNames<sim::FlowKind> {
  static constexpr std::pair<const char*, sim::FlowKind> kNames[] = {{"latency", sim::FlowKind::kLatency},
                                                                     {"bandwidth", sim::FlowKind::kBandwidth},
                                                                     {"arm_race", sim::FlowKind::kArmRace}};
};
template <>
struct EnumNames<sim::FlowVerb> {
  static constexpr std::pair<const char*, sim::FlowVerb> kNames[] = {{"write", sim::FlowVerb::kWrite},
                                                                     {"write_with_imm", sim::FlowVerb::kWriteImmediate},
                                                                     {"send", sim::FlowVerb::kSend},
                                                                     {"send_with_imm", sim::FlowVerb::kSendImmediate},
                                                                     {"read", sim::FlowVerb::kRead},
                                                                     {"fetch_add", sim::FlowVerb::kFetchAdd},
                                                                     {"compare_swap", sim::FlowVerb::kCompareSwap}};
};
template <>
struct EnumNames<sim::FlowTransport> {
  static constexpr std::pair<const char*, sim::FlowTransport> kNames[] = {{"rc", sim::FlowTransport::kRc},
                                                                          {"uc", sim::FlowTransport::kUc},
                                                                          {"ud", sim::FlowTransport::kUd},
                                                                          {"xrc", sim::FlowTransport::kXrc}};
};
template <>
struct EnumNames<sim::EventOrder> {
  static constexpr std::pair<const char*, sim::EventOrder> kNames[] = {{"off", sim::EventOrder::kOff},
                                                                       {"safe", sim::EventOrder::kSafe},
                                                                       {"unsafe", sim::EventOrder::kUnsafe},
                                                                       {"adaptive", sim::EventOrder::kAdaptive},
                                                                       {"turns", sim::EventOrder::kTurns}};
};

template <>
struct EnumNames<sim::ArrivalKind> {
  static constexpr std::pair<const char*, sim::ArrivalKind> kNames[] = {{"closed", sim::ArrivalKind::kClosed},
                                                                        {"fixed", sim::ArrivalKind::kFixed},
                                                                        {"poisson", sim::ArrivalKind::kPoisson},
                                                                        {"burst", sim::ArrivalKind::kBurst}};
};
template <>
struct EnumNames<sim::SizeDistribution> {
  static constexpr std::pair<const char*, sim::SizeDistribution> kNames[] = {
      {"fixed", sim::SizeDistribution::kFixed},
      {"mix", sim::SizeDistribution::kMix},
      {"uniform", sim::SizeDistribution::kUniform},
      {"lognormal", sim::SizeDistribution::kLogNormal},
      {"file:NAME.csv", sim::SizeDistribution::kFile}};
};

template <>
struct EnumNames<driver::CompressionKind> {
  static constexpr std::pair<const char*, driver::CompressionKind> kNames[] = {
      {"none", driver::CompressionKind::kNone},
      {"basic", driver::CompressionKind::kBasic},
      {"enhanced", driver::CompressionKind::kEnhanced}};
};
template <>
struct EnumNames<adapter::MiniFormat> {
  static constexpr std::pair<const char*, adapter::MiniFormat> kNames[] = {
      {"hash", adapter::MiniFormat::kHash},
      {"checksum", adapter::MiniFormat::kChecksum},
      {"stride_index", adapter::MiniFormat::kChecksumStrideIndex}};
};
template <>
struct EnumNames<driver::ModerationKind> {
  static constexpr std::pair<const char*, driver::ModerationKind> kNames[] = {
      {"none", driver::ModerationKind::kNone},
      {"fixed", driver::ModerationKind::kFixed},
      {"rdma_dim", driver::ModerationKind::kRdmaDim}};
};

}  // namespace hca::config

namespace hca::sim {

/// One stream of messages between two hosts, in the words of perftest.
struct FlowConfig {
  FlowKind kind = FlowKind::kLatency;
  FlowVerb verb = FlowVerb::kWrite;
  std::string verb_mix;
  FlowTransport transport = FlowTransport::kRc;
  std::uint32_t client = 0;
  std::string clients;
  std::uint32_t server = 1;
  std::uint32_t client_core = 0;
  std::uint32_t server_core = 0;
  std::uint32_t client_adapter = 0;
  std::uint32_t server_adapter = 0;
  std::uint32_t client_port = 1;
  std::uint32_t server_port = 1;
  std::string after;
  Bytes size{2};
  config::WordOrFile<SizeDistribution> size_distribution = SizeDistribution::kFixed;
  SizeTable size_table;  ///< no key: what the file of size_distribution holds
  std::string size_mix;
  Bytes size_min{0};
  Bytes size_median{0};
  double size_sigma = 1;
  ArrivalKind arrival = ArrivalKind::kClosed;
  std::uint32_t rate = 0;
  std::uint32_t burst_size = 1;
  std::uint32_t qps = 1;
  std::uint32_t tx_depth = 128;
  std::uint32_t outs = 16;
  std::uint32_t rx_depth = 512;
  bool srq = false;
  std::uint32_t xrc_srqs = 1;
  std::uint32_t cq_mod = 1;
  std::uint32_t post_list = 1;
  Bytes inline_size{0};
  Bytes mtu{4096};
  std::uint32_t iters = 0;
  Time duration{};
  std::uint32_t warmup = 0;
  bool shared_cq = true;
  std::uint32_t cqe = 0;
  std::uint32_t comp_vector = 0;
  std::uint32_t resize_to = 0;
  std::uint32_t resize_after = 0;
  Bytes cqe_size{64};
  bool cqe_pad = false;
  bool scatter_to_cqe = false;
  driver::CompressionKind cqe_compression = driver::CompressionKind::kNone;
  adapter::MiniFormat mini_cqe = adapter::MiniFormat::kHash;
  bool ignore_overrun = false;
  driver::ModerationKind moderation = driver::ModerationKind::kFixed;
  std::uint32_t cq_count = 0;
  std::uint32_t cq_period = 0;
  EventOrder events = EventOrder::kOff;
  Time spin_time = microseconds(10);
  std::uint32_t turn = 1;
  bool solicited = false;
  std::uint32_t solicited_every = 1;
  Time gap{};
  Time pause{};
  std::uint32_t ack_timeout = 14;
  std::uint32_t retry_count = 7;
  std::uint32_t rnr_retry = 7;
  std::uint32_t min_rnr_timer = 12;
  Time published_latency{};

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    key("kind", self.kind,
        "latency: ping-pong, or one read or atomic after the other; bandwidth: a window of outstanding messages from "
        "client to server; arm_race: messages "
        "that "
        "land between the server's last empty poll and its arm");
    key("verb", self.verb, "What the client posts");
    key("verb_mix", self.verb_mix,
        "bandwidth: verbs with their weights, instead of verb, drawn for each message: \"write:70, read:20, send:10\"; "
        "atomics are of 8B, the others of size");
    key("transport", self.transport,
        "rc: reliable connection; uc: unreliable connection; ud: unreliable datagram, one packet a message; xrc: "
        "extended reliable connection, whose receives are in xrc_srqs shared queues of rx_depth each");
    key("client", self.client, range(0U, 1023U), "Host that starts");
    key("clients", self.clients,
        "Hosts that start, instead of client: \"1-8\" or \"1, 3, 5-7\". Each does the whole work of this section with "
        "a "
        "thread and queues of its own, also at the server, where the threads are on server_core and those behind it");
    key("server", self.server, range(0U, 1023U), "Host at the other end");
    key("client_core", self.client_core, range(0U, 1023U), "Core of the client's thread");
    key("server_core", self.server_core, range(0U, 1023U), "Core of the server's thread");
    key("client_adapter", self.client_adapter, range(0U, 7U), "Adapter of the client's host (perftest's -d)");
    key("server_adapter", self.server_adapter, range(0U, 7U), "Adapter of the server's host");
    key("client_port", self.client_port, range(1U, 2U), "Port of the client's adapter (perftest's -i)");
    key("server_port", self.server_port, range(1U, 2U), "Port of the server's adapter");
    key("after", self.after, "Flow that must have finished before this one starts (default: start at once)");
    key("size", self.size, range(Bytes(0), Bytes(std::int64_t{1} << 30)),
        "Message size; with another size_distribution, the longest");
    key("size_distribution", self.size_distribution,
        "bandwidth: fixed: all of size; mix: as size_mix says; uniform: from size_min to size; lognormal: of median "
        "size_median, cut off at size_min and size; file:NAME.csv: lines \"size,weight\", or below the heading "
        "size,cdf "
        "the share of messages up to each size; its path is relative to this config");
    key("size_mix", self.size_mix, "Sizes with their weights: \"64B:90, 4KiB:10\"");
    key("size_min", self.size_min, range(Bytes(0), Bytes(std::int64_t{1} << 30)),
        "uniform and lognormal: shortest message");
    key("size_median", self.size_median, range(Bytes(0), Bytes(std::int64_t{1} << 30)),
        "lognormal: half of the messages are shorter");
    key("size_sigma", self.size_sigma, range(0.0, 10.0), "lognormal: deviation of the logarithm");
    key("arrival", self.arrival,
        "bandwidth: closed: post when there is room; the others post at their own time whatever became of earlier "
        "messages, and latency counts from that time: fixed: at equal distances; poisson: at random; burst: burst_size "
        "at a time, at equal distances");
    key("rate", self.rate, range(0U, 2'000'000'000U), "Messages a second, of all queue pairs together, unless closed");
    key("burst_size", self.burst_size, range(1U, 1U << 20), "burst: messages that are due at the same time");
    key("qps", self.qps, range(1U, 65536U), "Queue pairs");
    key("tx_depth", self.tx_depth, range(1U, 32768U), "Requests outstanding in each send queue");
    key("outs", self.outs, range(1U, 128U),
        "Reads and atomics outstanding at the peer, a queue pair; rounded up to a power of two");
    key("rx_depth", self.rx_depth, range(1U, 32768U), "Receives posted in each receive queue");
    key("srq", self.srq, "bandwidth: the server's queue pairs take their receives from one shared queue of rx_depth");
    key("xrc_srqs", self.xrc_srqs, range(1U, 4096U),
        "xrc: shared queues of the side that receives; all queue pairs reach each, message by message in turn");
    key("cq_mod", self.cq_mod, range(1U, 32768U), "Every how many requests one is signaled");
    key("post_list", self.post_list, range(1U, 32768U), "Requests handed over in one post call");
    key("inline_size", self.inline_size, range(Bytes(0), Bytes(1024)),
        "Messages up to this size are copied into the request");
    key("mtu", self.mtu, range(Bytes(256), Bytes(4096)), "Path MTU: 256B, 512B, 1024B, 2048B or 4096B");
    key("iters", self.iters, range(0U, 2'000'000'000U),
        "Messages measured, a queue pair (0: as long as duration says)");
    key("duration", self.duration, range(Time(0), milliseconds(3'600'000)), "Span measured, instead of iters");
    key("warmup", self.warmup, range(0U, 2'000'000'000U), "Messages before the measurement, a queue pair");
    key("shared_cq", self.shared_cq, "All queue pairs of a side complete into one queue");
    key("cqe", self.cqe, range(0U, 1U << 24), "Depth asked of each completion queue (0: what the depths need)");
    key("resize_to", self.resize_to, range(0U, 1U << 24),
        "bandwidth: depth that each side resizes its completion queues to (0: never)");
    key("resize_after", self.resize_after, range(0U, 2'000'000'000U),
        "bandwidth: completions that a side takes before it resizes");
    key("comp_vector", self.comp_vector, range(0U, 2047U), "Completion vector of the queues");
    key("cqe_size", self.cqe_size, range(Bytes(32), Bytes(128)),
        "Size of a completion entry: 64B or 128B, or 32B with adapter.completion.cqe_32");
    key("cqe_pad", self.cqe_pad,
        "cqe_size = 128B: the adapter writes each entry whole, in one piece that fills lines of 128B, instead of the "
        "64B "
        "that carry something");
    key("scatter_to_cqe", self.scatter_to_cqe,
        "Receives, and signaled reads and atomics, of up to 32B (64B where entries have 128B) come in their completion "
        "entry; the program copies them from there");
    key("cqe_compression", self.cqe_compression,
        "Completions that are alike are written together, as entries of 8B in blocks. none; basic: behind a title of "
        "64B "
        "that makes the block valid; enhanced: up to seven in a block, behind a title that is a completion itself");
    key("mini_cqe", self.mini_cqe,
        "What a receive's compressed entry holds beside its length. hash: the packet's hash; checksum: its checksum; "
        "stride_index: checksum and the receive's number, so that those of a shared queue can be compressed");
    key("ignore_overrun", self.ignore_overrun, "Create the queues with ignore-overrun");
    key("moderation", self.moderation,
        "none: an event for every arm; fixed: by cq_count and cq_period; rdma_dim: the Linux kernel's dynamic policy");
    key("cq_count", self.cq_count, range(0U, 65535U), "Fixed moderation: entries an event");
    key("cq_period", self.cq_period, range(0U, 4095U), "Fixed moderation: microseconds until an event");
    key("events", self.events,
        "How a thread waits for completions. off: polls; safe: arm, poll once more, sleep; unsafe: poll until empty, "
        "arm, sleep (loses wake-ups where the specification allows it); adaptive: polls for spin_time, then as safe; "
        "turns: polls for turn waits, then as safe for as many, and again");
    key("spin_time", self.spin_time, range(picoseconds(1), milliseconds(1000)),
        "adaptive: how long a thread polls in vain before it arms");
    key("turn", self.turn, range(1U, 2'000'000'000U), "turns: waits of the same kind, one after the other");
    key("solicited", self.solicited, "Messages ask for a solicited event and the server arms for these alone");
    key("solicited_every", self.solicited_every, range(1U, 32768U),
        "bandwidth: every how many messages, and with the last one, such an event is asked for");
    key("gap", self.gap, range(Time(0), milliseconds(1000)),
        "Computation of the waiting thread between its last empty poll and the arm");
    key("pause", self.pause, range(Time(0), milliseconds(1000)), "arm_race: time between two messages");
    key("ack_timeout", self.ack_timeout, range(0U, 31U), "Acknowledgement time-out: 4.096 us x 2^n (0: none)");
    key("retry_count", self.retry_count, range(0U, 7U), "Retries after a time-out");
    key("rnr_retry", self.rnr_retry, range(0U, 7U), "Retries after receiver not ready (7: for ever)");
    key("min_rnr_timer", self.min_rnr_timer, range(0U, 31U),
        "How long a sender that found no receive has to wait, as a code: 1 is 10 us, 12 is 640 us, 31 is 492 ms, 0 is "
        "655 ms");
    key("published_latency", self.published_latency, range(Time(0), milliseconds(1000)),
        "Figure measured on real hardware, shown beside the simulated median (0: none)");
  }
};

}  // namespace hca::sim
