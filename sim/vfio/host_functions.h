// The functions of one host, for whoever may have them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/system/host_node.h"
#include "sim/vfio/passthrough_function.h"

namespace hca::vfio {

/// The adapters of a host that are handed out, by number.
class HostFunctions {
 public:
  explicit HostFunctions(sim::HostNode& host) : host_(host) {
    for (std::uint32_t number = 0; number < host.adapters(); ++number) {
      functions_.push_back(std::make_unique<PassthroughFunction>(host.adapter(number).environment().function));
    }
  }

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(functions_.size()); }
  [[nodiscard]] PassthroughFunction& function(std::uint32_t number) { return *functions_[number]; }
  /// What DMA of a function reaches; nullptr: nothing.
  void attach(std::uint32_t number, host::BusAddressSpace* space) { host_.adapter(number).attach(space); }

 private:
  sim::HostNode& host_;
  std::vector<std::unique_ptr<PassthroughFunction>> functions_;
};

}  // namespace hca::vfio
