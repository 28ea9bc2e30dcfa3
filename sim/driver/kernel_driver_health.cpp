// When the device fails.
#include <cstdint>
#include <utility>

#include "models/wire/eqe.h"
#include "sim/driver/kernel_driver.h"

namespace hca::driver {

void KernelDriver::keepWatch() {
  life_.keepWatch();
  if (life_.completionVectors() != 0 && !hasFailed_) health_.wake();
}

// Once: an event may say so, or a look at the device's health.
void KernelDriver::onFatal() {
  if (std::exchange(hasFailed_, true)) return;
  giveDrainsUp();
  if (life_.commands() != nullptr) life_.commands()->giveUpAll();
  for (DriverClient* client : owners_.clients()) {
    client->onAsyncEvent(static_cast<std::uint8_t>(wire::EventType::kInternalError), 0, 0, 0);
  }
}

}  // namespace hca::driver
