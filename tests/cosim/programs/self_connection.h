// A queue pair that is connected to itself, for test programs.
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace hcasim_test {

inline void need(bool fine, const char* what) {
  if (fine) return;
  std::fprintf(stderr, "%s (errno %d)\n", what, errno);
  std::exit(1);
}

struct SelfConnection {
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_comp_channel* channel = nullptr;
  ibv_cq* cq = nullptr;
  ibv_qp* qp = nullptr;
  ibv_mr* mr = nullptr;
  alignas(64) std::uint8_t own[128] = {};
  std::uint8_t* buffer = own;
  std::size_t size = sizeof own;

  void openDevice() {
    ibv_device** list = ibv_get_device_list(nullptr);
    need(list != nullptr && list[0] != nullptr, "no device");
    context = ibv_open_device(list[0]);
    need(context != nullptr, "the device can't be opened");
    ibv_free_device_list(list);
  }

  void open() {
    if (context == nullptr) openDevice();
    pd = ibv_alloc_pd(context);
    mr = ibv_reg_mr(pd, buffer, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    channel = ibv_create_comp_channel(context);
    cq = ibv_create_cq(context, 16, nullptr, channel, 0);
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.cap.max_send_wr = init.cap.max_recv_wr = 16;
    init.cap.max_send_sge = init.cap.max_recv_sge = 1;
    init.qp_type = IBV_QPT_RC;
    qp = ibv_create_qp(pd, &init);
    need(mr != nullptr && qp != nullptr, "no queue pair");
    connect();
  }

  /// Writes the first 8 bytes of the first half of the buffer to the second half.
  void post() {
    ibv_sge from{reinterpret_cast<std::uint64_t>(buffer), 8, mr->lkey};
    ibv_send_wr send{};
    send.sg_list = &from;
    send.num_sge = 1;
    send.opcode = IBV_WR_RDMA_WRITE;
    send.send_flags = IBV_SEND_SIGNALED;
    send.wr.rdma.remote_addr = from.addr + size / 2;
    send.wr.rdma.rkey = mr->rkey;
    ibv_send_wr* bad = nullptr;
    need(ibv_post_send(qp, &send, &bad) == 0, "no send posted");
  }
  ibv_wc_status poll() {
    ibv_wc completion{};
    int found = 0;
    while (found == 0) found = ibv_poll_cq(cq, 1, &completion);
    need(found == 1, "a poll failed");
    return completion.status;
  }
  /// Waits for an event and takes one completion.
  ibv_wc_status waitAndPoll() {
    ibv_wc completion{};
    need(ibv_req_notify_cq(cq, 0) == 0, "not armed");
    while (ibv_poll_cq(cq, 1, &completion) == 0) {
      ibv_cq* which = nullptr;
      void* unused = nullptr;
      need(ibv_get_cq_event(channel, &which, &unused) == 0, "no event");
      ibv_ack_cq_events(which, 1);
      need(ibv_req_notify_cq(cq, 0) == 0, "not armed");
    }
    return completion.status;
  }
  void round() {
    post();
    need(poll() == IBV_WC_SUCCESS, "a completion with an error");
  }

 private:
  void connect() {
    ibv_port_attr port{};
    need(ibv_query_port(context, 1, &port) == 0, "the port can't be queried");
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    need(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0, "INIT");
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = qp->qp_num;
    attr.ah_attr.dlid = port.lid;
    attr.ah_attr.port_num = 1;
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
};

}  // namespace hcasim_test
