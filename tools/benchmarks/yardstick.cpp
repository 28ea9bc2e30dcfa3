#include "tools/benchmarks/yardstick.h"

#include <chrono>

namespace hca::bench {

Yardstick::Yardstick(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
  SC_METHOD(tick);
  sensitive << start_;
  dont_initialize();
}

void Yardstick::tick() {
  if (left_ == 0) return;
  --left_;
  next_trigger(1, sc_core::SC_NS);
}

double Yardstick::measure(std::uint64_t activations) {
  left_ = activations;
  start_.notify(sc_core::SC_ZERO_TIME);
  const auto begin = std::chrono::steady_clock::now();
  sc_core::sc_start();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  return wall.count() / static_cast<double>(activations);
}

}  // namespace hca::bench
