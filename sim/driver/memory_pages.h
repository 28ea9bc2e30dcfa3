// How a piece of registered memory is described to an adapter.
#pragma once

#include <cstdint>

#include "models/adapter/memory/mkey_attributes.h"

namespace hca::driver {

/// Sets start, length, page size and translation of `key`: requests name the memory by `start`, it lies at `bus`,
/// contiguous. The pages are the largest at which both agree, of at most 2^largest bytes, so that the translation is
/// short. Precondition: both have the same offset in a page of 4 KiB.
void setMemory(adapter::MkeyAttributes& key, std::uint64_t start, std::uint64_t length, BusAddress bus,
               unsigned largest);

}  // namespace hca::driver
