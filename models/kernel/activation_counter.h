// Counts every entry into a SystemC process.
#pragma once

#include <cstdint>

namespace hca::kernel {

/// Each SystemC process of hcasim calls `countActivation()` first thing: the one place where activations are counted.
/// One simulation a process, so a process-wide number is one simulation's number.
void countActivation();
[[nodiscard]] std::uint64_t activations();

}  // namespace hca::kernel
