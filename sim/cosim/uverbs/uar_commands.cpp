// Doorbell pages that a program makes one by one, as the library does with kernels that let it.
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"
#include "sim/cosim/uverbs/mmap_offset.h"

namespace hca::cosim {

void allocateUarObject(UverbsContext& context, const Call& call) {
  const auto type = call->ioctl.number(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE);
  const std::uint64_t wanted = type.value_or(~std::uint64_t{0}) & 0xFFFFFFFF;
  if (wanted > MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC) return call->finish(EOPNOTSUPP);
  context.driver.allocateUar(context.owner, [&context, call](const driver::Answer<UarIndex>& answer) {
    if (!answer.ok()) return call->finish(errnoOf(answer.result));
    context.uars.push_back(answer.value);
    auto uar = std::make_shared<UserUar>();
    uar->number = answer.value;
    const std::uint32_t handle = context.uarObjects.add(uar);
    call->answerAttribute(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, MmapOffset{kUarObjects, handle}.encoded());
    call->answerAttribute(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, std::uint64_t{host::BusAddressSpace::kPageSize});
    call->answerAttribute(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, answer.value.value());
    call->finish(call->ioctl.answerInline(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, handle) ? 0 : EFAULT);
  });
}

void destroyUarObject(UverbsContext& context, const Call& call) {
  const auto handle = call->ioctl.number(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE);
  const auto uar = context.uarObjects.find(handle.value_or(0));
  if (uar == nullptr) return call->finish(ENOENT);
  context.driver.deallocateUar(
      context.owner, uar->number,
      [&context, call, uar, key = static_cast<std::uint32_t>(*handle)](const driver::Answer<int>& answer) {
        if (answer.ok()) {
          context.uarObjects.remove(key);
          context.uars.erase(std::remove(context.uars.begin(), context.uars.end(), uar->number), context.uars.end());
        }
        call->finish(errnoOf(answer.result));
      });
}

}  // namespace hca::cosim
