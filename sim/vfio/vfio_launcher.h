// Runs programs that bring their own driver.
#pragma once

#include "sim/options/cosim_request.h"

namespace hca::vfio {

/// Starts the programs of `request` with the preload library beside a simulation of the adapters, and waits for them.
/// Returns the status with which hcasim ends.
int launch(const options::VfioRequest& request);

}  // namespace hca::vfio
