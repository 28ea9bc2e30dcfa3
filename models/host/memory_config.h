// Section [memory]: where the bytes are that a device reads and writes.
#pragma once

#include <cstdint>
#include <utility>

#include "models/base/config_key.h"
#include "models/base/units.h"

namespace hca::host {

/// Of a buffer, as seen from the socket that the adapter is plugged into.
enum class MemoryNode : std::uint8_t { kLocal, kRemote };

struct MemoryConfig {
  MemoryNode node = MemoryNode::kLocal;
  Time remoteLatency = nanoseconds(100);
  Bytes cacheSize{0};
  std::int64_t cacheWays = 20;
  std::int64_t ddioWays = 2;
  Time dramLatency = nanoseconds(40);
  bool freshPayload = true;

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    key("node", self.node,
        "local: memory is at the adapter's socket; remote: at another one. A [dma.NAME] section has its own");
    key("remote_latency", self.remoteLatency, range(Time(0), microseconds(100)),
        "Of the way to another socket and back, beside the latencies of [pcie]");
    key("cache_size", self.cacheSize, range(Bytes(0), Bytes(std::int64_t{1} << 32)),
        "Last-level cache of a socket; 0B: not modelled, everything is as if it were there");
    key("cache_ways", self.cacheWays, range<std::int64_t>(1, 64), "Its ways");
    key("ddio_ways", self.ddioWays, range<std::int64_t>(0, 64),
        "Ways that writes of the adapter may take a new line in; 0: they go to memory (no direct data I/O)");
    key("dram_latency", self.dramLatency, range(Time(0), microseconds(100)),
        "What a read waits longer if a line of it isn't cached, and a write that goes to memory or has to write back "
        "the line whose place it takes");
    key("fresh_payload", self.freshPayload,
        "Software has just written what it sends, so that the adapter finds it in the cache; no: only what is still "
        "there from earlier accesses");
  }
};

}  // namespace hca::host

template <>
struct hca::config::EnumNames<hca::host::MemoryNode> {
  static constexpr std::pair<const char*, hca::host::MemoryNode> kNames[] = {
      {"local", hca::host::MemoryNode::kLocal}, {"remote", hca::host::MemoryNode::kRemote}};
};
