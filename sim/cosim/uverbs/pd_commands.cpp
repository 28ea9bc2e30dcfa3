// Protection domains and address handles.
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "models/network/fabric_identity.h"
#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"

namespace hca::cosim {

void allocatePd(UverbsContext& context, const Call& call) {
  context.driver.allocatePd(context.owner, [&context, call](const driver::Answer<PdNumber>& answer) {
    if (!answer.ok()) return call->finish(errnoOf(answer.result));
    auto pd = std::make_shared<UserPd>();
    pd->number = answer.value;
    ib_uverbs_alloc_pd_resp own{};
    own.pd_handle = context.pds.add(pd);
    call->noteAnswer("pd_handle", own.pd_handle);
    call->noteAnswer("pdn", pd->number.value());
    call->answerCore(own);
    call->answerDriver(mlx5_ib_alloc_pd_resp{answer.value.value()});
    call->finish(0);
  });
}

void queryPd(UverbsContext& context, const Call& call) {
  const auto handle = call->ioctl.number(MLX5_IB_ATTR_QUERY_PD_HANDLE);
  const auto pd = context.pds.find(handle.value_or(0));
  if (pd == nullptr) return call->finish(ENOENT);
  call->answerAttribute(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, pd->number.value());
  call->finish(0);
}

void deallocatePd(UverbsContext& context, const Call& call) {
  const std::uint32_t handle = call->core<ib_uverbs_dealloc_pd>().pd_handle;
  call->note("pd_handle", handle);
  const auto pd = context.pds.find(handle);
  if (pd == nullptr) return call->finish(EINVAL);
  if (pd->users != 0) return call->finish(EBUSY);
  context.driver.deallocatePd(context.owner, pd->number, [&context, call, handle](const driver::Answer<int>& answer) {
    if (answer.ok()) context.pds.remove(handle);
    call->finish(errnoOf(answer.result));
  });
}

// With RoCE the library asks only to learn the neighbour's Ethernet address.
void createAh(UverbsContext& context, const Call& call) {
  const auto wanted = call->core<ib_uverbs_create_ah>();
  call->note("pd_handle", wanted.pd_handle);
  call->note("dlid", wanted.attr.dlid);
  call->note("is_global", wanted.attr.is_global);
  const auto pd = context.pds.find(wanted.pd_handle);
  if (pd == nullptr || !context.device.hasPort(wanted.attr.port_num)) return call->finish(EINVAL);
  const bool isRoce = context.device.isRoce;
  if (isRoce && wanted.attr.is_global == 0) return call->finish(EINVAL);
  if (wanted.attr.is_global != 0 && wanted.attr.grh.sgid_index >= context.device.gidCount()) {
    return call->finish(EINVAL);
  }
  mlx5_ib_create_ah_resp own{};
  own.response_length = sizeof own;
  if (isRoce) {
    network::Gid gid;
    std::memcpy(gid.data(), wanted.attr.grh.dgid, gid.size());
    const auto mac = network::macOf(gid);
    std::memcpy(own.dmac, mac.data(), sizeof own.dmac);
  }
  auto ah = std::make_shared<UserAh>();
  ah->pd = pd;
  ++pd->users;
  ib_uverbs_create_ah_resp answer{};
  answer.ah_handle = context.ahs.add(ah);
  call->noteAnswer("ah_handle", answer.ah_handle);
  call->answerCore(answer);
  call->answerDriver(own);
  call->finish(0);
}

void destroyAh(UverbsContext& context, const Call& call) {
  const std::uint32_t handle = call->core<ib_uverbs_destroy_ah>().ah_handle;
  call->note("ah_handle", handle);
  const auto ah = context.ahs.find(handle);
  if (ah == nullptr) return call->finish(EINVAL);
  --ah->pd->users;
  context.ahs.remove(handle);
  call->finish(0);
}

}  // namespace hca::cosim
