// Runs verbs programs on simulated adapters.
#pragma once

#include "sim/options/cosim_request.h"

namespace hca::cosim {

/// Starts the programs of `request` with the preload library and a simulation, and waits for them. Returns the status
/// with which hcasim ends.
int launch(const options::CosimRequest& request);

}  // namespace hca::cosim
