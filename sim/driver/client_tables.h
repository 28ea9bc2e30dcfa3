// A client's objects by handle.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace hca::driver {

/// 0 for 0 and 1.
constexpr unsigned logOf(std::uint64_t powerOfTwo) {
  unsigned log = 0;
  while ((std::uint64_t{1} << log) < powerOfTwo) ++log;
  return log;
}

/// A new handle, with nothing behind it yet.
template <class Object, class Handle>
Handle handOut(std::vector<std::unique_ptr<Object>>& table) {
  table.emplace_back();
  return Handle(static_cast<std::uint32_t>(table.size() - 1));
}

/// Null for a handle that was never given or whose object is gone.
template <class Object, class Handle>
Object* find(const std::vector<std::unique_ptr<Object>>& table, Handle handle) {
  return handle.value() < table.size() ? table[handle.value()].get() : nullptr;
}

}  // namespace hca::driver
