// Memory regions and windows.
#include <rdma/mlx5-abi.h>

#include "models/wire/wqe.h"
#include "sim/cosim/uverbs/access_rights.h"
#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"
#include "sim/cosim/uverbs/powers_of_two.h"
#include "sim/driver/memory_pages.h"

namespace hca::cosim {
namespace {

constexpr std::uint64_t kPageMask = host::BusAddressSpace::kPageSize - 1;

// Memory as a registration names it.
struct Range {
  std::uint64_t start;
  std::uint64_t length;
  std::uint64_t named;  // hca_va
};

// 0, or the errno of the system call.
int setRange(UverbsContext& context, CallingProcess& process, UserMr& mr, const Range& range) {
  if ((range.start & kPageMask) != (range.named & kPageMask)) return EINVAL;
  if (range.length == 0) return EINVAL;
  mr.memory = process.pin(range.start, range.length);
  if (mr.memory == nullptr) return EFAULT;
  mr.start = range.start;
  driver::setMemory(mr.attributes, range.named, range.length, mr.memory->bus(),
                    static_cast<unsigned>(context.config.largest_page));
  return 0;
}

// Translations come two in 16 bytes.
constexpr std::size_t kPagesPerOctword = 2;

// Room for as many pages again as round the number up, so that most changes of a region need no other key.
std::uint32_t translationRoom(const adapter::MkeyAttributes& key) {
  constexpr std::uint64_t kLeast = 8;  // pages: half a block of 64 bytes is of no use
  return static_cast<std::uint32_t>(powerOfTwoAtLeast(std::max<std::uint64_t>(key.pages.size(), kLeast)) /
                                    kPagesPerOctword);
}

// Makes the key of `mr`, then tells.
void createKey(UverbsContext& context, const std::shared_ptr<UserMr>& mr, const Call& call,
               std::function<void()> then) {
  mr->attributes.pd = mr->pd->number;
  mr->attributes.variant = context.nextKeyVariant++;
  mr->attributes.updatable = true;
  mr->attributes.translationOctwords = translationRoom(mr->attributes);
  context.driver.createMkey(context.owner, mr->attributes,
                            [mr, call, then = std::move(then)](const driver::Answer<MemoryKey>& answer) {
                              if (!answer.ok()) return call->finish(errnoOf(answer.result));
                              mr->key = answer.value;
                              then();
                            });
}

// enum ib_mr_rereg_flags
constexpr std::uint32_t kTranslation = 1, kDomain = 2, kAccess = 4;

// The changes that `wanted` asks for, into `mr`. 0, or the errno of the system call.
int merge(UverbsContext& context, CallingProcess& process, const ib_uverbs_rereg_mr& wanted, UserMr& mr) {
  if ((wanted.flags & kAccess) != 0) {
    if (const int error = checkAccess(wanted.access_flags); error != 0) return error;
    mr.access = wanted.access_flags;
    setRights(mr.attributes, mr.access);
  }
  if ((wanted.flags & kDomain) != 0) mr.pd = context.pds.find(wanted.pd_handle);
  if (mr.pd == nullptr) return EINVAL;
  if ((wanted.flags & kTranslation) == 0) return 0;
  return setRange(context, process, mr, {wanted.start, wanted.length, wanted.hca_va});
}

std::uint64_t maskOf(std::uint32_t flags) {
  namespace key_mask = wire::key_mask;
  std::uint64_t mask = 0;
  if ((flags & kDomain) != 0) mask |= key_mask::kProtectionDomain;
  if ((flags & kTranslation) != 0) mask |= key_mask::kStart | key_mask::kLength | key_mask::kPageSize;
  if ((flags & kAccess) != 0) {
    mask |= key_mask::kLocalRead | key_mask::kLocalWrite | key_mask::kRemoteRead | key_mask::kRemoteWrite |
            key_mask::kAtomic | key_mask::kRelaxedOrderingRead | key_mask::kRelaxedOrderingWrite;
  }
  return mask;
}

void finishChange(const Call& call, UserMr& mr, const UserMr& changed) {
  --mr.pd->users;
  ++changed.pd->users;
  mr = changed;
  ib_uverbs_rereg_mr_resp keys{};
  keys.lkey = keys.rkey = mr.key.value();
  call->noteAnswer("lkey", mr.key.value());
  call->answerCore(keys);
  call->finish(0);
}

// Of a region that grew out of its key: it gets another.
void replaceKey(UverbsContext& context, const Call& call, const std::shared_ptr<UserMr>& mr,
                const std::shared_ptr<UserMr>& changed) {
  createKey(context, changed, call, [&context, mr, changed, call] {
    context.driver.destroyMkey(context.owner, mr->key, [mr, changed, call](const driver::Answer<int>& answer) {
      if (!answer.ok()) return call->finish(errnoOf(answer.result));
      finishChange(call, *mr, *changed);
    });
  });
}

}  // namespace

void registerMr(UverbsContext& context, const Call& call) {
  const auto wanted = call->core<ib_uverbs_reg_mr>();
  call->note("pd_handle", wanted.pd_handle);
  call->note("access_flags", wanted.access_flags);
  if (const int error = checkAccess(wanted.access_flags); error != 0) return call->finish(error);
  auto mr = std::make_shared<UserMr>();
  mr->pd = context.pds.find(wanted.pd_handle);
  if (mr->pd == nullptr) return call->finish(EINVAL);
  const Range range{wanted.start, wanted.length, wanted.hca_va};
  if (const int error = setRange(context, *call->process, *mr, range); error != 0) return call->finish(error);
  call->noteRegion("addr", *mr->memory);
  mr->access = wanted.access_flags;
  setRights(mr->attributes, mr->access);
  createKey(context, mr, call, [&context, mr, call] {
    ++mr->pd->users;
    ib_uverbs_reg_mr_resp answer{};
    answer.mr_handle = context.mrs.add(mr);
    call->noteAnswer("mr_handle", answer.mr_handle);
    call->noteAnswer("lkey", mr->key.value());
    answer.lkey = answer.rkey = mr->key.value();
    call->answerCore(answer);
    call->finish(0);
  });
}

// Linux drivers/infiniband/hw/mlx5/mr.c, mlx5_ib_rereg_user_mr.
void reregisterMr(UverbsContext& context, const Call& call) {
  const auto wanted = call->core<ib_uverbs_rereg_mr>();
  call->note("mr_handle", wanted.mr_handle);
  call->note("flags", wanted.flags);
  call->note("access_flags", wanted.access_flags);
  const auto mr = context.mrs.find(wanted.mr_handle);
  if (mr == nullptr || wanted.flags == 0 || (wanted.flags & ~(kTranslation | kDomain | kAccess)) != 0) {
    return call->finish(EINVAL);
  }
  if (mr->dm != nullptr) return call->finish(EINVAL);
  const auto changed = std::make_shared<UserMr>(*mr);
  if (const int error = merge(context, *call->process, wanted, *changed); error != 0) return call->finish(error);
  call->noteRegion("addr", *changed->memory);
  const bool fits = (changed->attributes.pages.size() + 1) / kPagesPerOctword <= mr->attributes.translationOctwords;
  if ((wanted.flags & kTranslation) != 0 && !fits) return replaceKey(context, call, mr, changed);
  adapter::MkeyAttributes update = changed->attributes;
  update.pd = changed->pd->number;
  if ((wanted.flags & kTranslation) == 0) update.pages.clear();
  context.driver.updateMkey(context.owner, mr->key, maskOf(wanted.flags), update,
                            [mr, changed, call](const driver::Answer<int>& answer) {
                              if (!answer.ok()) return call->finish(errnoOf(answer.result));
                              finishChange(call, *mr, *changed);
                            });
}

void deregisterMr(UverbsContext& context, const Call& call) {
  const std::uint32_t handle = call->core<ib_uverbs_dereg_mr>().mr_handle;
  call->note("mr_handle", handle);
  const auto mr = context.mrs.find(handle);
  if (mr == nullptr) return call->finish(EINVAL);
  context.driver.destroyMkey(context.owner, mr->key, [&context, mr, call, handle](const driver::Answer<int>& answer) {
    if (answer.ok()) {
      --mr->pd->users;
      if (mr->dm != nullptr) --mr->dm->users;
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
  call->note("pd_handle", wanted.pd_handle);
  call->note("mw_type", wanted.mw_type);
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
                              call->noteAnswer("mw_handle", own.mw_handle);
                              call->noteAnswer("rkey", own.rkey);
                              call->answerCore(own);
                              call->finish(0);
                            });
}

void deallocateMw(UverbsContext& context, const Call& call) {
  const std::uint32_t handle = call->core<ib_uverbs_dealloc_mw>().mw_handle;
  call->note("mw_handle", handle);
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
