// Completion channels and queues.
#include <rdma/mlx5-abi.h>

#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"
#include "sim/cosim/uverbs/powers_of_two.h"

namespace hca::cosim {
namespace {

constexpr std::uint32_t kNarrow = 64, kWide = 128;

// A completion queue as all three forms of the command want it.
struct Wanted {
  std::uint64_t userHandle = 0;
  std::uint64_t cqe = 0;
  std::uint64_t vector = 0;
  std::int64_t channel = -1;  // descriptor, negative: none
  std::uint64_t flags = 0;
};
using Answered = std::function<void(std::uint32_t handle, std::uint32_t cqe)>;

bool isEntrySize(std::uint32_t bytes) { return bytes == kNarrow || bytes == kWide; }

adapter::CqeStride strideOf(std::uint32_t entryBytes, bool isPadded) {
  if (entryBytes == kNarrow) return adapter::CqeStride::k64;
  return isPadded ? adapter::CqeStride::k128Padded : adapter::CqeStride::k128;
}

// Linux drivers/infiniband/hw/mlx5/cq.c, mini_cqe_res_format_to_hw; nothing for a format that doesn't exist.
std::optional<std::uint8_t> miniFormatOf(std::uint8_t wanted) {
  constexpr std::uint8_t kHash = 0, kChecksum = 1, kChecksumStride = 3;
  switch (wanted) {
    case MLX5_IB_CQE_RES_FORMAT_HASH:
      return kHash;
    case MLX5_IB_CQE_RES_FORMAT_CSUM:
      return kChecksum;
    case MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX:
      return kChecksumStride;
    default:
      return std::nullopt;
  }
}

// 0, or the errno of the system call.
int setAttributes(UverbsContext& context, CallingProcess& process, const Wanted& wanted, const mlx5_ib_create_cq& own,
                  UserCq& cq, adapter::CqAttributes& attributes) {
  constexpr std::uint64_t kTimestamp = 1, kIgnoreOverrun = 2;  // ib_uverbs_ex_create_cq_flags
  const std::uint64_t most = context.driver.capabilities().limits.maxCqEntries;
  if (wanted.cqe == 0 || wanted.cqe >= most || wanted.vector >= context.driver.completionVectors()) return EINVAL;
  if ((wanted.flags & ~(kTimestamp | kIgnoreOverrun)) != 0) return EOPNOTSUPP;
  constexpr std::uint32_t kKnown = MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD | MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX;
  if (!isEntrySize(own.cqe_size) || (own.flags & ~kKnown) != 0) return EINVAL;
  cq.entries = static_cast<std::uint32_t>(powerOfTwoAtLeast(wanted.cqe + 1));
  cq.entryBytes = own.cqe_size;
  cq.userHandle = wanted.userHandle;
  cq.ring = process.pin(own.buf_addr, std::uint64_t{cq.entries} * cq.entryBytes);
  cq.record = process.pin(own.db_addr, 8);
  if (cq.ring == nullptr || cq.record == nullptr) return EFAULT;
  cq.isPadded = (own.flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD) != 0;
  attributes.stride = strideOf(own.cqe_size, cq.isPadded);
  attributes.ignoreOverrun = (wanted.flags & kIgnoreOverrun) != 0;
  attributes.logSize = logOf(cq.entries);
  const bool namesUar = (own.flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX) != 0;
  if (namesUar) attributes.uar = UarIndex(own.uar_page_index);
  if (!namesUar && !context.uars.empty()) attributes.uar = context.uars.front();
  if (!context.hasUar(attributes.uar)) return EINVAL;
  attributes.ring = cq.ring->pages();
  attributes.doorbellRecord = cq.record->bus();
  if (own.cqe_comp_en == 0) return 0;
  const auto format = miniFormatOf(own.cqe_comp_res_format);
  if (!format) return EINVAL;
  attributes.compression = true;
  attributes.miniFormat = *format;
  return 0;
}

void create(UverbsContext& context, const Call& call, const Wanted& wanted, Answered answered) {
  if (!context.isOpen) return call->finish(EINVAL);
  const auto own = call->driver<mlx5_ib_create_cq>();
  auto cq = std::make_shared<UserCq>();
  if (wanted.channel >= 0) {
    cq->channel = call->process->eventFile(static_cast<int>(wanted.channel));
    if (cq->channel == nullptr) return call->finish(EBADF);
  }
  adapter::CqAttributes attributes;
  call->note("cqe", wanted.cqe);
  call->note("comp_vector", wanted.vector);
  call->note("flags", wanted.flags);
  call->note("cqe_size", own.cqe_size);
  if (own.cqe_comp_en != 0) call->note("cqe_comp_res_format", own.cqe_comp_res_format);
  const int error = setAttributes(context, *call->process, wanted, own, *cq, attributes);
  if (error != 0) return call->finish(error);
  call->noteRegion("buf", *cq->ring);
  call->noteRegion("db", *cq->record);
  context.driver.createCq(context.owner, attributes, static_cast<std::uint32_t>(wanted.vector),
                          [&context, cq, call, answered = std::move(answered)](const driver::Answer<CqNumber>& answer) {
                            if (!answer.ok()) return call->finish(errnoOf(answer.result));
                            cq->number = answer.value;
                            call->answerDriver(mlx5_ib_create_cq_resp{cq->number.value(), 0});
                            const std::uint32_t handle = context.cqs.add(cq);
                            call->noteAnswer("cq_handle", handle);
                            call->noteAnswer("cqn", cq->number.value());
                            call->noteAnswer("cqe", cq->entries - 1);
                            answered(handle, cq->entries - 1);
                          });
}

// Events that nobody read are forgotten; the library waits for the acknowledgement of the others.
ib_uverbs_destroy_cq_resp purgeEvents(UverbsContext& context, UserCq& cq) {
  const auto isOurs = [&cq](ByteView record) {
    return structFrom<ib_uverbs_comp_event_desc>(record).cq_handle == cq.userHandle;
  };
  if (cq.channel != nullptr) cq.events.completion -= static_cast<std::uint32_t>(cq.channel->purge(isOurs));
  const auto isOursAsync = [&cq](ByteView record) {
    const auto event = structFrom<ib_uverbs_async_event_desc>(record);
    return event.event_type == 0 && event.element == cq.userHandle;  // IB_EVENT_CQ_ERR
  };
  if (context.asyncEvents != nullptr) {
    cq.events.async -= static_cast<std::uint32_t>(context.asyncEvents->purge(isOursAsync));
  }
  ib_uverbs_destroy_cq_resp answer{};
  answer.comp_events_reported = cq.events.completion;
  answer.async_events_reported = cq.events.async;
  return answer;
}

void destroy(UverbsContext& context, const Call& call, std::uint32_t handle,
             std::function<void(const ib_uverbs_destroy_cq_resp&)> answered) {
  call->note("cq_handle", handle);
  const auto cq = context.cqs.find(handle);
  if (cq == nullptr) return call->finish(EINVAL);
  if (cq->users != 0) return call->finish(EBUSY);
  context.driver.destroyCq(
      context.owner, cq->number,
      [&context, cq, call, handle, answered = std::move(answered)](const driver::Answer<int>& answer) {
        if (!answer.ok()) return call->finish(errnoOf(answer.result));
        context.cqs.remove(handle);
        answered(purgeEvents(context, *cq));
        call->finish(0);
      });
}

}  // namespace

void createCompletionChannel(UverbsContext& /*context*/, const Call& call) {
  if (!call->offeredPipe) return call->finish(CommandCall::kNeedsPipe);
  const auto file = call->process->openEventFile(call->offeredPipe->writeEnd, call->offeredPipe->readEnd,
                                                 sizeof(ib_uverbs_comp_event_desc));
  if (file == nullptr) return call->finish(EMFILE);
  call->answerCore(ib_uverbs_create_comp_channel_resp{static_cast<std::uint32_t>(call->offeredPipe->readEnd)});
  call->finish(0);
}

void createCq(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_create_cq>();
  create(context, call, {in.user_handle, in.cqe, in.comp_vector, in.comp_channel, 0},
         [call](std::uint32_t handle, std::uint32_t cqe) {
           ib_uverbs_create_cq_resp answer{};
           answer.cq_handle = handle;
           answer.cqe = cqe;
           call->answerCore(answer);
           call->finish(0);
         });
}

void createCqExtended(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_ex_create_cq>();
  if (in.comp_mask != 0) return call->finish(EINVAL);
  create(context, call, {in.user_handle, in.cqe, in.comp_vector, in.comp_channel, in.flags},
         [call](std::uint32_t handle, std::uint32_t cqe) {
           ib_uverbs_ex_create_cq_resp answer{};
           answer.base.cq_handle = handle;
           answer.base.cqe = cqe;
           answer.response_length = sizeof answer;
           call->answerCore(answer);
           call->finish(0);
         });
}

void createCqNative(UverbsContext& context, const Call& call) {
  IoctlRequest& in = call->ioctl;
  const auto narrow = [&in](unsigned id) { return in.number(id).value_or(0) & 0xFFFFFFFF; };
  Wanted wanted;
  wanted.userHandle = in.number(UVERBS_ATTR_CREATE_CQ_USER_HANDLE).value_or(0);
  wanted.cqe = narrow(UVERBS_ATTR_CREATE_CQ_CQE);
  wanted.vector = narrow(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR);
  wanted.flags = narrow(UVERBS_ATTR_CREATE_CQ_FLAGS);
  if (const auto fd = in.number(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL)) wanted.channel = static_cast<std::int64_t>(*fd);
  create(context, call, wanted, [call](std::uint32_t handle, std::uint32_t cqe) {
    const bool told = call->ioctl.answerInline(UVERBS_ATTR_CREATE_CQ_HANDLE, handle);
    call->answerAttribute(UVERBS_ATTR_CREATE_CQ_RESP_CQE, cqe);
    call->finish(told ? 0 : EFAULT);
  });
}

// Linux drivers/infiniband/hw/mlx5/cq.c, mlx5_ib_resize_cq.
void resizeCq(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_resize_cq>();
  const auto own = call->driver<mlx5_ib_resize_cq>();
  const auto cq = context.cqs.find(in.cq_handle);
  call->note("cq_handle", in.cq_handle);
  call->note("cqe", in.cqe);
  if (cq == nullptr) return call->finish(EINVAL);
  if (!context.driver.capabilities().resize) return call->finish(ENOSYS);
  if (in.cqe == 0 || in.cqe >= context.driver.capabilities().limits.maxCqEntries) return call->finish(EINVAL);
  const auto entries = static_cast<std::uint32_t>(powerOfTwoAtLeast(in.cqe + 1));
  const auto finish = [call](std::uint32_t size) {
    ib_uverbs_resize_cq_resp resized{};
    resized.cqe = size - 1;
    call->answerCore(resized);
    call->finish(0);
  };
  if (entries == cq->entries) return finish(entries);
  if (!isEntrySize(own.cqe_size)) return call->finish(EINVAL);
  const Pinned ring = call->process->pin(own.buf_addr, std::uint64_t{entries} * own.cqe_size);
  if (ring == nullptr) return call->finish(EFAULT);
  adapter::CqAttributes attributes;
  attributes.stride = strideOf(own.cqe_size, cq->isPadded);
  attributes.logSize = logOf(entries);
  attributes.ring = ring->pages();
  context.driver.resizeCq(context.owner, cq->number, attributes,
                          [cq, ring, entries, own, call, finish](const driver::Answer<int>& answer) {
                            if (!answer.ok()) return call->finish(errnoOf(answer.result));
                            cq->ring = ring;
                            cq->entries = entries;
                            cq->entryBytes = own.cqe_size;
                            finish(entries);
                          });
}

void modifyCq(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_ex_modify_cq>();
  const auto cq = context.cqs.find(in.cq_handle);
  call->note("cq_handle", in.cq_handle);
  call->note("cq_count", in.attr.cq_count);
  call->note("cq_period", in.attr.cq_period);
  constexpr std::uint32_t kModeration = 1;
  constexpr std::uint16_t kLongestPeriod = 4095;
  if (cq == nullptr || in.attr_mask == 0) return call->finish(EINVAL);
  if ((in.attr_mask & ~kModeration) != 0 || !context.driver.capabilities().moderation) return call->finish(EOPNOTSUPP);
  if (in.attr.cq_period > kLongestPeriod) return call->finish(EINVAL);
  context.driver.modifyCqModeration(
      context.owner, cq->number, in.attr.cq_count, in.attr.cq_period,
      [call](const driver::Answer<int>& answer) { call->finish(errnoOf(answer.result)); });
}

void destroyCq(UverbsContext& context, const Call& call) {
  destroy(context, call, call->core<ib_uverbs_destroy_cq>().cq_handle,
          [call](const ib_uverbs_destroy_cq_resp& answer) { call->answerCore(answer); });
}

void destroyCqNative(UverbsContext& context, const Call& call) {
  const auto handle = call->ioctl.number(UVERBS_ATTR_DESTROY_CQ_HANDLE);
  destroy(
      context, call, static_cast<std::uint32_t>(handle.value_or(0)),
      [call](const ib_uverbs_destroy_cq_resp& answer) { call->answerAttribute(UVERBS_ATTR_DESTROY_CQ_RESP, answer); });
}

}  // namespace hca::cosim
