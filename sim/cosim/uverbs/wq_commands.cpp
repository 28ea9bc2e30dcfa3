// Work queues, indirection tables, and queue pairs that spread what they receive over them. Linux
// drivers/infiniband/core/uverbs_cmd.c (ib_uverbs_ex_create_wq and the next), drivers/infiniband/hw/mlx5/qp.c.
#include <rdma/mlx5-abi.h>

#include <utility>

#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"
#include "sim/cosim/uverbs/powers_of_two.h"
#include "sim/cosim/uverbs/raw_packets.h"

namespace hca::cosim {
namespace {

using driver::EthernetObject;
using wire::WorkQueueState;

template <class Response>
void finishWith(const Call& call, Response answer) {
  answer.response_length = static_cast<std::uint32_t>(std::min(sizeof answer, call->coreRoom()));
  call->answerCore(answer);
  call->finish(0);
}

// What mlx5dv_create_wq adds (prepare_user_rq). 0, or the errno.
int setStriding(const UverbsContext& context, const mlx5_ib_create_wq& own, adapter::QpAttributes& queue) {
  using Layout = adapter::StridingLayout;
  if ((own.comp_mask & ~std::uint32_t{MLX5_IB_CREATE_WQ_STRIDING_RQ}) != 0) return EOPNOTSUPP;
  if (own.comp_mask == 0) return 0;
  if (!context.driver.capabilities().striding) return EOPNOTSUPP;
  const std::uint32_t size = own.single_stride_log_num_of_bytes, count = own.single_wqe_log_num_of_strides;
  if (size < Layout::kLogSmallest || size > Layout::kLogLargest) return EINVAL;
  if (count < Layout::kLogFewest || count > Layout::kLogMost) return EINVAL;
  queue.workQueueType = wire::WorkQueueContext::kCyclicStriding;
  queue.striding.isOn = true;
  queue.striding.shifts = own.two_byte_shift_en != 0;
  queue.striding.logSize = static_cast<std::uint8_t>(size);
  queue.striding.logCount = static_cast<std::uint8_t>(count);
  return 0;
}

// 0, or the errno.
int setWorkQueue(UverbsContext& context, CallingProcess& process, const ib_uverbs_ex_create_wq& in,
                 const mlx5_ib_create_wq& own, UserWq& wq) {
  constexpr std::uint32_t kSmallestShift = 4, kLargestShift = 11, kReceive = 0;
  const std::uint32_t known = RawFlags::kWqStripVlan | RawFlags::kWqScatterFcs;
  const driver::QueueLimits& limits = context.driver.capabilities().limits;
  if (in.comp_mask != 0 || own.flags != 0 || (in.create_flags & ~known) != 0) return EOPNOTSUPP;
  wq.pd = context.pds.find(in.pd_handle);
  wq.cq = context.cqs.find(in.cq_handle);
  if (in.wq_type != kReceive || wq.pd == nullptr || wq.cq == nullptr) return EINVAL;
  if (!isPowerOfTwo(own.rq_wqe_count) || own.rq_wqe_count > limits.maxQueueEntries) return EINVAL;
  if (own.rq_wqe_shift < kSmallestShift || own.rq_wqe_shift > kLargestShift) return EINVAL;
  wq.record = process.pin(own.db_addr, 8);
  wq.ring = process.pin(own.buf_addr, std::uint64_t{own.rq_wqe_count} << own.rq_wqe_shift);
  if (wq.record == nullptr || wq.ring == nullptr) return EFAULT;
  adapter::QpAttributes& queue = wq.attributes;
  if (const int error = setStriding(context, own, queue); error != 0) return error;
  queue.pd = wq.pd->number;
  queue.receiveCq = wq.cq->number;
  queue.userIndex = own.user_index;
  queue.logReceiveQueueSize = logOf(own.rq_wqe_count);
  queue.logReceiveStride = static_cast<std::uint8_t>(own.rq_wqe_shift);
  queue.buffer = wq.ring->pages();
  queue.doorbellRecord = wq.record->bus();
  queue.stripVlan = (in.create_flags & RawFlags::kWqStripVlan) != 0;
  queue.scatterFcs = (in.create_flags & RawFlags::kWqScatterFcs) != 0;
  return 0;
}

// States as verbs number them, to those of the adapter; kBad: there is none.
constexpr std::uint32_t kWqReset = 0, kWqReady = 1, kWqError = 2;
WorkQueueState stateOf(std::uint32_t verbs) {
  return verbs == kWqReset   ? WorkQueueState::kReset
         : verbs == kWqReady ? WorkQueueState::kReady
                             : WorkQueueState::kError;
}

bool isEventOfWq(const UserWq& wq, ByteView record) {
  constexpr std::uint32_t kWqFatal = 19;
  const auto event = structFrom<ib_uverbs_async_event_desc>(record);
  return event.event_type == kWqFatal && event.element == wq.userHandle;
}

// What may be hashed at once, and how (create_rss_raw_qp_tir). 0, or the errno.
int setHash(const mlx5_ib_create_qp_rss& own, std::size_t queues, adapter::ReceiveHash& hash) {
  constexpr std::uint64_t kIpv4 = MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_DST_IPV4;
  constexpr std::uint64_t kIpv6 = MLX5_RX_HASH_SRC_IPV6 | MLX5_RX_HASH_DST_IPV6;
  constexpr std::uint64_t kTcp = MLX5_RX_HASH_SRC_PORT_TCP | MLX5_RX_HASH_DST_PORT_TCP;
  constexpr std::uint64_t kUdp = MLX5_RX_HASH_SRC_PORT_UDP | MLX5_RX_HASH_DST_PORT_UDP;
  const std::uint64_t fields = own.rx_hash_fields_mask;
  if ((fields & ~(kIpv4 | kIpv6 | kTcp | kUdp)) != 0) return EOPNOTSUPP;
  // Without fields such a queue pair is another way to a single queue.
  if (fields == 0) return queues == 1 ? 0 : EINVAL;
  if (own.rx_hash_function != MLX5_RX_HASH_FUNC_TOEPLITZ) return EOPNOTSUPP;
  if (own.rx_key_len != adapter::ReceiveHash::kKeySize) return EINVAL;
  if (((fields & kIpv4) != 0 && (fields & kIpv6) != 0) || ((fields & kTcp) != 0 && (fields & kUdp) != 0)) return EINVAL;
  // Ports are found behind an address of one kind alone: without any, of IPv4 as with the stock driver.
  hash.function = adapter::ReceiveHash::Function::kToeplitz;
  hash.symmetric = true;
  hash.ipv6 = (fields & kIpv6) != 0;
  hash.udp = (fields & kUdp) != 0;
  const auto has = [fields](std::uint64_t bits) { return (fields & bits) != 0; };
  if (has(MLX5_RX_HASH_SRC_IPV4 | MLX5_RX_HASH_SRC_IPV6)) hash.fields |= adapter::ReceiveHash::kSource;
  if (has(MLX5_RX_HASH_DST_IPV4 | MLX5_RX_HASH_DST_IPV6)) hash.fields |= adapter::ReceiveHash::kDestination;
  if (has(MLX5_RX_HASH_SRC_PORT_TCP | MLX5_RX_HASH_SRC_PORT_UDP)) hash.fields |= adapter::ReceiveHash::kSourcePort;
  if (has(MLX5_RX_HASH_DST_PORT_TCP | MLX5_RX_HASH_DST_PORT_UDP)) hash.fields |= adapter::ReceiveHash::kDestinationPort;
  std::copy_n(std::begin(own.rx_hash_key), hash.key.size(), hash.key.begin());
  return 0;
}

}  // namespace

void createWq(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_ex_create_wq>();
  const auto own = call->driver<mlx5_ib_create_wq>();
  call->note("pd_handle", in.pd_handle);
  call->note("cq_handle", in.cq_handle);
  call->note("max_wr", in.max_wr);
  call->note("create_flags", in.create_flags);
  if (context.driver.ethernet() == nullptr) return call->finish(EOPNOTSUPP);
  const auto wq = std::make_shared<UserWq>();
  if (const int error = setWorkQueue(context, *call->process, in, own, *wq); error != 0) return call->finish(error);
  call->noteRegion("buf", *wq->ring);
  call->noteRegion("db", *wq->record);
  wq->userHandle = in.user_handle;
  context.driver.ethernet()->createReceiveQueue(context.owner, wq->attributes,
                                                [&context, call, wq, in](const driver::Answer<QpNumber>& answer) {
                                                  if (!answer.ok()) return call->finish(errnoOf(answer.result));
                                                  wq->number = answer.value;
                                                  ++wq->pd->users;
                                                  ++wq->cq->users;
                                                  ib_uverbs_ex_create_wq_resp out{};
                                                  out.wq_handle = context.wqs.add(wq);
                                                  out.max_wr = in.max_wr;
                                                  out.max_sge = in.max_sge;
                                                  out.wqn = answer.value.value();
                                                  call->noteAnswer("wq_handle", out.wq_handle);
                                                  call->noteAnswer("wqn", out.wqn);
                                                  mlx5_ib_create_wq_resp driverOut{};
                                                  driverOut.response_length = sizeof driverOut;
                                                  call->answerDriver(driverOut);
                                                  finishWith(call, out);
                                                });
}

void modifyWq(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_ex_modify_wq>();
  constexpr std::uint32_t kState = 1, kCurrentState = 2, kFlags = 4;
  call->note("wq_handle", in.wq_handle);
  call->note("attr_mask", in.attr_mask);
  const auto wq = context.wqs.find(in.wq_handle);
  if (wq == nullptr || in.attr_mask == 0 || (in.attr_mask & ~(kState | kCurrentState | kFlags)) != 0) {
    return call->finish(EINVAL);
  }
  if (((in.attr_mask & kState) != 0 && in.wq_state > kWqError) ||
      ((in.attr_mask & kCurrentState) != 0 && in.curr_wq_state > kWqError)) {
    return call->finish(EINVAL);
  }
  driver::WorkQueueChange change;
  change.from = (in.attr_mask & kCurrentState) != 0 ? stateOf(in.curr_wq_state) : wq->state;
  change.to = (in.attr_mask & kState) != 0 ? stateOf(in.wq_state) : change.from;
  if ((in.attr_mask & kState) != 0) call->note("wq_state", in.wq_state);
  if ((in.attr_mask & kFlags) != 0) {
    // Of the flags this one alone can change (mlx5_ib_modify_wq).
    if ((in.flags_mask & ~RawFlags::kWqStripVlan) != 0) return call->finish(EOPNOTSUPP);
    if ((in.flags_mask & RawFlags::kWqStripVlan) != 0) change.stripVlan = (in.flags & RawFlags::kWqStripVlan) != 0;
  }
  context.driver.ethernet()->modifyWorkQueue(context.owner, EthernetObject::kReceiveQueue, wq->number, change,
                                             [call, wq, to = change.to](const driver::Answer<int>& answer) {
                                               if (answer.ok()) wq->state = to;
                                               call->finish(errnoOf(answer.result));
                                             });
}

void destroyWq(UverbsContext& context, const Call& call) {
  const std::uint32_t handle = call->core<ib_uverbs_ex_destroy_wq>().wq_handle;
  call->note("wq_handle", handle);
  const auto wq = context.wqs.find(handle);
  if (wq == nullptr) return call->finish(EINVAL);
  if (wq->users != 0) return call->finish(EBUSY);
  context.driver.ethernet()->destroyEthernet(
      context.owner, EthernetObject::kReceiveQueue, wq->number.value(),
      [&context, call, wq, handle](const driver::Answer<int>& answer) {
        if (!answer.ok()) return call->finish(errnoOf(answer.result));
        --wq->pd->users;
        --wq->cq->users;
        ib_uverbs_ex_destroy_wq_resp out{};
        out.events_reported = wq->events.async;
        if (context.asyncEvents != nullptr) {
          out.events_reported -= static_cast<std::uint32_t>(
              context.asyncEvents->purge([&wq](ByteView record) { return isEventOfWq(*wq, record); }));
        }
        context.wqs.remove(handle);
        finishWith(call, out);
      });
}

void createSpread(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_ex_create_rwq_ind_table>();
  call->note("log_ind_tbl_size", in.log_ind_tbl_size);
  if (context.driver.ethernet() == nullptr) return call->finish(EOPNOTSUPP);
  if (in.comp_mask != 0) return call->finish(EOPNOTSUPP);
  if (in.log_ind_tbl_size > context.driver.capabilities().ethernet.logMaxSpread) return call->finish(EINVAL);
  const std::size_t count = std::size_t{1} << in.log_ind_tbl_size;
  const ByteView handles = call->coreBytes();
  if (handles.size() < sizeof in + 4 * count) return call->finish(EINVAL);
  const auto spread = std::make_shared<UserSpread>();
  std::vector<QpNumber> queues;
  for (std::size_t i = 0; i < count; ++i) {
    const auto wq = context.wqs.find(structFrom<std::uint32_t>(handles.subview(sizeof in + 4 * i, 4)));
    if (wq == nullptr) return call->finish(EINVAL);
    spread->queues.push_back(wq);
    queues.push_back(wq->number);
  }
  context.driver.ethernet()->createSpread(context.owner, queues,
                                          [&context, call, spread](const driver::Answer<std::uint32_t>& answer) {
                                            if (!answer.ok()) return call->finish(errnoOf(answer.result));
                                            spread->number = answer.value;
                                            for (const auto& wq : spread->queues) ++wq->users;
                                            ib_uverbs_ex_create_rwq_ind_table_resp out{};
                                            out.ind_tbl_handle = context.spreads.add(spread);
                                            out.ind_tbl_num = answer.value;
                                            call->noteAnswer("ind_tbl_handle", out.ind_tbl_handle);
                                            finishWith(call, out);
                                          });
}

void destroySpread(UverbsContext& context, const Call& call) {
  const std::uint32_t handle = call->core<ib_uverbs_ex_destroy_rwq_ind_table>().ind_tbl_handle;
  call->note("ind_tbl_handle", handle);
  const auto spread = context.spreads.find(handle);
  if (spread == nullptr) return call->finish(EINVAL);
  if (spread->users != 0) return call->finish(EBUSY);
  context.driver.ethernet()->destroyEthernet(context.owner, EthernetObject::kSpread, spread->number,
                                             [&context, call, spread, handle](const driver::Answer<int>& answer) {
                                               if (answer.ok()) {
                                                 for (const auto& wq : spread->queues) --wq->users;
                                                 context.spreads.remove(handle);
                                               }
                                               call->finish(errnoOf(answer.result));
                                             });
}

void createSpreadQp(UverbsContext& context, const Call& call, const ib_uverbs_ex_create_qp& wanted,
                    std::function<void(const ib_uverbs_create_qp_resp&)> answered) {
  const auto own = call->driver<mlx5_ib_create_qp_rss>();
  call->note("rwq_ind_tbl_handle", wanted.rwq_ind_tbl_handle);
  call->note("rx_hash_fields_mask", own.rx_hash_fields_mask);
  constexpr std::uint32_t kKnown = MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC | MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC;
  if (context.driver.ethernet() == nullptr || wanted.qp_type != kRawPacketType || own.comp_mask != 0 ||
      (own.flags & ~kKnown) != 0 || wanted.create_flags != 0) {
    return call->finish(EOPNOTSUPP);
  }
  const auto qp = std::make_shared<UserQp>();
  qp->type = wanted.qp_type;
  qp->userHandle = wanted.user_handle;
  qp->pd = context.pds.find(wanted.pd_handle);
  qp->spread = context.spreads.find(wanted.rwq_ind_tbl_handle);
  if (qp->pd == nullptr || qp->spread == nullptr || wanted.max_send_wr != 0 || wanted.max_recv_wr != 0) {
    return call->finish(EINVAL);
  }
  driver::ReceiverAttributes receiver;
  receiver.spread = qp->spread->number;
  receiver.takesOwnUnicast = (own.flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC) != 0;
  receiver.takesOwnMulticast = (own.flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC) != 0;
  if (const int error = setHash(own, qp->spread->queues.size(), receiver.hash); error != 0) return call->finish(error);
  withTransportDomain(
      context, call,
      [&context, call, qp, receiver, answered = std::move(answered)](adapter::TransportDomainNumber domain) mutable {
        receiver.domain = domain;
        context.driver.ethernet()->createReceiver(
            context.owner, receiver, [&context, call, qp, answered](const driver::Answer<std::uint32_t>& answer) {
              if (!answer.ok()) return call->finish(errnoOf(answer.result));
              qp->raw = std::make_shared<driver::RawQueuePair>();
              qp->raw->receiver = answer.value;
              ++qp->pd->users;
              ++qp->spread->users;
              qp->capacity.qp_handle = context.qps.add(qp);  // its number is 0
              call->noteAnswer("qp_handle", qp->capacity.qp_handle);
              call->answerDriver(mlx5_ib_create_qp_resp{});
              answered(qp->capacity);
              call->finish(0);
            });
      });
}

}  // namespace hca::cosim
