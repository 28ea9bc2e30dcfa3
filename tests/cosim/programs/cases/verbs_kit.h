// What the programs of tests/cosim/programs/cases share: verbs with every return value checked.
#pragma once

#include <infiniband/verbs.h>
#include <poll.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <vector>

namespace kit {

/// Ends the program with a complaint unless `fine`.
inline void check(bool fine, const std::string& what) {
  if (fine) return;
  std::fprintf(stderr, "failed: %s (errno %s)\n", what.c_str(), strerrorname_np(errno));
  std::exit(1);
}

template <class Pointer>
Pointer need(Pointer pointer, const char* what) {
  check(pointer != nullptr, what);
  return pointer;
}

/// A device by its place in the list, a protection domain, a buffer that everybody may read and write.
struct Device {
  static constexpr std::size_t kBuffer = 1U << 20;

  explicit Device(int number = 0, std::uint8_t ofPort = 1) : portNumber(ofPort) {
    int count = 0;
    ibv_device** list = need(ibv_get_device_list(&count), "ibv_get_device_list");
    check(count > number, "no such device");
    context = need(ibv_open_device(list[number]), "ibv_open_device");
    ibv_free_device_list(list);
    check(ibv_query_device(context, &attributes) == 0, "ibv_query_device");
    check(ibv_query_port(context, portNumber, &port) == 0, "ibv_query_port");
    pd = need(ibv_alloc_pd(context), "ibv_alloc_pd");
    buffer.resize(kBuffer);
    constexpr int kAll =
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    mr = need(ibv_reg_mr(pd, buffer.data(), buffer.size(), kAll), "ibv_reg_mr");
  }
  /// Everything of it must be gone.
  void close() {
    check(ibv_dereg_mr(mr) == 0, "ibv_dereg_mr");
    check(ibv_dealloc_pd(pd) == 0, "ibv_dealloc_pd");
    check(ibv_close_device(context) == 0, "ibv_close_device");
  }
  ibv_cq* cq(int entries, ibv_comp_channel* channel = nullptr, int vector = 0) const {
    return need(ibv_create_cq(context, entries, nullptr, channel, vector), "ibv_create_cq");
  }
  [[nodiscard]] std::uint64_t address(std::size_t offset = 0) const {
    return reinterpret_cast<std::uint64_t>(buffer.data()) + offset;
  }
  [[nodiscard]] ibv_sge piece(std::size_t offset, std::size_t length) const {
    return {address(offset), static_cast<std::uint32_t>(length), mr->lkey};
  }

  std::uint8_t portNumber;
  ibv_context* context = nullptr;
  ibv_device_attr attributes{};
  ibv_port_attr port{};
  ibv_pd* pd = nullptr;
  std::vector<std::uint8_t> buffer;
  ibv_mr* mr = nullptr;
};

struct QpWish {
  std::uint32_t sends = 16, receives = 16, sges = 1, inlineBytes = 0;
  bool signalAll = false;
};

inline ibv_qp* makeQp(const Device& device, ibv_pd* pd, ibv_cq* sendCq, ibv_cq* receiveCq, const QpWish& wish = {},
                      ibv_qp_cap* got = nullptr) {
  (void)device;
  ibv_qp_init_attr init{};
  init.send_cq = sendCq;
  init.recv_cq = receiveCq;
  init.cap = {wish.sends, wish.receives, wish.sges, wish.sges, wish.inlineBytes};
  init.qp_type = IBV_QPT_RC;
  init.sq_sig_all = wish.signalAll ? 1 : 0;
  ibv_qp* qp = need(ibv_create_qp(pd, &init), "ibv_create_qp");
  if (got != nullptr) *got = init.cap;
  return qp;
}

struct Connection {
  std::uint8_t timeout = 14, retries = 7, rnrRetries = 7, rnrTimer = 12;
};

/// From `qp` to `peer` at `lid`.
inline void connectTo(const Device& device, ibv_qp* qp, std::uint16_t lid, std::uint32_t peer,
                      const Connection& how = {}) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = device.portNumber;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  check(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0, "to INIT");
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = peer;
  attr.ah_attr.dlid = lid;
  attr.ah_attr.port_num = device.portNumber;
  attr.max_dest_rd_atomic = 4;
  attr.min_rnr_timer = how.rnrTimer;
  check(ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
        "to RTR");
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = how.timeout;
  attr.retry_cnt = how.retries;
  attr.rnr_retry = how.rnrRetries;
  attr.max_rd_atomic = 4;
  check(ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                          IBV_QP_MAX_QP_RD_ATOMIC) == 0,
        "to RTS");
}

/// The same with a peer at the same port; may be itself.
inline void connect(const Device& device, ibv_qp* qp, std::uint32_t peer, const Connection& how = {}) {
  connectTo(device, qp, device.port.lid, peer, how);
}

/// Two queue pairs that are connected with each other.
struct Pair {
  Pair(const Device& device, ibv_cq* leftCq, ibv_cq* rightCq, const QpWish& wish = {}, const Connection& how = {})
      : left(makeQp(device, device.pd, leftCq, leftCq, wish)),
        right(makeQp(device, device.pd, rightCq, rightCq, wish)) {
    connect(device, right, left->qp_num, how);
    connect(device, left, right->qp_num, how);
  }
  void destroy() const { check(ibv_destroy_qp(left) == 0 && ibv_destroy_qp(right) == 0, "ibv_destroy_qp"); }
  ibv_qp* left;
  ibv_qp* right;
};

/// A send request for the buffer's bytes from `offset` on; writes and reads go 512 KiB further.
inline ibv_send_wr sendOf(const Device& device, ibv_sge* piece, std::uint64_t id, ibv_wr_opcode opcode = IBV_WR_SEND,
                          unsigned flags = IBV_SEND_SIGNALED) {
  ibv_send_wr request{};
  request.wr_id = id;
  request.sg_list = piece;
  request.num_sge = piece == nullptr ? 0 : 1;
  request.opcode = opcode;
  request.send_flags = flags;
  request.wr.rdma.remote_addr = device.address(Device::kBuffer / 2);
  request.wr.rdma.rkey = device.mr->rkey;
  return request;
}

inline int post(ibv_qp* qp, ibv_send_wr& request) {
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(qp, &request, &bad);
}

inline int postReceive(const Device& device, ibv_qp* qp, std::uint64_t id, std::size_t offset = 4096,
                       std::size_t length = 256) {
  ibv_sge piece = device.piece(offset, length);
  ibv_recv_wr request{id, nullptr, &piece, 1};
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(qp, &request, &bad);
}

/// Polls until `count` completions are there.
inline std::vector<ibv_wc> take(ibv_cq* cq, std::size_t count) {
  std::vector<ibv_wc> found;
  while (found.size() < count) {
    ibv_wc completion{};
    const int got = ibv_poll_cq(cq, 1, &completion);
    check(got >= 0, "ibv_poll_cq");
    if (got == 1) found.push_back(completion);
  }
  return found;
}

/// Whether something can be read within `milliseconds`.
inline bool readable(int fd, int milliseconds) {
  pollfd what{fd, POLLIN, 0};
  return poll(&what, 1, milliseconds) == 1;
}

/// Takes and acknowledges an event of `channel`; the queue it is of.
inline ibv_cq* takeEvent(ibv_comp_channel* channel) {
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  check(ibv_get_cq_event(channel, &cq, &context) == 0, "ibv_get_cq_event");
  ibv_ack_cq_events(cq, 1);
  return cq;
}

inline std::int64_t nowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// A scenario, by the name of its row.
using Case = void (*)();
std::map<std::string, Case>& cases();
struct Register {
  Register(const char* name, Case what) { cases()[name] = what; }
};

}  // namespace kit
