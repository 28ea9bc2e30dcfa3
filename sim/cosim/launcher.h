// Runs verbs programs on simulated adapters.
#pragma once

#include "sim/options/cosim_request.h"

namespace hca::cosim {

/// Starts the programs of `request` with the preload library and a simulation, and waits for them. Returns the status
/// with which hcasim ends.
int launch(const options::CosimRequest& request);

/// Runs a simulation for programs that come and go, until a signal asks it to end.
int serve(const options::ServeRequest& request);

/// Becomes the program of `request`, or prints what it would find in its environment; returns only then, or if there is
/// no such simulation or program.
int drill(const options::DrillRequest& request);
int attach(const options::AttachRequest& request);

}  // namespace hca::cosim
