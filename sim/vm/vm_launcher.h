// Runs commands in guests whose stock drivers use simulated adapters.
#pragma once

#include "sim/options/vm_request.h"

namespace hca::vm {

/// Starts the guests of `request` and a simulation, and waits for them. Returns the status with which hcasim ends.
int launch(const options::VmRequest& request);

}  // namespace hca::vm
