// The unit of speed: what one activation of the SystemC kernel costs on this machine, now.
#pragma once

#include <systemc>

namespace hca::bench {

/// One SC_METHOD that re-arms itself with next_trigger(1 ns), with nothing else pending.
class Yardstick final : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Yardstick);
  explicit Yardstick(const sc_core::sc_module_name& name);

  /// Wall seconds of one activation, over `activations` of them. Runs the kernel.
  [[nodiscard]] double measure(std::uint64_t activations);

 private:
  void tick();

  sc_core::sc_event start_{"start"};
  std::uint64_t left_ = 0;
};

}  // namespace hca::bench
