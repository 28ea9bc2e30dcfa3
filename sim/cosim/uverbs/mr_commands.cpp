// Memory regions and windows.
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"
#include "sim/driver/memory_pages.h"

namespace hca::cosim {
namespace {

constexpr std::uint64_t kPageMask = host::BusAddressSpace::kPageSize - 1;

constexpr std::uint32_t kKnownAccess =
    IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_READ |
    IB_UVERBS_ACCESS_REMOTE_ATOMIC | IB_UVERBS_ACCESS_MW_BIND | IB_UVERBS_ACCESS_ZERO_BASED |
    IB_UVERBS_ACCESS_ON_DEMAND | IB_UVERBS_ACCESS_HUGETLB | IB_UVERBS_ACCESS_OPTIONAL_RANGE;

// Linux include/rdma/ib_verbs.h, ib_check_mr_access.
int checkAccess(std::uint32_t access) {
  constexpr std::uint32_t kRemoteChange = IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC;
  if ((access & kRemoteChange) != 0 && (access & IB_UVERBS_ACCESS_LOCAL_WRITE) == 0) return EINVAL;
  if ((access & ~kKnownAccess) != 0) return EINVAL;
  if ((access & IB_UVERBS_ACCESS_ON_DEMAND) != 0) return EOPNOTSUPP;
  return 0;
}

void setRights(adapter::MkeyAttributes& key, std::uint32_t access) {
  key.rights.localRead = true;
  key.rights.localWrite = (access & IB_UVERBS_ACCESS_LOCAL_WRITE) != 0;
  key.rights.remoteRead = (access & IB_UVERBS_ACCESS_REMOTE_READ) != 0;
  key.rights.remoteWrite = (access & IB_UVERBS_ACCESS_REMOTE_WRITE) != 0;
  key.rights.atomic = (access & IB_UVERBS_ACCESS_REMOTE_ATOMIC) != 0;
  key.relaxedOrderingWrite = key.relaxedOrderingRead = (access & IB_UVERBS_ACCESS_RELAXED_ORDERING) != 0;
}

// Memory as a registration names it.
struct Range {
  std::uint64_t start;
  std::uint64_t length;
  std::uint64_t named;  // hca_va
};

// 0, or the errno of the system call.
int setRange(UverbsContext& context, UserMr& mr, const Range& range) {
  if ((range.start & kPageMask) != (range.named & kPageMask)) return EINVAL;
  if (range.length == 0) return EINVAL;
  mr.memory = context.pin(range.start, range.length);
  if (mr.memory == nullptr) return EFAULT;
  mr.start = range.start;
  driver::setMemory(mr.attributes, range.named, range.length, mr.memory->bus(),
                    static_cast<unsigned>(context.config.largest_page));
  return 0;
}

// Makes the key of `mr`, then tells.
void createKey(UverbsContext& context, const std::shared_ptr<UserMr>& mr, const Call& call,
               std::function<void()> then) {
  mr->attributes.pd = mr->pd->number;
  mr->attributes.variant = context.nextKeyVariant++;
  context.driver.createMkey(context.owner, mr->attributes,
                            [mr, call, then = std::move(then)](const driver::Answer<MemoryKey>& answer) {
                              if (!answer.ok()) return call->finish(errnoOf(answer.result));
                              mr->key = answer.value;
                              then();
                            });
}

}  // namespace

void registerMr(UverbsContext& context, const Call& call) {
  const auto wanted = call->core<ib_uverbs_reg_mr>();
  if (const int error = checkAccess(wanted.access_flags); error != 0) return call->finish(error);
  auto mr = std::make_shared<UserMr>();
  mr->pd = context.pds.find(wanted.pd_handle);
  if (mr->pd == nullptr) return call->finish(EINVAL);
  const Range range{wanted.start, wanted.length, wanted.hca_va};
  if (const int error = setRange(context, *mr, range); error != 0) return call->finish(error);
  mr->access = wanted.access_flags;
  setRights(mr->attributes, mr->access);
  createKey(context, mr, call, [&context, mr, call] {
    ++mr->pd->users;
    ib_uverbs_reg_mr_resp answer{};
    answer.mr_handle = context.mrs.add(mr);
    answer.lkey = answer.rkey = mr->key.value();
    call->answerCore(answer);
    call->finish(0);
  });
}

// A new key for what changes, then the old one goes: the keys change, as the mlx5 driver may do for any change.
void reregisterMr(UverbsContext& context, const Call& call) {
  const auto wanted = call->core<ib_uverbs_rereg_mr>();
  const auto mr = context.mrs.find(wanted.mr_handle);
  constexpr std::uint32_t kKnown = IB_UVERBS_ACCESS_LOCAL_WRITE | 6;  // IB_MR_REREG_TRANS, _PD, _ACCESS
  if (mr == nullptr || wanted.flags == 0 || (wanted.flags & ~kKnown) != 0) return call->finish(EINVAL);
  constexpr std::uint32_t kTranslation = 1, kDomain = 2, kAccess = 4;
  auto changed = std::make_shared<UserMr>(*mr);
  if ((wanted.flags & kAccess) != 0) {
    if (const int error = checkAccess(wanted.access_flags); error != 0) return call->finish(error);
    changed->access = wanted.access_flags;
    setRights(changed->attributes, changed->access);
  }
  if ((wanted.flags & kDomain) != 0) changed->pd = context.pds.find(wanted.pd_handle);
  if (changed->pd == nullptr) return call->finish(EINVAL);
  if ((wanted.flags & kTranslation) != 0) {
    const Range range{wanted.start, wanted.length, wanted.hca_va};
    if (const int error = setRange(context, *changed, range); error != 0) return call->finish(error);
  }
  createKey(context, changed, call, [&context, mr, changed, call] {
    context.driver.destroyMkey(context.owner, mr->key, [mr, changed, call](const driver::Answer<int>& answer) {
      if (!answer.ok()) return call->finish(errnoOf(answer.result));
      --mr->pd->users;
      ++changed->pd->users;
      *mr = *changed;
      ib_uverbs_rereg_mr_resp keys{};
      keys.lkey = keys.rkey = mr->key.value();
      call->answerCore(keys);
      call->finish(0);
    });
  });
}

void deregisterMr(UverbsContext& context, const Call& call) {
  const std::uint32_t handle = call->core<ib_uverbs_dereg_mr>().mr_handle;
  const auto mr = context.mrs.find(handle);
  if (mr == nullptr) return call->finish(EINVAL);
  context.driver.destroyMkey(context.owner, mr->key, [&context, mr, call, handle](const driver::Answer<int>& answer) {
    if (answer.ok()) {
      --mr->pd->users;
      context.mrs.remove(handle);
    }
    call->finish(errnoOf(answer.result));
  });
}

void queryMr(UverbsContext& context, const Call& call) {
  const auto handle = call->ioctl.number(UVERBS_ATTR_QUERY_MR_HANDLE);
  const auto mr = context.mrs.find(handle.value_or(0));
  if (mr == nullptr) return call->finish(ENOENT);
  call->answerAttribute(UVERBS_ATTR_QUERY_MR_RESP_LKEY, mr->key.value());
  call->answerAttribute(UVERBS_ATTR_QUERY_MR_RESP_RKEY, mr->key.value());
  call->answerAttribute(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, mr->attributes.length);
  call->answerAttribute(UVERBS_ATTR_QUERY_MR_RESP_IOVA, mr->attributes.start);
  call->finish(0);
}

void allocateMw(UverbsContext& context, const Call& call) {
  const auto wanted = call->core<ib_uverbs_alloc_mw>();
  constexpr std::uint8_t kType1 = 1, kType2 = 2;
  const auto pd = context.pds.find(wanted.pd_handle);
  if (pd == nullptr || (wanted.mw_type != kType1 && wanted.mw_type != kType2)) return call->finish(EINVAL);
  const auto type = wanted.mw_type == kType2 ? driver::WindowType::kType2 : driver::WindowType::kType1;
  context.driver.allocateMw(context.owner, pd->number, type,
                            [&context, pd, call](const driver::Answer<MemoryKey>& answer) {
                              if (!answer.ok()) return call->finish(errnoOf(answer.result));
                              auto mw = std::make_shared<UserMw>();
                              mw->pd = pd;
                              mw->key = answer.value;
                              ++pd->users;
                              ib_uverbs_alloc_mw_resp own{};
                              own.mw_handle = context.mws.add(mw);
                              own.rkey = mw->key.value();
                              call->answerCore(own);
                              call->finish(0);
                            });
}

void deallocateMw(UverbsContext& context, const Call& call) {
  const std::uint32_t handle = call->core<ib_uverbs_dealloc_mw>().mw_handle;
  const auto mw = context.mws.find(handle);
  if (mw == nullptr) return call->finish(EINVAL);
  context.driver.deallocateMw(context.owner, mw->key, [&context, mw, call, handle](const driver::Answer<int>& answer) {
    if (answer.ok()) {
      --mw->pd->users;
      context.mws.remove(handle);
    }
    call->finish(errnoOf(answer.result));
  });
}

}  // namespace hca::cosim
