// What the driver learned of its adapter.
#pragma once

#include <cstdint>

#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/network/packet.h"
#include "sim/driver/queue_sizes.h"

namespace hca::driver {

/// From QUERY_HCA_CAP (current values) and, for the port, QUERY_HCA_VPORT_CONTEXT and QUERY_HCA_VPORT_GID.
struct DeviceCapabilities {
  std::uint16_t vendorId = 0;
  std::uint16_t deviceId = 0;
  QueueLimits limits;
  std::uint32_t blueFlameRegisterSize = 512;  ///< bytes of both halves; 0: no BlueFlame
  bool uc = false;
  bool ud = false;
  bool xrc = false;
  bool ignoreOverrun = false;
  bool moderation = false;
  bool resize = false;      ///< of completion queues
  bool wideEntries = true;  ///< 128-byte completion entries
  Hertz clock{};            ///< of time stamps
  Lid lid;                  ///< of port 1
  bool roce = false;        ///< its ports are of Ethernet
  network::Gid gid{};       ///< RoCE: of port 1, by which its peers reach it
  std::uint8_t gidIndex = 0;
};

}  // namespace hca::driver
