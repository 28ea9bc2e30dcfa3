// The process's side of the channel to the simulation of its PCI functions.
#pragma once

#include "verbs_shim/channel/function_message.h"

namespace hca::shim {

/// Connects at the first call. Returns the answer's `error`: ENODEV where there is no simulation, EIO where there is
/// none any more. Any thread may call; signal handlers of the program's may run meanwhile.
int call(const channel::FunctionRequest& request, channel::FunctionReply& reply);

/// kSetVectors with its descriptors; those that are negative stand for none.
int setVectors(uint32_t function, uint32_t first, uint32_t count, const int32_t* descriptors);

}  // namespace hca::shim
