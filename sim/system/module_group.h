// A SystemC module that only gives a name to what is built in it.
#pragma once

#include <systemc>

namespace hca::sim {

/// Modules that `build` makes are called NAME.*.
class ModuleGroup final : public sc_core::sc_module {
 public:
  template <class Build>
  ModuleGroup(const sc_core::sc_module_name& name, Build&& build) : sc_core::sc_module(name) {
    build();
  }
};

}  // namespace hca::sim
