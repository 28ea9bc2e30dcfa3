// The cores of one host.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "models/host/core.h"
#include "models/host/cpu_config.h"
#include "models/kernel/calendar.h"

namespace hca::host {

/// The cores, and what software on them costs. Cores stay where they are for the lifetime of the CPU.
class Cpu {
 public:
  Cpu(kernel::Calendar& calendar, const CpuConfig& config);

  [[nodiscard]] const CpuConfig& config() const { return config_; }
  [[nodiscard]] std::size_t cores() const { return cores_.size(); }
  /// Core `index` modulo the number of cores: threads, and interrupt vectors, are dealt to cores in turn.
  [[nodiscard]] Core& core(std::size_t index) { return *cores_[index % cores_.size()]; }

 private:
  CpuConfig config_;
  std::vector<std::unique_ptr<Core>> cores_;
};

}  // namespace hca::host
