#include "models/kernel/activation_counter.h"

namespace hca::kernel {

namespace {
std::uint64_t count = 0;
}

void countActivation() { ++count; }
std::uint64_t activations() { return count; }

}  // namespace hca::kernel
