// Who an adapter is and what it offers, as the command interface reports it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/base/ids.h"
#include "models/network/packet.h"

namespace hca::adapter {

/// One InfiniBand port. Codes: ACCESS_REG PTYS of the public Linux driver (models/wire/vport_context.h).
struct PortIdentity {
  std::uint64_t guid = 0;
  Lid lid;
  std::uint8_t lmc = 0;  ///< 2^lmc LIDs from there on
  Lid subnetManagerLid;
  bool active = true;
  std::uint32_t mtu = 4096;        ///< bytes, the most and the present one
  std::uint16_t widthCode = 4;     ///< bit: 1 = 1x, 4 = 4x, 16 = 12x
  std::uint16_t speedCode = 0x20;  ///< bit: 0x10 FDR, 0x20 EDR, 0x40 HDR, 0x80 NDR
  std::uint8_t virtualLanes = 4;   ///< code: 1 = VL0, 2 = VL0-1, 4 = VL0-3, 8 = VL0-7
  std::vector<network::Gid> gids;  ///< from index 0 on
  std::vector<std::uint16_t> pkeys{0xFFFF};
};

/// What distinguishes this adapter from its sisters.
struct AdapterIdentity {
  std::uint16_t firmwareMajor = 16;
  std::uint16_t firmwareMinor = 35;
  std::uint16_t firmwareSubminor = 1000;
  std::uint32_t hardwareId = 0x20D;
  std::uint16_t deviceId = 4119;  ///< as in configuration space
  std::uint64_t nodeGuid = 0;
  std::uint64_t systemImageGuid = 0;
  std::string boardId = "HCS0000000001";           ///< at most 16 characters
  std::string nodeDescription = "hcasim adapter";  ///< at most 64 characters, until the driver sets another
  network::LinkLayer linkLayer = network::LinkLayer::kInfiniBand;  ///< of all ports
  std::vector<PortIdentity> ports;                                 ///< port n is ports[n-1]
};

/// Limits and features, as QUERY_HCA_CAP reports them. The tables enforce theirs; these must not promise more.
struct AdapterCapabilities {
  std::uint32_t logMaxQp = 18;
  std::uint32_t logMaxQpSize = 15;
  std::uint32_t logMaxCq = 24;
  std::uint32_t logMaxCqSize = 22;
  std::uint32_t logMaxEqSize = 22;
  std::uint32_t maxEqs = 256;
  std::uint32_t logMaxMkey = 20;
  std::uint32_t logMaxPd = 16;
  std::uint32_t logMaxXrcd = 16;
  std::uint32_t logMaxTransportDomain = 8;
  std::uint32_t logMaxSrq = 16;      ///< of every kind together
  std::uint32_t logMaxSrqSize = 15;  ///< entries
  std::uint32_t logTagList = 7;      ///< places of a tag-matching queue's list; 0: there are no such queues
  std::uint32_t logMaxMessage = 30;
  std::uint32_t logMaxRequesterReads = 4;
  std::uint32_t logMaxResponderReads = 4;
  std::uint32_t logMaxMulticastGroups = 21;
  std::uint32_t maxMulticastQps = 240;    ///< of one group
  std::uint32_t maxSendWqeSize = 1024;    ///< bytes
  std::uint32_t maxReceiveWqeSize = 512;  ///< bytes
  std::uint32_t gidTableCode = 0;         ///< 8 << n entries
  std::uint32_t pkeyTableCode = 0;        ///< 128 << n entries
  std::uint32_t localAckDelay = 16;       ///< 4.096 us * 2^n
  bool rc = true;
  bool uc = false;
  bool ud = false;
  bool xrc = false;
  bool dynamicConnections = false;
  bool ignoreOverrun = true;
  bool moderation = true;
  bool wideCqe = true;                   ///< 128-byte entries always possible
  std::uint32_t compressionMax = 0;      ///< completions of a compressed session; 0: none
  std::uint32_t compressionTimeout = 0;  ///< nanoseconds; the unit of the public field is not known
  bool enhancedCompression = false;
  bool realTimeStamps = false;  ///< beside those of the free-running clock
  bool inlineScatter = true;    ///< small responses in the completion entry
  bool relaxedOrdering = true;
  bool registersByRequest = false;  ///< UMRs may change a key's page size: drivers register memory by them
  bool memoryWindows = true;        ///< bound by requests
};

}  // namespace hca::adapter
