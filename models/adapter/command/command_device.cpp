#include "models/adapter/command/command_device.h"

#include <algorithm>

namespace hca::adapter {

void CommandDevice::powerOn() {
  state = DeviceState::kDisabled;
  interfaceRevision = 0;
  checksumMode = 0;
  currentLogMaxQp = capabilities.logMaxQp;
  cacheLine128 = false;
  hostEndianness = 0;
  driverVersion.clear();
  portCapabilities.assign(identity.ports.size(), 0);
  nodeDescription.fill(0);
  const std::size_t length = std::min(identity.nodeDescription.size(), nodeDescription.size());
  std::copy_n(identity.nodeDescription.begin(), length, nodeDescription.begin());
}

void CommandDevice::destroyObjects(GenerationEnd end) {
  const bool forgetsPages = end != GenerationEnd::kTeardown;
  account.end(end, forgetsPages ? pages.held() : 0);
  if (onTeardown) onTeardown();
  targets.mkeys.reset();
  targets.deviceMemory.reset();
  targets.pds.reset();
  targets.uars.reset();
  xrcds.reset();
  transportDomains.reset();
  umems.reset();
  ethernet.reset();
  pages.setInUse(false);
  if (forgetsPages) pages.reset();
}

}  // namespace hca::adapter
