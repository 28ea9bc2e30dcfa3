// Device memory. Linux drivers/infiniband/core/uverbs_std_types_dm.c and uverbs_std_types_mr.c, and the provider's part
// in drivers/infiniband/hw/mlx5/dm.c.
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "sim/cosim/uverbs/access_rights.h"
#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"

namespace hca::cosim {
namespace {

constexpr std::uint64_t kLow32 = 0xFFFFFFFF;

// Of the page that the place begins on, among those that mmap knows.
std::uint16_t pageIndexOf(const UverbsContext& context, const UserDm& dm) {
  return static_cast<std::uint16_t>((dm.start - context.driver.capabilities().deviceMemory.start) / UserDm::kPage);
}

struct DmRange {
  std::uint64_t offset;
  std::uint64_t length;
};

adapter::MkeyAttributes keyOf(const UserDm& dm, const DmRange& range, const UserPd& pd, std::uint32_t access) {
  adapter::MkeyAttributes key;
  key.mode = adapter::MkeyMode::kDeviceMemory;
  key.pd = pd.number;
  key.start = dm.start + range.offset;
  key.length = range.length;
  setRights(key, access);
  return key;
}

// 0, or the errno of the system call.
int checkDmRegistration(const UserDm& dm, const DmRange& range, std::uint32_t access) {
  if ((access & IB_UVERBS_ACCESS_ZERO_BASED) == 0) return EINVAL;
  if (const int error = checkAccess(access); error != 0) return error;
  constexpr std::uint32_t kAllowed = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
                                     IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC |
                                     IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_OPTIONAL_RANGE;
  if ((access & ~kAllowed) != 0) return EINVAL;
  const bool fits = range.offset <= dm.length && range.length <= dm.length - range.offset;
  return fits ? 0 : EINVAL;
}

}  // namespace

void allocateDm(UverbsContext& context, const Call& call) {
  const std::uint64_t length = call->ioctl.number(UVERBS_ATTR_ALLOC_DM_LENGTH).value_or(0);
  const std::uint64_t alignment = call->ioctl.number(UVERBS_ATTR_ALLOC_DM_ALIGNMENT).value_or(0) & kLow32;
  const std::uint64_t type = call->ioctl.number(MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE).value_or(MLX5_IB_UAPI_DM_TYPE_MEMIC);
  call->note("length", length);
  call->note("alignment", alignment);
  const bool hasMemory = context.driver.capabilities().deviceMemory.size != 0;
  // Memory for steering rules takes rights that a program doesn't have, and a device that lends it.
  if (type != MLX5_IB_UAPI_DM_TYPE_MEMIC || !hasMemory) return call->finish(EOPNOTSUPP);
  context.driver.allocateDeviceMemory(
      context.owner, length, static_cast<unsigned>(alignment),
      [&context, call, length](const driver::Answer<std::uint64_t>& answer) {
        if (!answer.ok()) return call->finish(errnoOf(answer.result));
        auto dm = std::make_shared<UserDm>();
        dm->start = answer.value;
        dm->length = length;
        const std::uint32_t handle = context.dms.add(dm);
        call->noteAnswer("dm_handle", handle);
        call->answerAttribute(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, pageIndexOf(context, *dm));
        call->answerAttribute(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, dm->start % UserDm::kPage);
        call->finish(call->ioctl.answerInline(UVERBS_ATTR_ALLOC_DM_HANDLE, handle) ? 0 : EFAULT);
      });
}

// By this a program finds the memory that it imports.
void queryDm(UverbsContext& context, const Call& call) {
  const auto dm = context.dms.find(call->ioctl.number(MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE).value_or(0));
  if (dm == nullptr) return call->finish(ENOENT);
  call->answerAttribute(MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, pageIndexOf(context, *dm));
  call->answerAttribute(MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, dm->start % UserDm::kPage);
  call->answerAttribute(MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, dm->length);
  call->finish(0);
}

void freeDm(UverbsContext& context, const Call& call) {
  const auto handle = call->ioctl.number(UVERBS_ATTR_FREE_DM_HANDLE);
  const auto dm = context.dms.find(handle.value_or(0));
  if (dm == nullptr) return call->finish(ENOENT);
  call->note("dm_handle", *handle);
  if (dm->users != 0) return call->finish(EBUSY);
  context.driver.freeDeviceMemory(
      context.owner, dm->start,
      [&context, call, key = static_cast<std::uint32_t>(*handle)](const driver::Answer<int>& answer) {
        if (answer.ok()) context.dms.remove(key);
        call->finish(errnoOf(answer.result));
      });
}

void registerDmMr(UverbsContext& context, const Call& call) {
  const auto dm = context.dms.find(call->ioctl.number(UVERBS_ATTR_REG_DM_MR_DM_HANDLE).value_or(0));
  const auto pd = context.pds.find(call->ioctl.number(UVERBS_ATTR_REG_DM_MR_PD_HANDLE).value_or(0));
  if (dm == nullptr || pd == nullptr) return call->finish(ENOENT);
  const DmRange range{call->ioctl.number(UVERBS_ATTR_REG_DM_MR_OFFSET).value_or(0),
                      call->ioctl.number(UVERBS_ATTR_REG_DM_MR_LENGTH).value_or(0)};
  const auto access =
      static_cast<std::uint32_t>(call->ioctl.number(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS).value_or(0) & kLow32);
  call->note("offset", range.offset);
  call->note("length", range.length);
  call->note("access_flags", access);
  if (const int error = checkDmRegistration(*dm, range, access); error != 0) return call->finish(error);
  auto mr = std::make_shared<UserMr>();
  mr->pd = pd;
  mr->dm = dm;
  mr->access = access;
  mr->attributes = keyOf(*dm, range, *pd, access);
  mr->attributes.variant = context.nextKeyVariant++;
  context.driver.createMkey(context.owner, mr->attributes,
                            [&context, call, mr](const driver::Answer<MemoryKey>& answer) {
                              if (!answer.ok()) return call->finish(errnoOf(answer.result));
                              mr->key = answer.value;
                              ++mr->pd->users;
                              ++mr->dm->users;
                              const std::uint32_t handle = context.mrs.add(mr);
                              call->noteAnswer("mr_handle", handle);
                              call->noteAnswer("lkey", mr->key.value());
                              call->answerAttribute(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, mr->key.value());
                              call->answerAttribute(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, mr->key.value());
                              call->finish(call->ioctl.answerInline(UVERBS_ATTR_REG_DM_MR_HANDLE, handle) ? 0 : EFAULT);
                            });
}

}  // namespace hca::cosim
