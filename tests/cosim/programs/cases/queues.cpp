// Limits of send and receive queues; teardown.
#include "tests/cosim/programs/cases/verbs_kit.h"

namespace kit {
namespace {

void fullSendQueueSaysWhichRequestItRefused() {
  Device device;
  ibv_cq* cq = device.cq(512);
  ibv_qp_cap got{};
  ibv_qp* qp = makeQp(device, device.pd, cq, cq, {32, 1, 1, 0, false}, &got);
  check(got.max_send_wr >= 32, "fewer requests than asked for");
  connect(device, qp, qp->qp_num);
  ibv_sge piece = device.piece(0, 64);
  std::vector<ibv_send_wr> list;
  for (std::uint64_t id = 0; id < got.max_send_wr + 8; ++id) {
    list.push_back(sendOf(device, &piece, id, IBV_WR_RDMA_WRITE));
  }
  for (std::size_t i = 0; i + 1 < list.size(); ++i) list[i].next = &list[i + 1];
  ibv_send_wr* bad = nullptr;
  check(ibv_post_send(qp, list.data(), &bad) == ENOMEM, "not ENOMEM");
  check(bad == &list[got.max_send_wr], "bad_wr is another request");
  const std::vector<ibv_wc> found = take(cq, got.max_send_wr);
  for (std::size_t i = 0; i < found.size(); ++i) {
    check(found[i].wr_id == i && found[i].status == IBV_WC_SUCCESS, "an earlier request wasn't posted");
  }
  std::vector<ibv_sge> pieces(got.max_send_sge + 1, piece);
  ibv_send_wr request = sendOf(device, pieces.data(), 1, IBV_WR_RDMA_WRITE);
  request.num_sge = static_cast<int>(pieces.size());
  check(post(qp, request) != 0, "one piece too many is taken");
}

void onlySignaledCompletionsReclaim() {
  Device device;
  ibv_cq* cq = device.cq(64);
  ibv_sge piece = device.piece(0, 64);
  for (const bool lastIsSignaled : {false, true}) {
    ibv_qp_cap got{};
    ibv_qp* qp = makeQp(device, device.pd, cq, cq, {16, 1, 1, 0, false}, &got);
    connect(device, qp, qp->qp_num);
    for (std::uint32_t i = 1; i <= got.max_send_wr; ++i) {
      const bool isSignaled = lastIsSignaled && i == got.max_send_wr;
      ibv_send_wr request = sendOf(device, &piece, i, IBV_WR_RDMA_WRITE, isSignaled ? unsigned{IBV_SEND_SIGNALED} : 0U);
      check(post(qp, request) == 0, "ibv_post_send");
    }
    ibv_send_wr more = sendOf(device, &piece, 0, IBV_WR_RDMA_WRITE, 0);
    check(post(qp, more) == ENOMEM, "a full queue isn't ENOMEM");
    if (!lastIsSignaled) {
      ibv_wc none{};
      for (int i = 0; i < 200; ++i) check(ibv_poll_cq(cq, 1, &none) == 0, "a completion that nobody asked for");
      check(post(qp, more) == ENOMEM, "an unsignaled request was reclaimed by nothing");
    } else {
      check(take(cq, 1).front().wr_id == got.max_send_wr, "another completion");
      for (std::uint32_t i = 0; i < got.max_send_wr; ++i) check(post(qp, more) == 0, "not all were reclaimed");
    }
    check(ibv_destroy_qp(qp) == 0, "ibv_destroy_qp");
  }
}

void inlineDataAreTakenUpToTheCap() {
  Device device;
  ibv_cq* cq = device.cq(64);
  ibv_qp_cap got{};
  ibv_qp* qp = makeQp(device, device.pd, cq, cq, {16, 16, 4, 100, false}, &got);
  check(got.max_inline_data >= 100, "less inline than asked for");
  connect(device, qp, qp->qp_num);
  ibv_qp_init_attr large{};
  large.send_cq = large.recv_cq = cq;
  large.cap = {1, 1, 1, 1, 4096};
  large.qp_type = IBV_QPT_RC;
  errno = 0;
  check(ibv_create_qp(device.pd, &large) == nullptr && errno == EINVAL, "too much inline isn't EINVAL");
  // No key is looked at, and the buffer may be used again at once.
  std::vector<std::uint8_t> loose(got.max_inline_data, 0x5A);
  ibv_sge piece{reinterpret_cast<std::uint64_t>(loose.data()), static_cast<std::uint32_t>(loose.size()), 0xDEAD};
  ibv_send_wr request = sendOf(device, &piece, 1, IBV_WR_RDMA_WRITE, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
  check(post(qp, request) == 0, "as much as the cap is refused");
  std::memset(loose.data(), 0, loose.size());
  check(take(cq, 1).front().status == IBV_WC_SUCCESS, "inline data with a wrong key");
  check(device.buffer[Device::kBuffer / 2 + loose.size() - 1] == 0x5A, "other bytes were sent");
  // Four pieces that are more than the cap together; then their neighbour.
  std::vector<std::uint8_t> more(got.max_inline_data + 4, 0x77);
  const auto quarter = static_cast<std::uint32_t>(more.size() / 4);
  ibv_sge pieces[4];
  for (std::uint32_t i = 0; i < 4; ++i)
    pieces[i] = {reinterpret_cast<std::uint64_t>(more.data()) + i * quarter, quarter, 0};
  request.sg_list = pieces;
  request.num_sge = 4;
  check(post(qp, request) != 0, "more than the cap is taken");
  for (ibv_sge& each : pieces) each.length = 1U << 30;
  check(post(qp, request) != 0, "a sum that wraps is taken");
  ibv_sge good = device.piece(0, 64);
  ibv_send_wr after = sendOf(device, &good, 2, IBV_WR_RDMA_WRITE);
  check(post(qp, after) == 0, "ibv_post_send");
  const ibv_wc completion = take(cq, 1).front();
  check(completion.wr_id == 2 && completion.status == IBV_WC_SUCCESS, "the request behind a refused one");
}

void silenceEndsAsRetryExceeded() {
  Device device;
  ibv_cq* cq = device.cq(64);
  ibv_cq* peerCq = device.cq(64);
  const Pair pair(device, cq, peerCq, {16, 16, 1, 0, true}, {8, 3, 7, 12});
  ibv_sge piece = device.piece(0, 64);
  ibv_send_wr good = sendOf(device, &piece, 100, IBV_WR_RDMA_WRITE);
  check(post(pair.left, good) == 0 && take(cq, 1).front().status == IBV_WC_SUCCESS, "not connected");
  for (std::uint64_t id = 0; id < 4; ++id) check(postReceive(device, pair.right, id) == 0, "ibv_post_recv");
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;  // from now on it answers nothing
  check(ibv_modify_qp(pair.right, &attr, IBV_QP_STATE) == 0, "to ERR");
  for (std::uint64_t id = 0; id < 4; ++id) {
    const ibv_wc flushed = take(peerCq, 1).front();
    check(flushed.wr_id == id && flushed.status == IBV_WC_WR_FLUSH_ERR, "the receives aren't flushed");
  }
  for (std::uint64_t id = 0; id < 5; ++id) {
    ibv_send_wr request = sendOf(device, &piece, id, IBV_WR_RDMA_WRITE);
    check(post(pair.left, request) == 0, "ibv_post_send");
  }
  const std::vector<ibv_wc> found = take(cq, 5);
  for (std::uint64_t id = 0; id < 5; ++id) {
    check(found[id].wr_id == id, "not in the order of the posts");
    check(found[id].status == (id == 0 ? IBV_WC_RETRY_EXC_ERR : IBV_WC_WR_FLUSH_ERR), "another status");
  }
  check(found[0].vendor_err == 0x81, "another vendor error");
}

void whatIsPostedInErrorIsFlushed() {
  Device device;
  ibv_cq* sends = device.cq(64);
  ibv_cq* receives = device.cq(64);
  ibv_qp* qp = makeQp(device, device.pd, sends, receives);
  ibv_qp* silent = makeQp(device, device.pd, receives, receives);  // never gets ready
  connect(device, qp, silent->qp_num, {0, 7, 7, 12});              // no time-out
  ibv_sge piece = device.piece(0, 64);
  for (std::uint64_t id = 0; id < 8; ++id) check(postReceive(device, qp, id) == 0, "ibv_post_recv");
  for (std::uint64_t id = 0; id < 5; ++id) {
    ibv_send_wr request = sendOf(device, &piece, id);
    check(post(qp, request) == 0, "ibv_post_send");
  }
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  check(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0, "to ERR");
  ibv_send_wr beacon = sendOf(device, &piece, 5);
  check(post(qp, beacon) == 0, "a send is refused in ERR");
  check(postReceive(device, qp, 8) == 0, "a receive is refused in ERR");
  const std::vector<ibv_wc> flushedSends = take(sends, 6), flushedReceives = take(receives, 9);
  for (const auto* list : {&flushedSends, &flushedReceives}) {
    for (std::size_t id = 0; id < list->size(); ++id) {
      check((*list)[id].wr_id == id && (*list)[id].status == IBV_WC_WR_FLUSH_ERR, "not flushed in order");
    }
  }
}

const Register kAll[] = {{"C35", fullSendQueueSaysWhichRequestItRefused},
                         {"C36", onlySignaledCompletionsReclaim},
                         {"C37", inlineDataAreTakenUpToTheCap},
                         {"C40", silenceEndsAsRetryExceeded},
                         {"C41", whatIsPostedInErrorIsFlushed}};

}  // namespace
}  // namespace kit
