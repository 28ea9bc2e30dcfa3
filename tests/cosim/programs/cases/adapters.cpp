// Several adapters and ports in one program.
#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {
namespace {

// With host.adapters=2 and adapter.device.ports=2.
void everyPortReachesEveryOther() {
  std::vector<Device> devices;
  for (const int number : {0, 1}) {
    for (const std::uint8_t port : {1, 2}) devices.emplace_back(number, port);
  }
  check(devices[0].attributes.phys_port_cnt == 2, "not two ports");
  for (std::size_t from = 0; from < devices.size(); ++from) {
    for (std::size_t to = 0; to < devices.size(); ++to) {
      Device& left = devices[from];
      Device& right = devices[to];
      check((from == to) == (left.port.lid == right.port.lid), "ports share a LID");
      ibv_cq* leftCq = left.cq(16);
      ibv_cq* rightCq = right.cq(16);
      ibv_qp* sender = makeQp(left, left.pd, leftCq, leftCq);
      ibv_qp* receiver = makeQp(right, right.pd, rightCq, rightCq);
      connectTo(right, receiver, left.port.lid, sender->qp_num);
      connectTo(left, sender, right.port.lid, receiver->qp_num);
      left.buffer[0] = static_cast<std::uint8_t>(16 * from + to + 1);
      check(postReceive(right, receiver, 5, 4096, 64) == 0, "ibv_post_recv");
      ibv_sge piece = left.piece(0, 64);
      ibv_send_wr request = sendOf(left, &piece, 6);
      check(post(sender, request) == 0, "ibv_post_send");
      check(take(leftCq, 1).front().status == IBV_WC_SUCCESS, "the message didn't arrive");
      check(take(rightCq, 1).front().wr_id == 5, "another receive");
      check(right.buffer[4096] == left.buffer[0], "other bytes arrived");
      check(ibv_destroy_qp(sender) == 0 && ibv_destroy_qp(receiver) == 0, "the queue pairs stay");
      check(ibv_destroy_cq(leftCq) == 0 && ibv_destroy_cq(rightCq) == 0, "the queues stay");
    }
  }
  for (Device& device : devices) device.close();
}

const Register kAll[] = {{"adapters", everyPortReachesEveryOther}};

}  // namespace
}  // namespace kit
