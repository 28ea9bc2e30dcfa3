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
  nodeDescription.fill(0);
  const std::size_t length = std::min(identity.nodeDescription.size(), nodeDescription.size());
  std::copy_n(identity.nodeDescription.begin(), length, nodeDescription.begin());
}

void CommandDevice::destroyObjects() {
  if (onTeardown) onTeardown();
  targets.mkeys.reset();
  targets.deviceMemory.reset();
  targets.pds.reset();
  targets.uars.reset();
  xrcds.reset();
  transportDomains.reset();
  ethernet.reset();
  pages.setInUse(false);
}

}  // namespace hca::adapter
