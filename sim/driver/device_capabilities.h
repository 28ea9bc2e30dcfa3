// What the driver learned of its adapter.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/network/packet.h"
#include "sim/driver/queue_sizes.h"

namespace hca::driver {

/// One port of the adapter, from QUERY_HCA_VPORT_CONTEXT and QUERY_HCA_VPORT_GID.
struct DevicePort {
  bool active = false;
  Lid lid;
  std::uint64_t guid = 0;
  std::vector<network::Gid> gids;            ///< by index, up to the last in use
  std::vector<std::uint16_t> partitionKeys;  ///< by index; empty until the port's first table has changed
  std::uint8_t gidIndex = 0;                 ///< of the one by which peers reach the port
  [[nodiscard]] const network::Gid& gid() const { return gids[gidIndex]; }
};

/// Memory inside the adapter (MEMIC); all zero without it.
struct DeviceMemoryLimits {
  std::uint64_t start = 0;          ///< offset in BAR0
  std::uint32_t size = 0;           ///< bytes
  std::uint32_t maxAllocation = 0;  ///< bytes
  unsigned logMaxAlignment = 0;     ///< of 64 bytes
};

/// From QUERY_HCA_CAP of the Ethernet set, where ports are Ethernet.
struct RawPacketCapabilities {
  bool offered = false;
  bool checksums = false;   ///< checked in what is received, inserted into what is sent
  bool vlanStrip = false;   ///< tags go from frames to completions
  bool scatterFcs = false;  ///< the frame check sequence can stay
  std::uint32_t logMaxSpread = 0;
};

/// From QUERY_HCA_CAP (current values) and, for the ports, QUERY_HCA_VPORT_CONTEXT and QUERY_HCA_VPORT_GID.
struct DeviceCapabilities {
  std::uint16_t vendorId = 0;
  std::uint16_t deviceId = 0;
  QueueLimits limits;
  std::uint32_t blueFlameRegisterSize = 512;  ///< bytes of both halves; 0: no BlueFlame
  bool uc = false;
  bool ud = false;
  bool xrc = false;
  bool dynamicConnections = false;
  std::uint8_t logTagList = 0;  ///< places of a tag-matching queue's list; 0: there are no such queues
  bool striding = false;        ///< receive queues of raw packets may have strides
  bool rendezvous = false;      ///< the adapter fetches the data of rendezvous requests that match a tag
  bool ignoreOverrun = false;
  bool moderation = false;
  bool resize = false;               ///< of completion queues
  bool realTimeStamps = false;       ///< in completion entries
  bool compression = false;          ///< of completion entries of 64 bytes
  bool wideCompression = false;      ///< of those of 128 bytes, too
  std::uint32_t compressionMax = 0;  ///< completions of a compressed session
  bool enhancedCompression = false;
  bool miniStrideIndex = false;  ///< compressed entries can hold a stride index
  bool inlineScatter = false;    ///< small responses in completion entries
  bool wideEntries = true;       ///< 128-byte completion entries
  DeviceMemoryLimits deviceMemory;
  Hertz clock{};      ///< of time stamps
  bool roce = false;  ///< its ports are of Ethernet
  RawPacketCapabilities ethernet;
  std::uint64_t nodeGuid = 0;
  std::uint64_t systemImageGuid = 0;
  std::vector<DevicePort> ports;
  /// Port `number`, counted from 1.
  [[nodiscard]] const DevicePort& port(std::uint8_t number) const { return ports[number - 1U]; }
};

}  // namespace hca::driver
