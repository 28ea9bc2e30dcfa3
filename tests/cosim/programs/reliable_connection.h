// What small test programs need to get a connected queue pair. No C++ runtime: guests have none.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace hcasim_test {

inline void need(bool fine, const char* what) {
  if (fine) return;
  std::fprintf(stderr, "%s (errno %d)\n", what, errno);
  std::exit(1);
}

inline ibv_context* openFirstDevice() {
  ibv_device** list = ibv_get_device_list(nullptr);
  need(list != nullptr && list[0] != nullptr, "no device");
  ibv_context* const context = ibv_open_device(list[0]);
  need(context != nullptr, "the device can't be opened");
  ibv_free_device_list(list);
  return context;
}

/// LID of the device's first port.
inline std::uint16_t localId(ibv_context* context) {
  ibv_port_attr port{};
  need(ibv_query_port(context, 1, &port) == 0, "the port can't be queried");
  return port.lid;
}

/// An RC queue pair with `depth` requests and receives of one segment each.
inline ibv_qp* makeReliable(ibv_pd* pd, ibv_cq* cq, std::uint32_t depth) {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.cap.max_send_wr = init.cap.max_recv_wr = depth;
  init.cap.max_send_sge = init.cap.max_recv_sge = 1;
  init.qp_type = IBV_QPT_RC;
  ibv_qp* const qp = ibv_create_qp(pd, &init);
  need(qp != nullptr, "no queue pair");
  return qp;
}

/// From RESET to RTS, to queue pair `peer` at `lid`, which may write; no reads, no atomics.
inline void connectReliable(ibv_qp* qp, std::uint32_t peer, std::uint16_t lid) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  need(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0, "INIT");
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = peer;
  attr.ah_attr.dlid = lid;
  attr.ah_attr.port_num = 1;
  attr.min_rnr_timer = 12;
  need(ibv_modify_qp(qp, &attr,
                     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
       "RTR");
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 14;
  attr.retry_cnt = attr.rnr_retry = 7;
  need(ibv_modify_qp(qp, &attr,
                     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                         IBV_QP_MAX_QP_RD_ATOMIC) == 0,
       "RTS");
}

}  // namespace hcasim_test
