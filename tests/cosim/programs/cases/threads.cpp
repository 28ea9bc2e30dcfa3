// Two threads that wait in verbs alone.
#include <thread>

#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {
namespace {

constexpr int kRounds = 100;

/// One side of a ping-pong, with a queue and a channel of its own.
struct Side {
  explicit Side(const Device& of) : device(of) {
    channel = need(ibv_create_comp_channel(device.context), "ibv_create_comp_channel");
    cq = device.cq(64, channel);
    qp = makeQp(device, device.pd, cq, cq, {8, 8, 1, 0, true});
  }
  void send() const {
    ibv_sge piece = device.piece(0, 64);
    ibv_send_wr request = sendOf(device, &piece, 1);
    check(post(qp, request) == 0, "ibv_post_send");
  }
  // Takes completions until `receives` of them were receives; sleeps in between, or polls all the time.
  void await(int receives, bool sleeps) const {
    while (receives > 0) {
      ibv_wc found{};
      if (ibv_poll_cq(cq, 1, &found) == 1) {
        check(found.status == IBV_WC_SUCCESS, "a completion with an error");
        if (found.opcode == IBV_WC_RECV) --receives;
        continue;
      }
      if (!sleeps) continue;
      check(ibv_req_notify_cq(cq, 0) == 0, "ibv_req_notify_cq");
      if (ibv_poll_cq(cq, 1, &found) == 1) {
        if (found.opcode == IBV_WC_RECV) --receives;
      } else {
        takeEvent(channel);
      }
    }
  }
  void run(bool begins, bool sleeps) const {
    for (int round = 0; round < kRounds; ++round) {
      if (begins) send();
      await(1, sleeps);
      check(postReceive(device, qp, 2) == 0, "ibv_post_recv");
      if (!begins) send();
    }
  }
  const Device& device;
  ibv_comp_channel* channel;
  ibv_cq* cq;
  ibv_qp* qp;
};

void pingPong(bool sleeps) {
  Device device;
  const Side left(device), right(device);
  connect(device, right.qp, left.qp->qp_num);
  connect(device, left.qp, right.qp->qp_num);
  for (const Side* side : {&left, &right}) check(postReceive(device, side->qp, 2) == 0, "ibv_post_recv");
  std::thread other([&] { right.run(false, sleeps); });
  left.run(true, sleeps);
  other.join();
  for (const Side* side : {&left, &right}) {
    check(ibv_destroy_qp(side->qp) == 0 && ibv_destroy_cq(side->cq) == 0, "the queues stay");
    check(ibv_destroy_comp_channel(side->channel) == 0, "the channel stays");
  }
  device.close();
}

const Register kAll[] = {{"threads_poll", [] { pingPong(false); }}, {"threads_event", [] { pingPong(true); }}};

}  // namespace
}  // namespace kit
