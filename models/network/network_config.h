// Section [link]: what connects the ports.
#pragma once

#include <cstdint>
#include <utility>

#include "models/base/config_key.h"
#include "models/base/units.h"
#include "models/network/packet.h"

namespace hca::network {

struct NetworkConfig {
  LinkLayer layer = LinkLayer::kInfiniBand;
  BitsPerSecond rate{100'000'000'000};
  Time propagation = nanoseconds(10);
  Time receiveLatency = nanoseconds(50);
  Bytes mtu{4096};
  std::uint32_t lmc = 0;

  template <class Self, class Key>
  static void describe(Self& self, Key&& key) {
    using config::range;
    key("layer", self.layer, "Which headers and addresses packets have");
    key("rate", self.rate, range(BitsPerSecond(1'000'000'000), BitsPerSecond(1'600'000'000'000)),
        "Data rate of one direction, the line code taken off");
    key("propagation", self.propagation, range(Time(0), milliseconds(100)),
        "From the first bit at one end to the first bit at the other: about 5ns a metre");
    key("receive_latency", self.receiveLatency, range(Time(0), microseconds(100)),
        "From the last bit of a packet to the transport: physical layer, CRC checks");
    key("mtu", self.mtu, range(Bytes(256), Bytes(4096)),
        "Most payload of one packet that the port can carry: 256, 512, 1024, 2048 or 4096 bytes");
    key("lmc", self.lmc, range(0U, 7U),
        "LID mask control of InfiniBand ports: each answers to 2^lmc LIDs, which path bits choose from");
  }
};

/// Whether the InfiniBand Architecture has this maximum transfer unit (volume 1, section 7.7.8).
[[nodiscard]] constexpr bool isMtu(Bytes size) {
  const std::int64_t n = size.count();
  return n >= 256 && n <= 4096 && (n & (n - 1)) == 0;
}

}  // namespace hca::network

template <>
struct hca::config::EnumNames<hca::network::LinkLayer> {
  static constexpr std::pair<const char*, hca::network::LinkLayer> kNames[] = {
      {"infiniband", hca::network::LinkLayer::kInfiniBand}, {"roce_v2", hca::network::LinkLayer::kRoceV2}};
};
