// The states of queue pairs.
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "models/network/fabric_identity.h"
#include "models/wire/queue_commands.h"
#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"
#include "sim/cosim/uverbs/powers_of_two.h"
#include "sim/cosim/uverbs/qp_state_rules.h"
#include "sim/cosim/uverbs/raw_packets.h"

namespace hca::cosim {
namespace {

using adapter::QpTransition;
using M = QpMask;

VerbsState verbsState(adapter::QpState state) {
  switch (state) {
    case adapter::QpState::kReset:
      return VerbsState::kReset;
    case adapter::QpState::kInit:
      return VerbsState::kInit;
    case adapter::QpState::kReadyToReceive:
      return VerbsState::kReadyToReceive;
    case adapter::QpState::kReadyToSend:
      return VerbsState::kReadyToSend;
    case adapter::QpState::kSendQueueError:
      return VerbsState::kSendError;
    case adapter::QpState::kSendQueueDrain:
    case adapter::QpState::kSendQueueDraining:
      return VerbsState::kDrain;
    case adapter::QpState::kError:
      break;
  }
  return VerbsState::kError;
}

std::optional<QpTransition> transition(VerbsState from, VerbsState to) {
  using S = VerbsState;
  if (to == S::kReset) return QpTransition::kToReset;
  if (to == S::kError) return QpTransition::kToError;
  if (from == S::kReset && to == S::kInit) return QpTransition::kResetToInit;
  if (from == S::kInit && to == S::kInit) return QpTransition::kInitToInit;
  if (from == S::kInit && to == S::kReadyToReceive) return QpTransition::kInitToReadyToReceive;
  if (from == S::kReadyToReceive && to == S::kReadyToSend) return QpTransition::kReadyToReceiveToReadyToSend;
  if (from == S::kReadyToSend && to == S::kReadyToSend) return QpTransition::kReadyToSendToReadyToSend;
  if (from == S::kReadyToSend && to == S::kDrain) return QpTransition::kReadyToSendToDrain;
  if (from == S::kDrain && to == S::kReadyToSend) return QpTransition::kDrainToReadyToSend;
  if (from == S::kDrain && to == S::kDrain) return QpTransition::kDrainToDrain;
  if (from == S::kSendError && to == S::kReadyToSend) return QpTransition::kSendQueueErrorToReadyToSend;
  return std::nullopt;
}

std::uint32_t optionalBits(std::uint32_t mask) {
  using O = wire::QpOptional;
  constexpr std::pair<std::uint32_t, std::uint32_t> kBits[] = {
      {M::kAlternatePath, O::kAlternatePath},
      {M::kMigrationState, O::kPathMigration},
      {M::kAccess, O::kRemoteRead | O::kRemoteWrite | O::kRemoteAtomic},
      {M::kPkeyIndex, O::kPkeyIndex},
      {M::kPort, O::kPrimaryPort},
      {M::kQueueKey, O::kQueueKey},
      {M::kPath, O::kPrimaryPath},
      {M::kTimeout, O::kAckTimeout},
      {M::kRetryCount, O::kRetryCount},
      {M::kRnrRetry, O::kRnrRetry},
      {M::kMaxReads, O::kMaxOutstandingReads},
      {M::kMinRnrTimer, O::kRnrTimeout},
      {M::kMaxResponderReads, O::kMaxResponderReads},
  };
  std::uint32_t bits = 0;
  for (const auto& [verbs, adapter] : kBits) {
    if ((mask & verbs) != 0) bits |= adapter;
  }
  return bits;
}

// enum ib_mig_state
constexpr std::uint8_t kMigMigrated = 0, kMigRearm = 1, kMigArmed = 2;

adapter::MigrationState migrationOf(std::uint8_t state) {
  if (state == kMigMigrated) return adapter::MigrationState::kMigrated;
  return state == kMigRearm ? adapter::MigrationState::kRearm : adapter::MigrationState::kArmed;
}

std::uint8_t migrationCode(adapter::MigrationState state) {
  if (state == adapter::MigrationState::kMigrated) return kMigMigrated;
  return state == adapter::MigrationState::kRearm ? kMigRearm : kMigArmed;
}

void setPath(const DeviceDescription& device, const ib_uverbs_qp_dest& from, adapter::AddressPath& path) {
  path.remoteLid = Lid(from.dlid);
  path.serviceLevel = from.sl;
  path.sourcePathBits = from.src_path_bits;
  path.globalRoute = from.is_global != 0;
  path.sourceGidIndex = from.sgid_index;
  path.hopLimit = from.hop_limit;
  path.trafficClass = from.traffic_class;
  path.flowLabel = from.flow_label;
  std::memcpy(path.remoteGid.data(), from.dgid, path.remoteGid.size());
  path.remoteMac = {};
  if (device.isRoce) path.remoteMac = network::macOf(path.remoteGid);
}

// The values of `in` that its mask names, into what the program set so far and into the adapter's terms.
void merge(const DeviceDescription& device, const ib_uverbs_modify_qp& in, UserQp& qp) {
  const std::uint32_t mask = in.attr_mask;
  adapter::QpAttributes& to = qp.attributes;
  ib_uverbs_modify_qp& set = qp.set;
  if ((mask & M::kAccess) != 0) set.qp_access_flags = in.qp_access_flags;
  if ((mask & M::kPkeyIndex) != 0) to.path.partitionIndex = set.pkey_index = in.pkey_index;
  if ((mask & M::kPort) != 0) to.path.port = set.port_num = in.port_num;
  if ((mask & M::kQueueKey) != 0) to.queueKey = set.qkey = in.qkey;
  if ((mask & M::kPathMtu) != 0) set.path_mtu = in.path_mtu;
  if ((mask & M::kTimeout) != 0) to.path.ackTimeout = set.timeout = in.timeout;
  if ((mask & M::kRetryCount) != 0) to.retryCount = set.retry_cnt = in.retry_cnt;
  if ((mask & M::kRnrRetry) != 0) to.rnrRetry = set.rnr_retry = in.rnr_retry;
  if ((mask & M::kReceivePsn) != 0) to.nextReceivePsn = set.rq_psn = in.rq_psn & 0xFFFFFF;
  if ((mask & M::kSendPsn) != 0) to.nextSendPsn = set.sq_psn = in.sq_psn & 0xFFFFFF;
  if ((mask & M::kMinRnrTimer) != 0) to.minRnrNak = set.min_rnr_timer = in.min_rnr_timer;
  if ((mask & M::kMaxReads) != 0) to.logMaxOutstandingReads = logOf(set.max_rd_atomic = in.max_rd_atomic);
  if ((mask & M::kMaxResponderReads) != 0) {
    to.logMaxResponderReads = logOf(set.max_dest_rd_atomic = in.max_dest_rd_atomic);
  }
  if ((mask & M::kRemoteQp) != 0) to.remoteQp = QpNumber(set.dest_qp_num = in.dest_qp_num & 0xFFFFFF);
  if ((mask & M::kPath) != 0) {
    set.dest = in.dest;
    setPath(device, in.dest, to.path);
  }
  if ((mask & M::kAlternatePath) != 0) {
    set.alt_dest = in.alt_dest;
    setPath(device, in.alt_dest, to.alternatePath);
    to.alternatePath.port = set.alt_port_num = in.alt_port_num;
    to.alternatePath.partitionIndex = set.alt_pkey_index = in.alt_pkey_index;
    to.alternatePath.ackTimeout = set.alt_timeout = in.alt_timeout;
  }
  if ((mask & M::kMigrationState) != 0) to.migration = migrationOf(in.path_mig_state);
  to.notifyWhenDrained = (mask & M::kDrainedEvent) != 0 && in.en_sqd_async_notify != 0;
}

void setDerived(UserQp& qp) {
  adapter::QpAttributes& to = qp.attributes;
  constexpr std::uint32_t kSmallestMtu = 128, kDatagramMtu = 4096;
  constexpr std::uint8_t kDatagram = 4;
  // Reads and atomics of the peer need room to answer them.
  const bool answers = qp.set.max_dest_rd_atomic != 0;
  to.remoteWrite = (qp.set.qp_access_flags & IB_UVERBS_ACCESS_REMOTE_WRITE) != 0;
  to.remoteRead = answers && (qp.set.qp_access_flags & IB_UVERBS_ACCESS_REMOTE_READ) != 0;
  to.remoteAtomic = answers && (qp.set.qp_access_flags & IB_UVERBS_ACCESS_REMOTE_ATOMIC) != 0;
  to.mtu = qp.type == kDatagram ? kDatagramMtu : kSmallestMtu << qp.set.path_mtu;
}

// 0, or the errno: what the kernel refuses before the adapter sees it.
int check(const UverbsContext& context, const ib_uverbs_modify_qp& in) {
  constexpr std::uint8_t kLargestMtu = 5, kMostReads = 16, kLastState = 6;
  const std::uint32_t mask = in.attr_mask;
  if ((mask & M::kState) != 0 && in.qp_state > kLastState) return EINVAL;
  if ((mask & M::kCurrentState) != 0 && in.cur_qp_state > kLastState) return EINVAL;
  if ((mask & M::kPort) != 0 && !context.device.hasPort(in.port_num)) return EINVAL;
  if ((mask & M::kPkeyIndex) != 0 && in.pkey_index >= context.device.partitionRoom()) return EINVAL;
  if ((mask & M::kMigrationState) != 0 && in.path_mig_state > kMigArmed) return EINVAL;
  if ((mask & M::kAlternatePath) != 0) {
    if (!context.device.hasPort(in.alt_port_num) || in.alt_pkey_index >= context.device.partitionRoom()) return EINVAL;
    if (in.alt_dest.is_global != 0 && in.alt_dest.sgid_index >= context.device.gidCount()) return EINVAL;
  }
  if ((mask & M::kPathMtu) != 0 && (in.path_mtu == 0 || in.path_mtu > kLargestMtu)) return EINVAL;
  if ((mask & M::kMaxReads) != 0 && in.max_rd_atomic > kMostReads) return EINVAL;
  if ((mask & M::kMaxResponderReads) != 0 && in.max_dest_rd_atomic > kMostReads) return EINVAL;
  if ((mask & M::kPath) == 0) return 0;
  if (in.dest.port_num != 0 && !context.device.hasPort(in.dest.port_num)) return EINVAL;
  if (in.dest.is_global != 0 && in.dest.sgid_index >= context.device.gidCount()) return EINVAL;
  return context.device.isRoce && in.dest.is_global == 0 ? EINVAL : 0;
}

void apply(UverbsContext& context, const Call& call, const std::shared_ptr<UserQp>& qp, const ib_uverbs_modify_qp& in,
           VerbsState state) {
  const VerbsState from = (in.attr_mask & M::kCurrentState) != 0 ? VerbsState(in.cur_qp_state) : state;
  const VerbsState to = (in.attr_mask & M::kState) != 0 ? VerbsState(in.qp_state) : from;
  const auto change = transition(from, to);
  const bool staysInReset = from == VerbsState::kReset && to == VerbsState::kReset;
  if (staysInReset && (in.attr_mask & M::kState) != 0) return call->finish(0);
  if (!change || !isModifyAllowed(qp->type, from, to, in.attr_mask)) return call->finish(EINVAL);
  auto changed = std::make_shared<UserQp>(*qp);
  merge(context.device, in, *changed);
  setDerived(*changed);
  if (qp->raw != nullptr) {
    return modifyRawPacketQp(context, qp, *change, [call, qp, changed, to](int error) {
      if (error == 0) {
        qp->set = changed->set;
        qp->rawState = to;
      }
      call->finish(error);
    });
  }
  std::uint32_t bits = optionalBits(in.attr_mask);
  using O = wire::QpOptional;
  if ((in.attr_mask & M::kMaxResponderReads) != 0) bits |= O::kRemoteRead | O::kRemoteWrite | O::kRemoteAtomic;
  context.driver.modifyQp(context.owner, qp->number, *change, bits, changed->attributes,
                          [&context, call, qp, changed](const driver::Answer<int>& answer) {
                            if (answer.ok()) {
                              qp->attributes = changed->attributes;
                              qp->set = changed->set;
                              if (qp->xrcd != nullptr) context.shares.targets.update(context.device.adapter, *qp);
                            }
                            call->finish(errnoOf(answer.result));
                          });
}

// Half of an XRC connection has no use for what concerns the other half, and programs name it all the same (Linux
// drivers/infiniband/core/uverbs_cmd.c, modify_qp_mask).
std::uint32_t usedMask(const UserQp& qp, std::uint32_t mask) {
  constexpr std::uint8_t kXrcSend = 9, kXrcReceive = 10;
  if (qp.type == kXrcSend) return mask & ~(M::kMaxResponderReads | M::kMinRnrTimer);
  if (qp.type == kXrcReceive) return mask & ~(M::kMaxReads | M::kRetryCount | M::kRnrRetry);
  return mask;
}

// Linux drivers/infiniband/hw/mlx5/qp.c, mlx5_ib_modify_dct: the adapter makes the target when it is to receive.
void makeTarget(UverbsContext& context, const Call& call, const std::shared_ptr<UserQp>& qp) {
  if (call->driverRoom() < offsetof(mlx5_ib_modify_qp_resp, ece_options)) return call->finish(EINVAL);
  context.driver.createDct(context.owner, qp->attributes, [call, qp](const driver::Answer<QpNumber>& answer) {
    if (!answer.ok()) return call->finish(errnoOf(answer.result));
    qp->number = answer.value;
    qp->attributes.state = adapter::QpState::kReadyToReceive;
    mlx5_ib_modify_qp_resp own{};
    own.response_length = static_cast<std::uint32_t>(std::min(sizeof own, call->driverRoom()));
    own.dctn = qp->number.value();
    call->noteAnswer("dctn", own.dctn);
    call->answerDriver(own);
    call->finish(0);
  });
}

void modifyTarget(UverbsContext& context, const Call& call, const std::shared_ptr<UserQp>& qp,
                  const ib_uverbs_modify_qp& in) {
  constexpr std::uint32_t kInit = M::kAccess | M::kPkeyIndex | M::kPort;
  constexpr std::uint32_t kReceive = M::kMinRnrTimer | M::kPath | M::kPathMtu;
  const auto to = static_cast<VerbsState>(in.qp_state);
  const VerbsState from = verbsState(qp->attributes.state);
  const bool toInit = from == VerbsState::kReset && to == VerbsState::kInit;
  const bool toReceive = from == VerbsState::kInit && to == VerbsState::kReadyToReceive;
  const std::uint32_t required = M::kState | (toInit ? kInit : kReceive);
  if (!(toInit || toReceive) || in.attr_mask != required) return call->finish(EINVAL);
  merge(context.device, in, *qp);
  setDerived(*qp);
  qp->attributes.remoteRead = (qp->set.qp_access_flags & IB_UVERBS_ACCESS_REMOTE_READ) != 0;
  qp->attributes.remoteAtomic = (qp->set.qp_access_flags & IB_UVERBS_ACCESS_REMOTE_ATOMIC) != 0;
  if (toReceive) return makeTarget(context, call, qp);
  qp->attributes.state = adapter::QpState::kInit;
  call->finish(0);
}

// Every change starts from the state in which the adapter has the queue pair.
void modify(UverbsContext& context, const Call& call, ib_uverbs_modify_qp in) {
  call->note("qp_handle", in.qp_handle);
  call->note("attr_mask", in.attr_mask);
  if ((in.attr_mask & M::kState) != 0) call->note("qp_state", in.qp_state);
  if ((in.attr_mask & M::kRemoteQp) != 0) call->note("dest_qp_num", in.dest_qp_num);
  if ((in.attr_mask & M::kPath) != 0) call->note("dlid", in.dest.dlid);
  if ((in.attr_mask & M::kPathMtu) != 0) call->note("path_mtu", in.path_mtu);
  const auto qp = context.qps.find(in.qp_handle);
  if (qp == nullptr) return call->finish(EINVAL);
  in.attr_mask = usedMask(*qp, in.attr_mask);
  if (const int error = check(context, in); error != 0) return call->finish(error);
  if (qp->type == UserQp::kDct) return modifyTarget(context, call, qp, in);
  if (qp->spread != nullptr) return call->finish(EOPNOTSUPP);
  if (qp->raw != nullptr) {
    // Frames leave and arrive through the first port alone.
    if ((in.attr_mask & M::kPort) != 0 && in.port_num != 1) return call->finish(EINVAL);
    return queryRawPacketState(context, qp, [&context, call, qp, in](int error, VerbsState state) {
      if (error != 0) return call->finish(error);
      apply(context, call, qp, in, state);
    });
  }
  context.driver.queryQp(context.owner, qp->number,
                         [&context, call, qp, in](const driver::Answer<adapter::QpAttributes>& answer) {
                           if (!answer.ok()) return call->finish(errnoOf(answer.result));
                           apply(context, call, qp, in, verbsState(answer.value.state));
                         });
}

// `set`: as the program gave it, for what the adapter doesn't keep.
ib_uverbs_qp_dest describePath(const adapter::AddressPath& path, const ib_uverbs_qp_dest& set) {
  ib_uverbs_qp_dest to{};
  std::memcpy(to.dgid, path.remoteGid.data(), sizeof to.dgid);
  to.flow_label = path.flowLabel;
  to.dlid = path.remoteLid.value();
  to.sgid_index = path.sourceGidIndex;
  to.hop_limit = path.hopLimit;
  to.traffic_class = path.trafficClass;
  to.sl = path.serviceLevel;
  to.src_path_bits = path.sourcePathBits;
  to.static_rate = set.static_rate;
  to.is_global = path.globalRoute ? 1 : 0;
  to.port_num = path.port;
  return to;
}

// A connection that migrated has another path than the program gave it.
void describePaths(const UserQp& qp, const adapter::QpAttributes& now, ib_uverbs_query_qp_resp& answer) {
  answer.path_mig_state = migrationCode(now.migration);
  answer.dest = describePath(now.path, qp.set.dest);
  answer.port_num = now.path.port;
  answer.pkey_index = now.path.partitionIndex;
  answer.timeout = now.path.ackTimeout;
  answer.alt_dest = describePath(now.alternatePath, qp.set.alt_dest);
  answer.alt_port_num = now.alternatePath.port;
  answer.alt_pkey_index = now.alternatePath.partitionIndex;
  answer.alt_timeout = now.alternatePath.ackTimeout;
}

ib_uverbs_query_qp_resp describeQp(const UserQp& qp, const adapter::QpAttributes& now, VerbsState state) {
  ib_uverbs_query_qp_resp answer{};
  describePaths(qp, now, answer);
  answer.max_send_wr = qp.capacity.max_send_wr;
  answer.max_recv_wr = qp.capacity.max_recv_wr;
  answer.max_send_sge = qp.capacity.max_send_sge;
  answer.max_recv_sge = qp.capacity.max_recv_sge;
  answer.max_inline_data = qp.capacity.max_inline_data;
  answer.qkey = qp.set.qkey;
  answer.rq_psn = now.nextReceivePsn;
  answer.sq_psn = now.nextSendPsn;
  answer.dest_qp_num = now.remoteQp.value();
  answer.qp_access_flags = qp.set.qp_access_flags;
  answer.qp_state = answer.cur_qp_state = static_cast<std::uint8_t>(state);
  answer.path_mtu = qp.set.path_mtu;
  answer.sq_draining = now.state == adapter::QpState::kSendQueueDraining ? 1 : 0;
  answer.max_rd_atomic = qp.set.max_rd_atomic;
  answer.max_dest_rd_atomic = qp.set.max_dest_rd_atomic;
  answer.min_rnr_timer = qp.set.min_rnr_timer;
  answer.retry_cnt = qp.set.retry_cnt;
  answer.rnr_retry = qp.set.rnr_retry;
  answer.sq_sig_all = qp.signalsAll ? 1 : 0;
  return answer;
}

}  // namespace

void modifyQp(UverbsContext& context, const Call& call) { modify(context, call, call->core<ib_uverbs_modify_qp>()); }

void modifyQpExtended(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_ex_modify_qp>();
  if ((in.base.attr_mask & M::kRateLimit) != 0) return call->finish(EOPNOTSUPP);
  ib_uverbs_ex_modify_qp_resp answer{};
  answer.response_length = static_cast<std::uint32_t>(std::min(sizeof answer, call->coreRoom()));
  call->answerCore(answer);
  modify(context, call, in.base);
}

void queryQp(UverbsContext& context, const Call& call) {
  const std::uint32_t handle = call->core<ib_uverbs_query_qp>().qp_handle;
  call->note("qp_handle", handle);
  const auto qp = context.qps.find(handle);
  if (qp == nullptr) return call->finish(EINVAL);
  if (qp->type == UserQp::kDct) {
    call->answerCore(describeQp(*qp, qp->attributes, verbsState(qp->attributes.state)));
    return call->finish(0);
  }
  if (qp->spread != nullptr) return call->finish(ENOSYS);  // as the stock driver says
  if (qp->raw != nullptr) {
    return queryRawPacketState(context, qp, [call, qp](int error, VerbsState state) {
      if (error == 0) call->answerCore(describeQp(*qp, qp->attributes, state));
      call->finish(error);
    });
  }
  context.driver.queryQp(context.owner, qp->number, [call, qp](const driver::Answer<adapter::QpAttributes>& answer) {
    if (!answer.ok()) return call->finish(errnoOf(answer.result));
    call->answerCore(describeQp(*qp, answer.value, verbsState(answer.value.state)));
    call->finish(0);
  });
}

}  // namespace hca::cosim
