// Receive side scaling: the hash by which frames are spread over queues.
#pragma once

#include <array>
#include <cstdint>

#include "models/base/byte_view.h"
#include "models/network/ethernet_frame.h"

namespace hca::adapter {

/// The Toeplitz hash (Microsoft, "Introduction to Receive Side Scaling: RSS hashing types"): for every bit of `input`
/// that is set, the 32 bits of the key that begin there. `key` has at least four bytes more than `input`.
[[nodiscard]] std::uint32_t toeplitzHash(ByteView key, ByteView input);

/// What of a frame is hashed, and how. Codes: tirc (Linux include/linux/mlx5/mlx5_ifc.h, struct mlx5_ifc_tirc_bits and
/// rx_hash_field_select).
struct ReceiveHash {
  enum class Function : std::uint8_t { kNone = 0, kInvertedXor = 1, kToeplitz = 2 };
  /// Bits of `fields`.
  static constexpr std::uint32_t kSource = 1, kDestination = 2, kSourcePort = 4, kDestinationPort = 8;
  static constexpr std::uint32_t kAddresses = kSource | kDestination;
  static constexpr std::uint32_t kPorts = kSourcePort | kDestinationPort;
  static constexpr std::size_t kKeySize = 40;

  Function function = Function::kNone;
  bool symmetric = false;  ///< both directions of a connection give the same value, if both ends are hashed
  bool ipv6 = false;       ///< of frames of this network protocol; others are spread by the value 0
  bool udp = false;        ///< with ports: of this transport protocol; likewise
  std::uint32_t fields = 0;
  std::array<std::uint8_t, kKeySize> key{};

  struct Result {
    std::uint32_t value = 0;
    /// cqe_rss_hash_type: [3:2] 1 IPv4, 2 IPv6; [7:6] 1 TCP, 2 UDP; 0: nothing was hashed.
    std::uint8_t type = 0;
  };
  [[nodiscard]] Result of(const network::EthernetFrame& frame) const;
};

}  // namespace hca::adapter
