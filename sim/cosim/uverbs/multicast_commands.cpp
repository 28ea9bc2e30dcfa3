// Multicast groups of datagram queue pairs.
#include <cstring>

#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"

namespace hca::cosim {

void attachMulticast(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_attach_mcast>();
  const auto qp = context.qps.find(in.qp_handle);
  constexpr std::uint8_t kMulticast = 0xFF, kDatagram = 4;  // ib_uverbs_qp_type
  if (qp == nullptr || qp->type != kDatagram || in.gid[0] != kMulticast) return call->finish(EINVAL);
  network::Gid group;
  std::memcpy(group.data(), in.gid, group.size());
  if (qp->groups.count(group) != 0) return call->finish(0);
  context.driver.attachMulticast(context.owner, qp->number, group,
                                 [call, qp, group](const driver::Answer<int>& answer) {
                                   if (answer.ok()) qp->groups.insert(group);
                                   call->finish(errnoOf(answer.result));
                                 });
}

void detachMulticast(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_detach_mcast>();
  const auto qp = context.qps.find(in.qp_handle);
  if (qp == nullptr) return call->finish(EINVAL);
  network::Gid group;
  std::memcpy(group.data(), in.gid, group.size());
  if (qp->groups.count(group) == 0) return call->finish(EINVAL);
  context.driver.detachMulticast(context.owner, qp->number, group,
                                 [call, qp, group](const driver::Answer<int>& answer) {
                                   if (answer.ok()) qp->groups.erase(group);
                                   call->finish(errnoOf(answer.result));
                                 });
}

}  // namespace hca::cosim
