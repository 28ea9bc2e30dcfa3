// Keys of a [dma.NAME] section.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "models/base/config_key.h"
#include "models/base/units.h"
#include "models/host/memory_config.h"

namespace hca::sim {

enum class DmaOperation : std::uint8_t { kRead, kWrite, kWriteThenRead };
enum class DmaPattern : std::uint8_t { kSequential, kRandom };
enum class CacheState : std::uint8_t { kAsIs, kWarm, kCold };

/// One stream of accesses that a device makes to a buffer of its host on its own account, in the words of pcie-bench
/// (Neugebauer et al., SIGCOMM 2018).
struct DmaConfig {
  DmaOperation operation = DmaOperation::kRead;
  std::uint32_t host = 0;
  std::uint32_t adapter = 0;
  std::string after;
  Bytes size{64};
  Bytes window{8192};
  Bytes stride{0};
  Bytes offset{0};
  DmaPattern pattern = DmaPattern::kSequential;
  CacheState cache = CacheState::kAsIs;
  host::MemoryNode node = host::MemoryNode::kLocal;
  std::uint32_t inFlight = 1;
  Time issueInterval{};
  BitsPerSecond deviceBandwidth{0};
  std::uint32_t iters = 0;
  std::uint32_t warmup = 0;
  Time publishedLatency{};

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    key("operation", self.operation,
        "read; write; write_then_read: a write and at once a read of the same bytes, which has to wait for it");
    key("host", self.host, range(0U, 1023U), "Host whose adapter accesses its memory");
    key("adapter", self.adapter, range(0U, 7U), "Adapter of that host");
    key("after", self.after, "[dma] section that must have finished before this one starts (default: start at once)");
    key("size", self.size, range(Bytes(1), Bytes(1 << 20)), "Bytes of one access");
    key("window", self.window, range(Bytes(1), Bytes(std::int64_t{1} << 32)), "Bytes of the buffer");
    key("stride", self.stride, range(Bytes(0), Bytes(std::int64_t{1} << 30)),
        "From the start of one access to that of the next; 0B: size, rounded up to a cache line of 64B");
    key("offset", self.offset, range(Bytes(0), Bytes(4095)), "From the start of a cache line to that of an access");
    key("pattern", self.pattern, "sequential: from the buffer's start to its end and again; random: any place of it");
    key("cache", self.cache,
        "Before the start: warm: software writes the whole buffer; cold: it is flushed from the cache; as_is: neither. "
        "Needs [memory] cache_size");
    key("node", self.node, "Where the buffer is, as seen from the adapter's socket");
    key("in_flight", self.inFlight, range(1U, 4096U), "Accesses that the device has under way at most");
    key("issue_interval", self.issueInterval, range(Time(0), milliseconds(1)),
        "Shortest time between the starts of two accesses");
    key("device_bandwidth", self.deviceBandwidth, range(BitsPerSecond(0), BitsPerSecond(100'000'000'000'000)),
        "At which the device takes what it read to its own memory, once all is there; 0bps: at once");
    key("iters", self.iters, range(0U, 2'000'000'000U), "Accesses measured");
    key("warmup", self.warmup, range(0U, 2'000'000'000U), "Accesses before these");
    key("published_latency", self.publishedLatency, range(Time(0), milliseconds(1000)),
        "Figure measured on real hardware, shown beside the simulated median (0: none)");
  }
};

constexpr const char* kDmaSection = "dma";
constexpr const char* kDmaDoc = "One stream of accesses of an adapter to its host's memory, without any queue pair";

/// From the start of one access to that of the next, bytes.
[[nodiscard]] constexpr std::uint64_t strideOf(const DmaConfig& config) {
  constexpr std::int64_t kLine = 64;
  if (config.stride.count() > 0) return static_cast<std::uint64_t>(config.stride.count());
  return static_cast<std::uint64_t>((config.size.count() + kLine - 1) / kLine * kLine);
}

/// How often an access fits into the window; 0: not once.
[[nodiscard]] constexpr std::uint64_t placesOf(const DmaConfig& config) {
  const std::int64_t needed = config.offset.count() + config.size.count();
  if (needed > config.window.count()) return 0;
  return static_cast<std::uint64_t>(config.window.count() - needed) / strideOf(config) + 1;
}

}  // namespace hca::sim

namespace hca::config {

template <>
struct EnumNames<sim::DmaOperation> {
  static constexpr std::pair<const char*, sim::DmaOperation> kNames[] = {
      {"read", sim::DmaOperation::kRead},
      {"write", sim::DmaOperation::kWrite},
      {"write_then_read", sim::DmaOperation::kWriteThenRead}};
};
template <>
struct EnumNames<sim::DmaPattern> {
  static constexpr std::pair<const char*, sim::DmaPattern> kNames[] = {{"sequential", sim::DmaPattern::kSequential},
                                                                       {"random", sim::DmaPattern::kRandom}};
};
template <>
struct EnumNames<sim::CacheState> {
  static constexpr std::pair<const char*, sim::CacheState> kNames[] = {
      {"as_is", sim::CacheState::kAsIs}, {"warm", sim::CacheState::kWarm}, {"cold", sim::CacheState::kCold}};
};

}  // namespace hca::config
