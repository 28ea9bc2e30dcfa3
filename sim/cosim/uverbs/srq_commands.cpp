// Shared receive queues.
#include <rdma/mlx5-abi.h>

#include "models/wire/shared_receive_context.h"
#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"
#include "sim/cosim/uverbs/powers_of_two.h"

namespace hca::cosim {
namespace {

// ib_uverbs_srq_type of the newer header.
constexpr std::uint32_t kBasic = 0, kXrc = 1, kTagMatching = 2;

// Sizes as the library and the stock driver both compute them (Linux drivers/infiniband/hw/mlx5/srq.c,
// mlx5_ib_create_srq). 0, or the errno.
int setSizes(const UverbsContext& context, const ib_uverbs_create_xsrq& wanted, UserSrq& srq) {
  constexpr std::uint32_t kSegment = 16, kShortest = 32;
  const driver::QueueLimits& limits = context.driver.capabilities().limits;
  if (wanted.max_wr >= limits.maxSrqEntries) return EINVAL;
  if (wanted.max_sge > limits.maxReceiveWqe / kSegment - 1) return EINVAL;
  const std::uint64_t entries = powerOfTwoAtLeast(std::uint64_t{wanted.max_wr} + 1);
  const auto stride =
      static_cast<std::uint32_t>(powerOfTwoAtLeast(std::max(kShortest, kSegment + wanted.max_sge * kSegment)));
  srq.attributes.logSize = logOf(entries);
  srq.attributes.logStride = logOf(stride);
  srq.maxSge = stride / kSegment - 1;
  return 0;
}

// 0, or the errno.
int setMemory(UverbsContext& context, CallingProcess& process, const mlx5_ib_create_srq& own, UserSrq& srq) {
  if ((own.flags & ~std::uint32_t{MLX5_SRQ_FLAG_SIGNATURE}) != 0) return EINVAL;
  const std::uint64_t length = std::uint64_t{1} << (srq.attributes.logSize + srq.attributes.logStride);
  srq.ring = process.pin(own.buf_addr, length);
  srq.record = process.pin(own.db_addr, 4);
  if (srq.ring == nullptr || srq.record == nullptr) return EFAULT;
  srq.attributes.buffer = srq.ring->pages();
  srq.attributes.doorbellRecord = srq.record->bus();
  srq.attributes.userIndex = context.cqeVersion == 0 ? adapter::kNoUserIndex : own.uidx;
  return 0;
}

// 0, or the errno.
int setDomain(UverbsContext& context, const ib_uverbs_create_xsrq& wanted, UserSrq& srq) {
  srq.attributes.kind = adapter::SrqKind::kXrc;
  srq.xrcd = context.xrcds.find(wanted.xrcd_handle);
  srq.cq = context.cqs.find(wanted.cq_handle);
  if (srq.xrcd == nullptr || srq.cq == nullptr) return EINVAL;
  srq.attributes.domain = srq.xrcd->number;
  srq.attributes.cq = srq.cq->number;
  return 0;
}

// Linux drivers/infiniband/hw/mlx5/srq.c, mlx5_ib_create_srq. 0, or the errno.
int setTags(UverbsContext& context, const ib_uverbs_create_xsrq& wanted, UserSrq& srq) {
  const driver::DeviceCapabilities& device = context.driver.capabilities();
  if (device.logTagList == 0) return EOPNOTSUPP;
  srq.attributes.kind = adapter::SrqKind::kTagMatching;
  srq.cq = context.cqs.find(wanted.cq_handle);
  if (srq.cq == nullptr || wanted.max_num_tags == 0) return EINVAL;
  srq.attributes.cq = srq.cq->number;
  srq.attributes.topology = wire::TagMatchingQueueContext::kTagMatching;
  srq.attributes.logTags = logOf(powerOfTwoAtLeast(std::uint64_t{wanted.max_num_tags} + 1));
  srq.attributes.offersRendezvous = device.rendezvous;
  return srq.attributes.logTags > device.logTagList ? EINVAL : 0;
}

void countReferences(const UserSrq& srq, std::uint32_t change) {
  srq.pd->users += change;
  if (srq.cq != nullptr) srq.cq->users += change;
  if (srq.xrcd != nullptr) srq.xrcd->users += change;
}

void finishCreate(UverbsContext& context, const Call& call, const std::shared_ptr<UserSrq>& srq) {
  countReferences(*srq, 1);
  ib_uverbs_create_srq_resp answer{};
  answer.srq_handle = context.srqs.add(srq);
  call->noteRegion("buf", *srq->ring);
  call->noteRegion("db", *srq->record);
  call->noteAnswer("srq_handle", answer.srq_handle);
  call->noteAnswer("srqn", srq->number.value());
  answer.max_wr = (1U << srq->attributes.logSize) - 1;
  answer.max_sge = srq->maxSge;
  answer.srqn = srq->number.value();
  call->answerCore(answer);
  call->answerDriver(mlx5_ib_create_srq_resp{srq->number.value(), 0});
  // Of the two forms of the command each has its own places.
  call->answerAttribute(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, answer.max_wr);
  call->answerAttribute(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, answer.max_sge);
  call->answerAttribute(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, answer.srqn);
  const bool isNative = call->ioctl.object() == UVERBS_OBJECT_SRQ;
  const bool isAnswered = !isNative || call->ioctl.answerInline(UVERBS_ATTR_CREATE_SRQ_HANDLE, answer.srq_handle);
  call->finish(isAnswered ? 0 : EFAULT);
}

void create(UverbsContext& context, const Call& call, const ib_uverbs_create_xsrq& wanted) {
  auto srq = std::make_shared<UserSrq>();
  call->note("srq_type", wanted.srq_type);
  call->note("pd_handle", wanted.pd_handle);
  call->note("max_wr", wanted.max_wr);
  call->note("max_sge", wanted.max_sge);
  srq->pd = context.pds.find(wanted.pd_handle);
  if (srq->pd == nullptr) return call->finish(EINVAL);
  if (wanted.srq_type > kTagMatching) return call->finish(EOPNOTSUPP);
  int error = setSizes(context, wanted, *srq);
  if (error == 0 && wanted.srq_type == kXrc) error = setDomain(context, wanted, *srq);
  if (error == 0 && wanted.srq_type == kTagMatching) error = setTags(context, wanted, *srq);
  if (error == 0) error = setMemory(context, *call->process, call->driver<mlx5_ib_create_srq>(), *srq);
  if (error != 0) return call->finish(error);
  srq->userHandle = wanted.user_handle;
  srq->attributes.pd = srq->pd->number;
  context.driver.createSrq(context.owner, srq->attributes,
                           [&context, call, srq](const driver::Answer<SrqNumber>& answer) {
                             if (!answer.ok()) return call->finish(errnoOf(answer.result));
                             srq->number = answer.value;
                             finishCreate(context, call, srq);
                           });
}

bool isEventOf(const UserSrq& srq, ByteView record) {
  constexpr std::uint32_t kSrqError = 14, kLimitReached = 15;  // ib_event_type
  const auto event = structFrom<ib_uverbs_async_event_desc>(record);
  return (event.event_type == kSrqError || event.event_type == kLimitReached) && event.element == srq.userHandle;
}

using SrqDestroyed = std::function<void(const ib_uverbs_destroy_srq_resp&)>;

void destroy(UverbsContext& context, const Call& call, std::uint32_t handle, SrqDestroyed destroyed) {
  call->note("srq_handle", handle);
  const auto srq = context.srqs.find(handle);
  if (srq == nullptr) return call->finish(EINVAL);
  if (srq->users != 0) return call->finish(EBUSY);
  context.driver.destroySrq(
      context.owner, srq->number,
      [&context, call, srq, handle, destroyed = std::move(destroyed)](const driver::Answer<int>& answer) {
        if (!answer.ok()) return call->finish(errnoOf(answer.result));
        countReferences(*srq, std::uint32_t(-1));
        context.srqs.remove(handle);
        if (context.asyncEvents != nullptr) {
          srq->events.async -= static_cast<std::uint32_t>(
              context.asyncEvents->purge([&srq](ByteView record) { return isEventOf(*srq, record); }));
        }
        destroyed(ib_uverbs_destroy_srq_resp{srq->events.async});
        call->finish(0);
      });
}

}  // namespace

void createSrq(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_create_srq>();
  ib_uverbs_create_xsrq wanted{};
  wanted.user_handle = in.user_handle;
  wanted.srq_type = kBasic;
  wanted.pd_handle = in.pd_handle;
  wanted.max_wr = in.max_wr;
  wanted.max_sge = in.max_sge;
  create(context, call, wanted);
}

void createSrqExtended(UverbsContext& context, const Call& call) {
  create(context, call, call->core<ib_uverbs_create_xsrq>());
}

void createSrqNative(UverbsContext& context, const Call& call) {
  const auto number = [&call](unsigned id) { return static_cast<std::uint32_t>(call->ioctl.number(id).value_or(0)); };
  ib_uverbs_create_xsrq wanted{};
  wanted.user_handle = call->ioctl.number(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE).value_or(0);
  wanted.srq_type = number(UVERBS_ATTR_CREATE_SRQ_TYPE);
  wanted.pd_handle = number(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE);
  wanted.max_wr = number(UVERBS_ATTR_CREATE_SRQ_MAX_WR);
  wanted.max_sge = number(UVERBS_ATTR_CREATE_SRQ_MAX_SGE);
  wanted.srq_limit = number(UVERBS_ATTR_CREATE_SRQ_LIMIT);
  wanted.max_num_tags = number(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS);
  wanted.xrcd_handle = number(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE);
  wanted.cq_handle = number(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE);
  create(context, call, wanted);
}

void destroySrqNative(UverbsContext& context, const Call& call) {
  const auto handle = call->ioctl.number(UVERBS_ATTR_DESTROY_SRQ_HANDLE).value_or(0);
  destroy(context, call, static_cast<std::uint32_t>(handle), [call](const ib_uverbs_destroy_srq_resp& answer) {
    call->answerAttribute(UVERBS_ATTR_DESTROY_SRQ_RESP, answer);
  });
}

void modifySrq(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_modify_srq>();
  call->note("srq_handle", in.srq_handle);
  call->note("attr_mask", in.attr_mask);
  call->note("srq_limit", in.srq_limit);
  const auto srq = context.srqs.find(in.srq_handle);
  constexpr std::uint32_t kSize = 1, kLimit = 2;  // ib_srq_attr_mask
  if (srq == nullptr || (in.attr_mask & ~(kSize | kLimit)) != 0) return call->finish(EINVAL);
  if ((in.attr_mask & kSize) != 0) return call->finish(EINVAL);  // the adapter can't resize it
  if ((in.attr_mask & kLimit) == 0) return call->finish(0);
  if (in.srq_limit >= 1U << srq->attributes.logSize) return call->finish(EINVAL);
  context.driver.armSrq(context.owner, srq->number, static_cast<std::uint16_t>(in.srq_limit),
                        [call](const driver::Answer<int>& answer) { call->finish(errnoOf(answer.result)); });
}

void querySrq(UverbsContext& context, const Call& call) {
  const auto srq = context.srqs.find(call->core<ib_uverbs_query_srq>().srq_handle);
  if (srq == nullptr) return call->finish(EINVAL);
  context.driver.querySrq(context.owner, srq->number,
                          [srq, call](const driver::Answer<adapter::SrqAttributes>& answer) {
                            if (!answer.ok()) return call->finish(errnoOf(answer.result));
                            ib_uverbs_query_srq_resp own{};
                            own.max_wr = (1U << srq->attributes.logSize) - 1;
                            own.max_sge = srq->maxSge;
                            own.srq_limit = answer.value.limit;
                            call->answerCore(own);
                            call->finish(0);
                          });
}

void destroySrq(UverbsContext& context, const Call& call) {
  destroy(context, call, call->core<ib_uverbs_destroy_srq>().srq_handle,
          [call](const ib_uverbs_destroy_srq_resp& answer) { call->answerCore(answer); });
}

}  // namespace hca::cosim
