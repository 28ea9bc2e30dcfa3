#include "models/adapter/transport/multicast_groups.h"

#include <algorithm>

#include "models/network/packet_layout.h"

namespace hca::adapter {

std::vector<MulticastGroups::Group>::const_iterator MulticastGroups::place(const network::Gid& group) const {
  return std::lower_bound(groups_.begin(), groups_.end(), group,
                          [](const Group& each, const network::Gid& wanted) { return each.gid < wanted; });
}

const std::vector<QpNumber>* MulticastGroups::members(const network::Gid& group) const {
  const auto at = place(group);
  return at != groups_.end() && at->gid == group ? &at->members : nullptr;
}

CommandResult MulticastGroups::attach(QpNumber qp, const network::Gid& group) {
  if (!network::isMulticast(group)) return {CommandStatus::kBadParameter, Syndrome::kMulticastGidBad};
  const CommandResult full{CommandStatus::kExceedLimit, Syndrome::kMulticastLimit};
  auto at = groups_.begin() + (place(group) - groups_.begin());
  if (at == groups_.end() || at->gid != group) {
    if (groups_.size() == std::size_t{1} << kLogMaxGroups) return full;
    groups_.insert(at, Group{group, {qp}});
    return {};
  }
  if (std::find(at->members.begin(), at->members.end(), qp) != at->members.end()) return {};
  if (at->members.size() == kMaxMembers) return full;
  at->members.push_back(qp);
  return {};
}

CommandResult MulticastGroups::detach(QpNumber qp, const network::Gid& group) {
  const CommandResult stranger{CommandStatus::kBadParameter, Syndrome::kNotInMulticastGroup};
  const auto at = groups_.begin() + (place(group) - groups_.begin());
  if (at == groups_.end() || at->gid != group) return stranger;
  const auto member = std::find(at->members.begin(), at->members.end(), qp);
  if (member == at->members.end()) return stranger;
  at->members.erase(member);
  if (at->members.empty()) groups_.erase(at);
  return {};
}

void MulticastGroups::forget(QpNumber qp) {
  for (Group& group : groups_) {
    group.members.erase(std::remove(group.members.begin(), group.members.end(), qp), group.members.end());
  }
  groups_.erase(
      std::remove_if(groups_.begin(), groups_.end(), [](const Group& group) { return group.members.empty(); }),
      groups_.end());
}

}  // namespace hca::adapter
