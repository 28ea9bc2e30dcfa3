// A queue pair that is connected to itself, for test programs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/cosim/programs/reliable_connection.h"

namespace hcasim_test {

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

  void openDevice() { context = openFirstDevice(); }

  void open() {
    if (context == nullptr) openDevice();
    pd = ibv_alloc_pd(context);
    mr = ibv_reg_mr(pd, buffer, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    channel = ibv_create_comp_channel(context);
    cq = ibv_create_cq(context, 16, nullptr, channel, 0);
    need(mr != nullptr && cq != nullptr, "no queue");
    qp = makeReliable(pd, cq, 16);
    connectReliable(qp, qp->qp_num, localId(context));
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
};

}  // namespace hcasim_test
