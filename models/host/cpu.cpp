#include "models/host/cpu.h"

namespace hca::host {

Cpu::Cpu(kernel::Calendar& calendar, const CpuConfig& config) : config_(config) {
  for (std::int64_t i = 0; i < config.cores; ++i) cores_.push_back(std::make_unique<Core>(calendar));
}

}  // namespace hca::host
