// Two adapters of one host with a wire between them, for programs that look at what comes out of it. Run with
// host.adapters=2 and switch.always=yes.
#pragma once

#include <infiniband/mlx5dv.h>

#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {

/// How a queue pair is connected.
struct Way {
  ibv_qp_type type = IBV_QPT_RC;
  std::uint8_t serviceLevel = 0;
  std::uint8_t sourceBits = 0;  ///< path bits of the own LID
  std::uint8_t peerBits = 0;    ///< and of the peer's
  std::uint16_t partition = 0;  ///< place in the table of partition keys
  Connection retries{};
};

constexpr std::uint32_t kQueueKey = 0x1234;
constexpr int kAllRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                           IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;

inline ibv_qp* makeQpOf(const Device& device, ibv_cq* sendCq, ibv_cq* receiveCq, ibv_qp_type type,
                        ibv_srq* srq = nullptr) {
  ibv_qp_init_attr init{};
  init.send_cq = sendCq;
  init.recv_cq = receiveCq;
  init.srq = srq;
  init.cap = {32, srq == nullptr ? 32U : 0U, 2, 2, 0};
  init.qp_type = type;
  return need(ibv_create_qp(device.pd, &init), "ibv_create_qp");
}

inline void toReadyToReceive(const Device& device, ibv_qp* qp, const Device& peer, std::uint32_t peerQp,
                             const Way& way) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = device.portNumber;
  attr.pkey_index = way.partition;
  attr.qp_access_flags = kAllRights & ~IBV_ACCESS_LOCAL_WRITE & ~IBV_ACCESS_MW_BIND;
  attr.qkey = kQueueKey;
  const bool isDatagram = way.type == IBV_QPT_UD;
  const int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | (isDatagram ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
  check(ibv_modify_qp(qp, &attr, init) == 0, "to INIT");
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = peerQp;
  attr.ah_attr.dlid = static_cast<std::uint16_t>(peer.port.lid | way.peerBits);
  attr.ah_attr.sl = way.serviceLevel;
  attr.ah_attr.src_path_bits = way.sourceBits;
  attr.ah_attr.port_num = device.portNumber;
  attr.max_dest_rd_atomic = 4;
  attr.min_rnr_timer = way.retries.rnrTimer;
  int mask = IBV_QP_STATE;
  if (!isDatagram) mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (way.type == IBV_QPT_RC) mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  check(ibv_modify_qp(qp, &attr, mask) == 0, "to RTR");
}

inline void toReadyToSend(ibv_qp* qp, const Way& way) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = way.retries.timeout;
  attr.retry_cnt = way.retries.retries;
  attr.rnr_retry = way.retries.rnrRetries;
  attr.max_rd_atomic = 4;
  int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (way.type == IBV_QPT_RC) {
    mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  check(ibv_modify_qp(qp, &attr, mask) == 0, "to RTS");
}

/// A queue pair at each end, connected.
struct Line {
  Line() : Line(true) {}
  explicit Line(bool makesQueues) {
    for (Device* device : {&left, &right}) {
      check(ibv_dereg_mr(device->mr) == 0, "ibv_dereg_mr");
      device->mr = need(ibv_reg_mr(device->pd, device->buffer.data(), device->buffer.size(), kAllRights), "ibv_reg_mr");
    }
    if (!makesQueues) return;
    leftCq = left.cq(64);
    rightCq = right.cq(64);
  }
  void connect(const Way& way = {}, ibv_srq* rightSrq = nullptr) {
    leftQp = makeQpOf(left, leftCq, leftCq, way.type);
    rightQp = makeQpOf(right, rightCq, rightCq, way.type, rightSrq);
    Way back = way;
    std::swap(back.sourceBits, back.peerBits);
    back.partition = rightPartition;
    toReadyToReceive(right, rightQp, left, leftQp->qp_num, back);
    toReadyToSend(rightQp, back);
    toReadyToReceive(left, leftQp, right, rightQp->qp_num, way);
    toReadyToSend(leftQp, way);
  }
  /// A request of `length` bytes from the left buffer; what is remote is in the right one's upper half.
  ibv_send_wr request(ibv_sge* piece, std::uint64_t id, ibv_wr_opcode opcode) const {
    ibv_send_wr made = sendOf(left, piece, id, opcode);
    made.wr.rdma.remote_addr = right.address(Device::kBuffer / 2);
    made.wr.rdma.rkey = right.mr->rkey;
    return made;
  }
  void close() {
    check(ibv_destroy_qp(leftQp) == 0 && ibv_destroy_qp(rightQp) == 0, "ibv_destroy_qp");
    check(ibv_destroy_cq(leftCq) == 0 && ibv_destroy_cq(rightCq) == 0, "ibv_destroy_cq");
    left.close();
    right.close();
  }

  Device left{0}, right{1};
  ibv_cq* leftCq = nullptr;
  ibv_cq* rightCq = nullptr;
  ibv_qp* leftQp = nullptr;
  ibv_qp* rightQp = nullptr;
  std::uint16_t rightPartition = 0;
};

}  // namespace kit
