// Section [pcie]: the link between an adapter and its host, and what stands at its two ends.
#pragma once

#include <cstdint>
#include <utility>

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::pcie {

/// Lanes of a link.
enum class LinkWidth : std::uint8_t { kX1 = 1, kX2 = 2, kX4 = 4, kX8 = 8, kX12 = 12, kX16 = 16 };

/// Flow-control credits that one receiver advertises at initialisation, by class of TLP; 0 = infinite. A header credit
/// is one TLP, a data credit 16 bytes (PCI Express Base Specification, 2.6.1).
struct CreditLimits {
  std::int64_t postedHeaders = 0;
  std::int64_t postedData = 0;
  std::int64_t nonPostedHeaders = 0;
  std::int64_t nonPostedData = 0;
  std::int64_t completionHeaders = 0;
  std::int64_t completionData = 0;
};

struct PcieConfig {
  std::int64_t generation = 3;
  LinkWidth width = LinkWidth::kX16;
  Bytes maxPayload{256};
  Bytes maxReadRequest{512};
  Bytes readCompletionBoundary{64};
  std::int64_t tags = 256;
  bool ecrc = false;
  Bytes ackInterval{0};
  Bytes flowControlInterval{0};
  Time propagation = nanoseconds(5);
  Time endpointLatency = nanoseconds(75);
  Time rootComplexLatency = nanoseconds(75);
  Time readLatency = nanoseconds(235);
  Time writeLatency = nanoseconds(200);
  BitsPerSecond hostReadBandwidth{0};
  CreditLimits upstreamCredits;
  CreditLimits downstreamCredits;
  Time creditReturnLatency = nanoseconds(100);

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    key("generation", self.generation, range<std::int64_t>(1, 6),
        "PCI Express generation: 2.5, 5, 8, 16, 32 or 64 GT/s a lane");
    key("width", self.width, "Lanes");
    key("mps", self.maxPayload, range(Bytes(128), Bytes(4096)),
        "Most payload of one write or completion TLP: a power of two");
    key("mrrs", self.maxReadRequest, range(Bytes(128), Bytes(4096)),
        "Most bytes that one read request TLP asks for: a power of two");
    key("rcb", self.readCompletionBoundary, range(Bytes(64), Bytes(128)),
        "Read completion boundary: completions are cut at multiples of 64B or 128B");
    key("tags", self.tags, range<std::int64_t>(1, 1024), "Read requests that the adapter may have outstanding");
    key("ecrc", self.ecrc, "Each TLP carries an end-to-end CRC of 4 bytes");
    key("ack_interval", self.ackInterval, range(Bytes(0), Bytes(65536)),
        "Bytes of TLPs for each ACK DLLP on the same lanes; 0B: as the PCI Express tables give for rate, width and "
        "mps");
    key("flow_control_interval", self.flowControlInterval, range(Bytes(0), Bytes(65536)),
        "Bytes of TLPs for each flow-control DLLP on the same lanes; 0B: same as for ACK");
    key("propagation", self.propagation, range(Time(0), microseconds(100)),
        "From the last bit at one end of the lanes to the last bit at the other");
    key("endpoint_latency", self.endpointLatency, range(Time(0), microseconds(100)),
        "Of the adapter's port, each TLP, either direction");
    key("root_complex_latency", self.rootComplexLatency, range(Time(0), microseconds(100)),
        "Of the host's port, each TLP, either direction");
    key("read_latency", self.readLatency, range(Time(0), microseconds(100)),
        "From a read request in the root complex until its data is there");
    key("write_latency", self.writeLatency, range(Time(0), microseconds(100)),
        "From a write in the root complex until every core and every later read sees it");
    key("host_read_bandwidth", self.hostReadBandwidth, range(BitsPerSecond(0), BitsPerSecond(100'000'000'000'000)),
        "Of host memory towards this adapter; 0bps: no limit");
    describeCredits(self.upstreamCredits, self.downstreamCredits, key);
    key("credit_return_latency", self.creditReturnLatency, range(Time(0), microseconds(100)),
        "From a TLP that its receiver has processed until the sender may use its credits again");
  }

 private:
  static constexpr std::int64_t kMostHeaders = 4096;
  static constexpr std::int64_t kMostData = 65536;

  template <class Limits, class Key>
  static void describeCredits(Limits& upstream, Limits& downstream, Key&& key) {
    const auto headers = config::range<std::int64_t>(0, kMostHeaders);
    const auto data = config::range<std::int64_t>(0, kMostData);
    key("upstream_posted_headers", upstream.postedHeaders, headers,
        "Credits of the host for writes and interrupt messages: TLPs; 0: infinite");
    key("upstream_posted_data", upstream.postedData, data, "The same: units of 16 bytes; 0: infinite");
    key("upstream_nonposted_headers", upstream.nonPostedHeaders, headers,
        "Credits of the host for read requests: TLPs; 0: infinite");
    key("upstream_nonposted_data", upstream.nonPostedData, data, "The same: units of 16 bytes; 0: infinite");
    key("upstream_completion_headers", upstream.completionHeaders, headers,
        "Credits of the host for completions of register reads: TLPs; 0: infinite");
    key("upstream_completion_data", upstream.completionData, data, "The same: units of 16 bytes; 0: infinite");
    key("downstream_posted_headers", downstream.postedHeaders, headers,
        "Credits of the adapter for register writes: TLPs; 0: infinite");
    key("downstream_posted_data", downstream.postedData, data, "The same: units of 16 bytes; 0: infinite");
    key("downstream_nonposted_headers", downstream.nonPostedHeaders, headers,
        "Credits of the adapter for register reads: TLPs; 0: infinite");
    key("downstream_nonposted_data", downstream.nonPostedData, data, "The same: units of 16 bytes; 0: infinite");
    key("downstream_completion_headers", downstream.completionHeaders, headers,
        "Credits of the adapter for completions of its reads: TLPs; 0: infinite");
    key("downstream_completion_data", downstream.completionData, data, "The same: units of 16 bytes; 0: infinite");
  }
};

/// Whether PCI Express can encode `size` as a maximum payload or read request (128 << n, up to 4096).
[[nodiscard]] constexpr bool isTlpSize(Bytes size) {
  const std::int64_t n = size.count();
  return n >= 128 && n <= 4096 && (n & (n - 1)) == 0;
}

/// Whether `size` is a read completion boundary.
[[nodiscard]] constexpr bool isCompletionBoundary(Bytes size) { return size == Bytes(64) || size == Bytes(128); }

}  // namespace hca::pcie

template <>
struct hca::config::EnumNames<hca::pcie::LinkWidth> {
  static constexpr std::pair<const char*, hca::pcie::LinkWidth> kNames[] = {
      {"x1", hca::pcie::LinkWidth::kX1}, {"x2", hca::pcie::LinkWidth::kX2},   {"x4", hca::pcie::LinkWidth::kX4},
      {"x8", hca::pcie::LinkWidth::kX8}, {"x12", hca::pcie::LinkWidth::kX12}, {"x16", hca::pcie::LinkWidth::kX16}};
};
