// Objects by the handles under which a program knows them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace hca::cosim {

/// Handles count up and are not given out again, so that a stale one never names another object.
template <class Object>
class HandleTable {
 public:
  std::uint32_t add(std::shared_ptr<Object> object) {
    objects_.emplace(++last_, std::move(object));
    return last_;
  }
  /// nullptr if there is none.
  [[nodiscard]] std::shared_ptr<Object> find(std::uint64_t handle) const {
    const auto at = objects_.find(static_cast<std::uint32_t>(handle));
    return at == objects_.end() || handle > UINT32_MAX ? nullptr : at->second;
  }
  void remove(std::uint32_t handle) { objects_.erase(handle); }
  [[nodiscard]] const std::map<std::uint32_t, std::shared_ptr<Object>>& all() const { return objects_; }
  void clear() { objects_.clear(); }

 private:
  std::map<std::uint32_t, std::shared_ptr<Object>> objects_;
  std::uint32_t last_ = 0;
};

}  // namespace hca::cosim
