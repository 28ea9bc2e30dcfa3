// Which queue pairs of an adapter belong to which multicast group.
#pragma once

#include <cstdint>
#include <vector>

#include "models/adapter/command/command_result.h"
#include "models/base/ids.h"
#include "models/network/packet.h"

namespace hca::adapter {

/// Groups by GID, their members in the order in which they were attached.
class MulticastGroups {
 public:
  static constexpr std::uint32_t kLogMaxGroups = 21;
  static constexpr std::uint32_t kMaxMembers = 240;

  /// A member already is one once (as ConnectX-3's public driver has it: drivers/net/ethernet/mellanox/mlx4/mcg.c).
  CommandResult attach(QpNumber qp, const network::Gid& group);
  CommandResult detach(QpNumber qp, const network::Gid& group);
  /// The queue pair is gone.
  void forget(QpNumber qp);
  void clear() { groups_.clear(); }

  /// nullptr: none.
  [[nodiscard]] const std::vector<QpNumber>* members(const network::Gid& group) const;

 private:
  struct Group {
    network::Gid gid;
    std::vector<QpNumber> members;
  };
  [[nodiscard]] std::vector<Group>::const_iterator place(const network::Gid& group) const;

  std::vector<Group> groups_;  // by GID; none is empty
};

}  // namespace hca::adapter
