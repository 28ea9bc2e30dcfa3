#include "sim/cosim/open_device.h"

#include <algorithm>

namespace hca::cosim {

OpenDevice::OpenDevice(const UverbsFile::Surroundings& surroundings) : file_(surroundings, *this) {}

void OpenDevice::leave(EventListener& holder) {
  holders_.erase(std::remove(holders_.begin(), holders_.end(), &holder), holders_.end());
}

void OpenDevice::onEventReported(const std::string& text) {
  if (isHeld()) holders_.front()->onEventReported(text);
}

// Whose pipe it is in is more than is known here: a child may read from its parent's.
void OpenDevice::onEventReadable(host::Core* core) {
  for (EventListener* holder : holders_) holder->onEventReadable(core);
}

}  // namespace hca::cosim
