// Numbers an adapter's objects densely, in the order in which they were first seen.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/ids.h"

namespace hca::observers {

/// Maps (host, adapter, object number) to 0, 1, 2, ...; two array accesses, so that it may stand on the data path.
/// Object numbers have 24 bits and adapters give small ones first.
class ObjectIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The number given before, or the next one.
  std::uint32_t add(HostIndex host, AdapterIndex adapter, std::uint32_t object) {
    std::vector<std::uint32_t>& slots = slotsOf(host, adapter);
    if (object >= slots.size()) slots.resize(object + 1, kNone);
    if (slots[object] == kNone) slots[object] = size_++;
    return slots[object];
  }
  /// kNone if it wasn't added.
  [[nodiscard]] std::uint32_t find(HostIndex host, AdapterIndex adapter, std::uint32_t object) const {
    if (host.value() >= hosts_.size() || adapter.value() >= hosts_[host.value()].size()) return kNone;
    const std::vector<std::uint32_t>& slots = hosts_[host.value()][adapter.value()];
    return object < slots.size() ? slots[object] : kNone;
  }
  [[nodiscard]] std::uint32_t size() const { return size_; }

 private:
  std::vector<std::uint32_t>& slotsOf(HostIndex host, AdapterIndex adapter) {
    if (host.value() >= hosts_.size()) hosts_.resize(host.value() + 1);
    auto& adapters = hosts_[host.value()];
    if (adapter.value() >= adapters.size()) adapters.resize(adapter.value() + 1);
    return adapters[adapter.value()];
  }

  std::vector<std::vector<std::vector<std::uint32_t>>> hosts_;
  std::uint32_t size_ = 0;
};

}  // namespace hca::observers
