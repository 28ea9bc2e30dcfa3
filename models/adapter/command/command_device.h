// The state that commands act on.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/adapter/command/adapter_identity.h"
#include "models/adapter/command/command_config.h"
#include "models/adapter/command/ethernet_objects.h"
#include "models/adapter/command/object_account.h"
#include "models/adapter/command/page_account.h"
#include "models/adapter/completion/cq_directory.h"
#include "models/adapter/event/eq_directory.h"
#include "models/adapter/memory/mkey_table.h"
#include "models/adapter/memory/number_table.h"
#include "models/adapter/memory/umem_table.h"
#include "models/adapter/receive_queue/srq_directory.h"
#include "models/adapter/transport/port_violations.h"
#include "models/adapter/transport/qp_directory.h"
#include "models/base/units.h"

namespace hca::adapter {

/// Where a command acts; all outlive the command interface.
struct CommandTargets {
  PdTable& pds;
  UarTable& uars;
  MkeyTable& mkeys;
  EqDirectory& eqs;
  CqDirectory& cqs;
  QpDirectory& qps;
  SrqDirectory& srqs;
  DeviceMemory& deviceMemory;
};

/// How far the driver has brought the adapter up.
enum class DeviceState : std::uint8_t {
  kDisabled,     ///< after power-on and DISABLE_HCA: only ENABLE_HCA
  kEnabled,      ///< pages, capabilities, registers
  kInitialized,  ///< after INIT_HCA: objects
};

/// SystemC-free and without time: the handlers act at once.
struct CommandDevice {
  CommandDevice(const CommandConfig& configuration, AdapterIdentity identification, const AdapterCapabilities& offered,
                const CommandTargets& objects, Hertz timer)
      : config(configuration),
        identity(std::move(identification)),
        capabilities(offered),
        targets(objects),
        timerFrequency(timer),
        xrcds(1U << offered.logMaxXrcd),
        transportDomains(1U << offered.logMaxTransportDomain),
        pages(configuration.bootPages, configuration.initPages) {
    powerOn();
  }

  /// Every setting as after power-on; objects are not touched.
  void powerOn();
  /// Whether there are tag-matching queues. On InfiniBand alone: the library's command queue pair has no global route
  /// (rdma-core providers/mlx5/verbs.c, create_cmd_qp), so that on Ethernet nobody could use them.
  [[nodiscard]] bool matchesTags() const {
    return capabilities.logTagList != 0 && identity.linkLayer == network::LinkLayer::kInfiniBand;
  }
  /// Ends every object, tells `onTeardown` to end those of the directories, and lets the pages go: all of them, if it
  /// isn't TEARDOWN_HCA that ends them.
  void destroyObjects(GenerationEnd end);

  CommandConfig config;
  AdapterIdentity identity;
  AdapterCapabilities capabilities;
  CommandTargets targets;
  Hertz timerFrequency;
  XrcdTable xrcds;
  TransportDomainTable transportDomains;
  UmemTable umems{1U << 16};
  std::function<PortViolations(std::uint8_t port)> violations = [](std::uint8_t) { return PortViolations(); };
  EthernetObjects ethernet;
  PageAccount pages;
  ObjectAccount account;
  std::function<void()> onTeardown;

  DeviceState state = DeviceState::kDisabled;
  std::uint32_t interfaceRevision = 0;  ///< ISSI
  // Settable capabilities, as they are now.
  std::uint32_t checksumMode = 0;  ///< cmdif_checksum: 0 off, else entries and mailboxes are signed
  std::uint32_t currentLogMaxQp = 0;
  bool cacheLine128 = false;
  // Registers.
  std::array<std::uint8_t, 64> nodeDescription{};
  std::uint8_t hostEndianness = 0;
  std::string driverVersion;                    ///< what the driver calls itself
  std::vector<std::uint32_t> portCapabilities;  ///< bits of PortInfo's CapabilityMask that software set, by port - 1
};

}  // namespace hca::adapter
