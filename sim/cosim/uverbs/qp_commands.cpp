// Queue pairs: creation and end.
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"
#include "sim/cosim/uverbs/powers_of_two.h"
#include "sim/cosim/uverbs/raw_packets.h"

namespace hca::cosim {
namespace {

// enum ib_qp_type of the kernel, as the programs use it.
enum QpType : std::uint8_t { kRc = 2, kUc = 3, kUd = 4, kXrcSend = 9, kXrcReceive = 10, kOfDriver = 0xFF };

// What the flags of the library make of kOfDriver.
std::uint8_t typeOf(const ib_uverbs_ex_create_qp& wanted, const mlx5_ib_create_qp& own) {
  if (wanted.qp_type != kOfDriver) return wanted.qp_type;
  if ((own.flags & MLX5_QP_FLAG_TYPE_DCI) != 0) return UserQp::kDci;
  return (own.flags & MLX5_QP_FLAG_TYPE_DCT) != 0 ? UserQp::kDct : std::uint8_t{kOfDriver};
}

constexpr std::uint32_t kBlockMulticastLoopback = 1U << 1;  // ib_uverbs_qp_create_flags

bool isXrc(const UserQp& qp) { return qp.type == kXrcSend || qp.type == kXrcReceive; }

std::optional<adapter::QpService> serviceOf(const driver::DeviceCapabilities& device, std::uint8_t type) {
  switch (type) {
    case kRc:
      return adapter::QpService::kRc;
    case kUc:
      if (!device.uc) return std::nullopt;
      return adapter::QpService::kUc;
    case kUd:
      if (!device.ud) return std::nullopt;
      return adapter::QpService::kUd;
    case kXrcSend:
    case kXrcReceive:
      return adapter::QpService::kXrc;
    case UserQp::kDci:
      if (!device.dynamicConnections) return std::nullopt;
      return adapter::QpService::kDci;
    case UserQp::kDct:
      if (!device.dynamicConnections) return std::nullopt;
      return adapter::QpService::kDct;
    case kRawPacketType:
      if (!device.ethernet.offered) return std::nullopt;
      return adapter::QpService::kRaw;
    default:
      return std::nullopt;
  }
}

// What the command names by handles. 0, or the errno.
int setReferences(UverbsContext& context, const ib_uverbs_ex_create_qp& wanted, UserQp& qp) {
  if (wanted.qp_type == kXrcReceive) {
    qp.xrcd = context.xrcds.find(wanted.pd_handle);  // takes the domain's handle in this place
    return qp.xrcd == nullptr ? EINVAL : 0;
  }
  qp.pd = context.pds.find(wanted.pd_handle);
  qp.sendCq = context.cqs.find(wanted.send_cq_handle);
  qp.receiveCq = wanted.qp_type == kXrcSend ? qp.sendCq : context.cqs.find(wanted.recv_cq_handle);
  if (qp.pd == nullptr || qp.sendCq == nullptr || qp.receiveCq == nullptr) return EINVAL;
  if (wanted.is_srq == 0 || wanted.qp_type == kXrcSend) return 0;
  qp.srq = context.srqs.find(wanted.srq_handle);
  return qp.srq == nullptr || qp.srq->attributes.kind == adapter::SrqKind::kXrc ? EINVAL : 0;
}

// 0, or the errno.
int setQueues(const UverbsContext& context, const mlx5_ib_create_qp& own, UserQp& qp) {
  const driver::QueueLimits& limits = context.driver.capabilities().limits;
  adapter::QpAttributes& attributes = qp.attributes;
  const bool receives = !isXrc(qp) && qp.srq == nullptr && own.rq_wqe_count != 0;
  if (own.sq_wqe_count != 0 && (!isPowerOfTwo(own.sq_wqe_count) || own.sq_wqe_count > limits.maxQueueEntries)) {
    return EINVAL;
  }
  attributes.hasSendQueue = own.sq_wqe_count != 0;
  attributes.logSendQueueSize = attributes.hasSendQueue ? logOf(own.sq_wqe_count) : 0;
  // What the stock driver does with a queue pair that leaves its send queue to tag matching (Linux
  // drivers/infiniband/hw/mlx5/qp.c, create_user_qp).
  const bool matchesTags = qp.srq != nullptr && qp.srq->attributes.kind == adapter::SrqKind::kTagMatching;
  attributes.offersRendezvous = matchesTags && !attributes.hasSendQueue;
  attributes.receiveQueueType = adapter::RqType::kNone;
  if (qp.type == UserQp::kDci) return 0;
  if (qp.type == UserQp::kDct && qp.srq == nullptr) return EINVAL;
  if (qp.srq != nullptr || isXrc(qp)) attributes.receiveQueueType = adapter::RqType::kSrq;
  if (!receives) return 0;
  constexpr std::uint32_t kSmallestShift = 4, kLargestShift = 11;
  if (!isPowerOfTwo(own.rq_wqe_count) || own.rq_wqe_count > limits.maxQueueEntries) return EINVAL;
  if (own.rq_wqe_shift < kSmallestShift || own.rq_wqe_shift > kLargestShift) return EINVAL;
  attributes.receiveQueueType = adapter::RqType::kOwn;
  attributes.logReceiveQueueSize = logOf(own.rq_wqe_count);
  attributes.logReceiveStride = static_cast<std::uint8_t>(own.rq_wqe_shift);
  return 0;
}

// 0, or the errno.
int setMemory(CallingProcess& process, const mlx5_ib_create_qp& own, UserQp& qp) {
  constexpr std::uint64_t kBlock = 64;
  if (!qp.hasMemory()) return 0;
  const adapter::QpAttributes& set = qp.attributes;
  std::uint64_t length = own.sq_wqe_count * kBlock;
  if (set.receiveQueueType == adapter::RqType::kOwn) length += std::uint64_t{own.rq_wqe_count} << own.rq_wqe_shift;
  qp.record = process.pin(own.db_addr, 8);
  if (qp.record == nullptr) return EFAULT;
  qp.attributes.doorbellRecord = qp.record->bus();
  if (qp.type == kRawPacketType && set.hasSendQueue) {
    const std::uint64_t sends = own.sq_wqe_count * kBlock;
    length -= sends;
    qp.sendBuffer = process.pin(own.sq_buf_addr, sends);
    if (qp.sendBuffer == nullptr) return EFAULT;
  }
  if (length == 0) return 0;
  qp.buffer = process.pin(own.buf_addr, length);
  if (qp.buffer == nullptr) return EFAULT;
  qp.attributes.buffer = qp.buffer->pages();
  return 0;
}

// Linux drivers/infiniband/hw/mlx5/qp.c, configure_requester_scat_cqe and configure_responder_scat_cqe.
void setInlineScatter(const mlx5_ib_create_qp& own, UserQp& qp) {
  constexpr std::uint8_t kRequester32 = 0x11, kRequester64 = 0x22, kResponder32 = 1, kResponder64 = 2;
  constexpr std::uint32_t kWideEntry = 128;
  if ((own.flags & MLX5_QP_FLAG_SCATTER_CQE) == 0 || qp.receiveCq == nullptr) return;
  if (qp.type == kRc || qp.type == kUc) {
    qp.attributes.responderInlineScatter = qp.receiveCq->entryBytes == kWideEntry ? kResponder64 : kResponder32;
  }
  const bool always = (own.flags & MLX5_QP_FLAG_ALLOW_SCATTER_CQE) != 0;
  if ((qp.type == kRc || qp.type == UserQp::kDci) && (qp.signalsAll || always)) {
    qp.attributes.requesterInlineScatter = qp.sendCq->entryBytes == kWideEntry ? kRequester64 : kRequester32;
  }
}

// The register by which the queue pair is rung. 0, or the errno.
int setRegister(UverbsContext& context, const mlx5_ib_create_qp& own, UserQp& qp) {
  constexpr std::uint32_t kDynamic = MLX5_QP_FLAG_BFREG_INDEX;
  if ((own.flags & MLX5_QP_FLAG_UAR_PAGE_INDEX) != 0) {
    qp.attributes.uar = UarIndex(own.bfreg_index);
    return context.hasUar(qp.attributes.uar) ? 0 : EINVAL;
  }
  if (context.blueFlame == nullptr) return EINVAL;
  if ((own.flags & kDynamic) != 0) {
    // Counted on behind those of the fixed pages.
    const std::size_t page =
        context.blueFlame->total() / BlueFlameRegisters::kPerPage + own.bfreg_index / BlueFlameRegisters::kPerPage;
    if (page >= context.uars.size()) return EINVAL;
    qp.attributes.uar = context.uars[page];
    return 0;
  }
  qp.blueFlameRegister = context.blueFlame->take();
  qp.ownsBlueFlameRegister = true;
  qp.attributes.uar = context.uars[BlueFlameRegisters::pageOf(qp.blueFlameRegister)];
  return 0;
}

void giveRegisterBack(UverbsContext& context, const UserQp& qp) {
  if (qp.ownsBlueFlameRegister) context.blueFlame->give(qp.blueFlameRegister);
}

void countReferences(const UserQp& qp, std::uint32_t change) {
  if (qp.pd != nullptr) qp.pd->users += change;
  if (qp.xrcd != nullptr) qp.xrcd->users += change;
  if (qp.srq != nullptr) qp.srq->users += change;
  if (qp.spread != nullptr) qp.spread->users += change;
  if (qp.sendCq != nullptr) qp.sendCq->users += change;
  if (qp.receiveCq != nullptr) qp.receiveCq->users += change;
}

void setNumbers(const UverbsContext& context, const mlx5_ib_create_qp& own, UserQp& qp) {
  qp.attributes.userIndex = context.cqeVersion == 0 ? adapter::kNoUserIndex : own.uidx;
  if (qp.pd != nullptr) qp.attributes.pd = qp.pd->number;
  if (qp.sendCq != nullptr) qp.attributes.sendCq = qp.sendCq->number;
  if (qp.receiveCq != nullptr) qp.attributes.receiveCq = qp.receiveCq->number;
  if (qp.srq != nullptr) qp.attributes.srq = qp.srq->number;
  if (qp.xrcd != nullptr) qp.attributes.domain = qp.xrcd->number;
}

// Of a receive queue what there is, of a send queue what was asked for: its library knows better.
void setCapacity(const ib_uverbs_ex_create_qp& wanted, const mlx5_ib_create_qp& own, UserQp& qp) {
  constexpr std::uint32_t kSegment = 16;
  const bool receives = qp.attributes.receiveQueueType == adapter::RqType::kOwn;
  qp.capacity.max_send_wr = wanted.max_send_wr;
  qp.capacity.max_recv_wr = receives ? own.rq_wqe_count : 0;
  qp.capacity.max_send_sge = wanted.max_send_sge;
  qp.capacity.max_recv_sge = receives ? (1U << own.rq_wqe_shift) / kSegment : 0;
  qp.capacity.max_inline_data = wanted.max_inline_data;
}

using QpAnswered = std::function<void(const ib_uverbs_create_qp_resp&)>;

void finishCreate(UverbsContext& context, const Call& call, const std::shared_ptr<UserQp>& qp,
                  const QpAnswered& answered) {
  countReferences(*qp, 1);
  if (qp->type == kXrcReceive) context.shares.targets.add(context.device.adapter, qp);
  qp->capacity.qp_handle = context.qps.add(qp);
  qp->capacity.qpn = qp->number.value();
  call->noteAnswer("qp_handle", qp->capacity.qp_handle);
  call->noteAnswer("qpn", qp->capacity.qpn);
  answered(qp->capacity);
  mlx5_ib_create_qp_resp own{};
  own.bfreg_index = BlueFlameRegisters::libraryNumber(qp->blueFlameRegister);
  call->answerDriver(own);
  call->finish(0);
}

void execute(UverbsContext& context, const Call& call, const std::shared_ptr<UserQp>& qp, QpAnswered answered) {
  if (qp->type == kRawPacketType) {
    return createRawPacketQp(
        context, call, qp,
        [&context, call, qp, answered = std::move(answered)] { finishCreate(context, call, qp, answered); },
        [&context, qp] { giveRegisterBack(context, *qp); });
  }
  context.driver.createQp(context.owner, qp->attributes,
                          [&context, call, qp, answered = std::move(answered)](const driver::Answer<QpNumber>& answer) {
                            if (!answer.ok()) {
                              giveRegisterBack(context, *qp);
                              return call->finish(errnoOf(answer.result));
                            }
                            qp->number = answer.value;
                            finishCreate(context, call, qp, answered);
                          });
}

void noteRequest(CommandCall& call, const ib_uverbs_ex_create_qp& wanted) {
  call.note("qp_type", wanted.qp_type);
  call.note("pd_handle", wanted.pd_handle);
  call.note("send_cq_handle", wanted.send_cq_handle);
  call.note("recv_cq_handle", wanted.recv_cq_handle);
  if (wanted.is_srq != 0) call.note("srq_handle", wanted.srq_handle);
  call.note("max_send_wr", wanted.max_send_wr);
  call.note("max_recv_wr", wanted.max_recv_wr);
  call.note("max_send_sge", wanted.max_send_sge);
  call.note("max_recv_sge", wanted.max_recv_sge);
  call.note("max_inline_data", wanted.max_inline_data);
  call.note("sq_sig_all", wanted.sq_sig_all);
  call.note("create_flags", wanted.create_flags);
}

std::uint32_t knownFlags(std::uint8_t type) {
  // The block concerns multicast groups, which raw packets don't join: taken, as by the stock driver, without effect.
  if (type == kRawPacketType) return RawFlags::kQpStripVlan | RawFlags::kQpScatterFcs | kBlockMulticastLoopback;
  return type == kUd ? kBlockMulticastLoopback : 0;
}

void createWith(UverbsContext& context, const Call& call, const ib_uverbs_ex_create_qp& wanted, QpAnswered answered) {
  if (!context.isOpen) return call->finish(EINVAL);
  const auto own = call->driver<mlx5_ib_create_qp>();
  noteRequest(*call, wanted);
  auto qp = std::make_shared<UserQp>();
  qp->type = typeOf(wanted, own);
  const auto service = serviceOf(context.driver.capabilities(), qp->type);
  if (!service || (wanted.create_flags & ~knownFlags(wanted.qp_type)) != 0) return call->finish(EOPNOTSUPP);
  qp->attributes.blockMulticastLoopback = (wanted.create_flags & kBlockMulticastLoopback) != 0;
  qp->attributes.stripVlan = (wanted.create_flags & RawFlags::kQpStripVlan) != 0;
  qp->attributes.scatterFcs = (wanted.create_flags & RawFlags::kQpScatterFcs) != 0;
  qp->attributes.service = *service;
  qp->signalsAll = wanted.sq_sig_all != 0;
  int error = setReferences(context, wanted, *qp);
  if (error == 0) error = setQueues(context, own, *qp);
  const bool isRaw = qp->type == kRawPacketType;
  const bool isEmpty = !qp->attributes.hasSendQueue && qp->attributes.receiveQueueType != adapter::RqType::kOwn;
  if (error == 0 && isRaw && (isEmpty || qp->srq != nullptr)) error = EINVAL;
  if (error == 0) error = setMemory(*call->process, own, *qp);
  if (error == 0 && qp->hasMemory()) error = setRegister(context, own, *qp);
  if (error != 0) return call->finish(error);
  if (qp->buffer != nullptr) call->noteRegion("buf", *qp->buffer);
  if (qp->record != nullptr) call->noteRegion("db", *qp->record);
  qp->userHandle = wanted.user_handle;
  setNumbers(context, own, *qp);
  setInlineScatter(own, *qp);
  setCapacity(wanted, own, *qp);
  qp->attributes.accessKey = qp->type == UserQp::kDct ? own.access_key : 0;
  // The adapter makes a target when it is to receive; only then it has a number.
  if (qp->type == UserQp::kDct) return finishCreate(context, call, qp, answered);
  execute(context, call, qp, std::move(answered));
}

bool isEventOf(const UserQp& qp, ByteView record) {
  constexpr std::uint32_t kFirst = 1, kLast = 7, kLastWqe = 16;  // ib_event_type: those of queue pairs
  const auto event = structFrom<ib_uverbs_async_event_desc>(record);
  const bool isOfQp = (event.event_type >= kFirst && event.event_type <= kLast) || event.event_type == kLastWqe;
  return isOfQp && event.element == qp.userHandle;
}

using Destroyed = std::function<void(const ib_uverbs_destroy_qp_resp&)>;

void finishDestroy(UverbsContext& context, const Call& call, const UserQp& qp, std::uint32_t handle,
                   const Destroyed& destroyed) {
  countReferences(qp, std::uint32_t(-1));
  giveRegisterBack(context, qp);
  std::uint32_t reported = qp.events.async;
  if (context.asyncEvents != nullptr) {
    reported -= static_cast<std::uint32_t>(
        context.asyncEvents->purge([&qp](ByteView record) { return isEventOf(qp, record); }));
  }
  context.qps.remove(handle);
  destroyed(ib_uverbs_destroy_qp_resp{reported});
  call->finish(0);
}

void destroyTarget(UverbsContext& context, const Call& call, const std::shared_ptr<UserQp>& qp, std::uint32_t handle,
                   const Destroyed& destroyed) {
  if (qp->number == QpNumber()) return finishDestroy(context, call, *qp, handle, destroyed);
  context.driver.destroyDct(context.owner, qp->number,
                            [&context, call, qp, handle, destroyed](const driver::Answer<int>& answer) {
                              if (!answer.ok()) return call->finish(errnoOf(answer.result));
                              finishDestroy(context, call, *qp, handle, destroyed);
                            });
}

// Reset first, so that no completion of it is written any more; then the library drops those that nobody polled.
void destroy(UverbsContext& context, const Call& call, std::uint32_t handle, Destroyed destroyed) {
  call->note("qp_handle", handle);
  const auto qp = context.qps.find(handle);
  if (qp == nullptr) return call->finish(EINVAL);
  if (!qp->groups.empty() || qp->flows != 0) return call->finish(EBUSY);
  if (qp->type == UserQp::kDct) return destroyTarget(context, call, qp, handle, destroyed);
  if (qp->type == kRawPacketType) {
    return destroyRawPacketQp(context, qp, [&context, call, qp, handle, destroyed = std::move(destroyed)](int error) {
      if (error != 0) return call->finish(error);
      finishDestroy(context, call, *qp, handle, destroyed);
    });
  }
  const auto end = [&context, call, qp, handle, destroyed = std::move(destroyed)](const driver::Answer<int>&) {
    context.driver.destroyQp(context.owner, qp->number,
                             [&context, call, qp, handle, destroyed](const driver::Answer<int>& answer) {
                               if (!answer.ok()) return call->finish(errnoOf(answer.result));
                               finishDestroy(context, call, *qp, handle, destroyed);
                             });
  };
  // One that others have open goes on.
  const bool isOthersToo =
      qp->type == kXrcReceive && context.shares.targets.handles(context.device.adapter, qp->number) > 1;
  if (isOthersToo) return end({});
  context.driver.modifyQp(context.owner, qp->number, adapter::QpTransition::kToReset, 0, qp->attributes, end);
}

}  // namespace

void createQp(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_create_qp>();
  ib_uverbs_ex_create_qp wanted{};
  wanted.user_handle = in.user_handle;
  wanted.pd_handle = in.pd_handle;
  wanted.send_cq_handle = in.send_cq_handle;
  wanted.recv_cq_handle = in.recv_cq_handle;
  wanted.srq_handle = in.srq_handle;
  wanted.max_send_wr = in.max_send_wr;
  wanted.max_recv_wr = in.max_recv_wr;
  wanted.max_send_sge = in.max_send_sge;
  wanted.max_recv_sge = in.max_recv_sge;
  wanted.max_inline_data = in.max_inline_data;
  wanted.sq_sig_all = in.sq_sig_all;
  wanted.qp_type = in.qp_type;
  wanted.is_srq = in.is_srq;
  createWith(context, call, wanted, [call](const ib_uverbs_create_qp_resp& answer) { call->answerCore(answer); });
}

void createQpExtended(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_ex_create_qp>();
  const auto answered = [call](const ib_uverbs_create_qp_resp& base) {
    ib_uverbs_ex_create_qp_resp answer{};
    answer.base = base;
    answer.response_length = static_cast<std::uint32_t>(std::min(sizeof answer, call->coreRoom()));
    call->answerCore(answer);
  };
  if (in.comp_mask == IB_UVERBS_CREATE_QP_MASK_IND_TABLE) return createSpreadQp(context, call, in, answered);
  if (in.comp_mask != 0) return call->finish(EOPNOTSUPP);
  createWith(context, call, in, answered);
}

void createQpNative(UverbsContext& context, const Call& call) {
  const IoctlRequest& in = call->ioctl;
  const auto handle = [&in](unsigned id) { return static_cast<std::uint32_t>(in.number(id).value_or(0)); };
  const std::uint32_t flags = handle(UVERBS_ATTR_CREATE_QP_FLAGS);
  ib_uverbs_qp_cap capacity{};
  const std::vector<std::uint8_t> bytes = in.bytes(UVERBS_ATTR_CREATE_QP_CAP);
  if (bytes.size() < sizeof capacity) return call->finish(EINVAL);
  std::memcpy(&capacity, bytes.data(), sizeof capacity);
  ib_uverbs_ex_create_qp wanted{};
  wanted.user_handle = in.number(UVERBS_ATTR_CREATE_QP_USER_HANDLE).value_or(0);
  wanted.qp_type = static_cast<std::uint8_t>(handle(UVERBS_ATTR_CREATE_QP_TYPE));
  const bool isTarget = wanted.qp_type == kXrcReceive;
  wanted.pd_handle = handle(isTarget ? UVERBS_ATTR_CREATE_QP_XRCD_HANDLE : UVERBS_ATTR_CREATE_QP_PD_HANDLE);
  wanted.send_cq_handle = handle(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
  wanted.recv_cq_handle = handle(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
  wanted.srq_handle = handle(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
  wanted.is_srq = in.has(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE) ? 1 : 0;
  wanted.max_send_wr = capacity.max_send_wr;
  wanted.max_recv_wr = capacity.max_recv_wr;
  wanted.max_send_sge = capacity.max_send_sge;
  wanted.max_recv_sge = capacity.max_recv_sge;
  wanted.max_inline_data = capacity.max_inline_data;
  wanted.sq_sig_all = (flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL) != 0 ? 1 : 0;
  wanted.create_flags = flags & ~std::uint32_t{IB_UVERBS_QP_CREATE_SQ_SIG_ALL};
  const auto answered = [call](const ib_uverbs_create_qp_resp& answer) {
    const ib_uverbs_qp_cap made{answer.max_send_wr, answer.max_recv_wr, answer.max_send_sge, answer.max_recv_sge,
                                answer.max_inline_data};
    call->answerAttribute(UVERBS_ATTR_CREATE_QP_RESP_CAP, made);
    call->answerAttribute(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, answer.qpn);
    (void)call->ioctl.answerInline(UVERBS_ATTR_CREATE_QP_HANDLE, answer.qp_handle);
  };
  if (!in.has(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE)) return createWith(context, call, wanted, answered);
  wanted.rwq_ind_tbl_handle = handle(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE);
  createSpreadQp(context, call, wanted, answered);
}

void destroyQp(UverbsContext& context, const Call& call) {
  destroy(context, call, call->core<ib_uverbs_destroy_qp>().qp_handle,
          [call](const ib_uverbs_destroy_qp_resp& answer) { call->answerCore(answer); });
}

void destroyQpNative(UverbsContext& context, const Call& call) {
  const auto handle = call->ioctl.number(UVERBS_ATTR_DESTROY_QP_HANDLE);
  destroy(
      context, call, static_cast<std::uint32_t>(handle.value_or(0)),
      [call](const ib_uverbs_destroy_qp_resp& answer) { call->answerAttribute(UVERBS_ATTR_DESTROY_QP_RESP, answer); });
}

}  // namespace hca::cosim
