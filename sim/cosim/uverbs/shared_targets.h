// XRC targets that several programs of one host have open.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/cosim/uverbs/user_objects.h"

namespace hca::cosim {

/// Every program's handle of each, by adapter and number, whoever made it; ibv_open_qp(3). What one sets, all see.
class SharedTargets {
 public:
  void add(std::uint32_t adapter, const std::shared_ptr<UserQp>& qp) { live(adapter, qp->number).push_back(qp); }
  /// Somebody's handle of it; null if there is none.
  [[nodiscard]] std::shared_ptr<UserQp> find(std::uint32_t adapter, QpNumber number) {
    const auto& handles = live(adapter, number);
    return handles.empty() ? nullptr : handles.front().lock();
  }
  [[nodiscard]] std::size_t handles(std::uint32_t adapter, QpNumber number) { return live(adapter, number).size(); }
  /// Takes over what was set through `changed`.
  void update(std::uint32_t adapter, const UserQp& changed) {
    for (const auto& each : live(adapter, changed.number)) {
      const auto qp = each.lock();
      qp->attributes = changed.attributes;
      qp->set = changed.set;
    }
  }

 private:
  using Handles = std::vector<std::weak_ptr<UserQp>>;

  /// Without those whose programs have gone.
  Handles& live(std::uint32_t adapter, QpNumber number) {
    Handles& all = targets_[{adapter, number}];
    all.erase(std::remove_if(all.begin(), all.end(), [](const auto& each) { return each.expired(); }), all.end());
    return all;
  }

  std::map<std::pair<std::uint32_t, QpNumber>, Handles> targets_;
};

}  // namespace hca::cosim
