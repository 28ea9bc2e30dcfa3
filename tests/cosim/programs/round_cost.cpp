// What a round of a verbs program costs in wall time: a queue pair connected to itself, one RDMA write posted and
// polled for at a time; beside it a bare trap, which no register access of a program that runs in a simulation can
// beat.
//
// usage: round_cost [ROUNDS]
//
// Prints "trap_ns A round_ns B ratio C", the best of several passes each.
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kPasses = 7;
constexpr std::size_t kPage = 4096;

void need(bool fine, const char* what) {
  if (fine) return;
  std::fprintf(stderr, "round_cost: %s\n", what);
  std::exit(1);
}

template <class Work>
double bestNanoseconds(int rounds, Work work) {
  double best = 1e18;
  for (int pass = 0; pass < kPasses; ++pass) {
    const auto began = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds; ++round) work();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - began;
    best = std::min(best, spent.count() / rounds);
  }
  return best;
}

extern "C" const char trappedStoreEnd[];

void skipStore(int, siginfo_t*, void* context) {
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(trappedStoreEnd);
}

// A store to a page without access, whose handler does nothing but go on behind it. Before the device is opened: then
// the signal is the program's own.
double bareTrap(int rounds) {
  void* page = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  need(page != MAP_FAILED, "no memory");
  struct sigaction action {};
  struct sigaction before {};
  action.sa_sigaction = skipStore;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  const double cost = bestNanoseconds(
      rounds, [page]() __attribute__((noinline)) {
        asm volatile("movq %%rax, (%0)\n.globl trappedStoreEnd\ntrappedStoreEnd:" : : "r"(page) : "memory");
      });
  sigaction(SIGSEGV, &before, nullptr);
  munmap(page, kPage);
  return cost;
}

struct Loopback {
  ibv_context* context = nullptr;
  ibv_cq* cq = nullptr;
  ibv_qp* qp = nullptr;
  ibv_mr* mr = nullptr;
  alignas(64) std::uint8_t buffer[128] = {};
};

void connect(Loopback& own) {
  ibv_device** list = ibv_get_device_list(nullptr);
  need(list != nullptr && list[0] != nullptr, "no device");
  own.context = ibv_open_device(list[0]);
  need(own.context != nullptr, "the device can't be opened");
  ibv_pd* pd = ibv_alloc_pd(own.context);
  own.mr = ibv_reg_mr(pd, own.buffer, sizeof own.buffer, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  own.cq = ibv_create_cq(own.context, 16, nullptr, nullptr, 0);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = own.cq;
  init.cap.max_send_wr = init.cap.max_recv_wr = 16;
  init.cap.max_send_sge = init.cap.max_recv_sge = 1;
  init.qp_type = IBV_QPT_RC;
  own.qp = ibv_create_qp(pd, &init);
  need(own.mr != nullptr && own.qp != nullptr, "no queue pair");
  ibv_port_attr port{};
  need(ibv_query_port(own.context, 1, &port) == 0, "the port can't be queried");
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  need(ibv_modify_qp(own.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0, "INIT");
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = own.qp->qp_num;
  attr.ah_attr.dlid = port.lid;
  attr.ah_attr.port_num = 1;
  need(ibv_modify_qp(own.qp, &attr,
                     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
       "RTR");
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 14;
  attr.retry_cnt = attr.rnr_retry = 7;
  need(ibv_modify_qp(own.qp, &attr,
                     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                         IBV_QP_MAX_QP_RD_ATOMIC) == 0,
       "RTS");
}

void round(Loopback& own) {
  ibv_sge from{reinterpret_cast<std::uint64_t>(own.buffer), 8, own.mr->lkey};
  ibv_send_wr send{};
  send.sg_list = &from;
  send.num_sge = 1;
  send.opcode = IBV_WR_RDMA_WRITE;
  send.send_flags = IBV_SEND_SIGNALED;
  send.wr.rdma.remote_addr = from.addr + 64;
  send.wr.rdma.rkey = own.mr->rkey;
  ibv_send_wr* bad = nullptr;
  need(ibv_post_send(own.qp, &send, &bad) == 0, "no send posted");
  ibv_wc completion{};
  int found = 0;
  while (found == 0) found = ibv_poll_cq(own.cq, 1, &completion);
  need(found == 1 && completion.status == IBV_WC_SUCCESS, "a completion with an error");
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 2000;
  const double trap = bareTrap(rounds);
  static Loopback own;
  connect(own);
  const double cost = bestNanoseconds(rounds, [] { round(own); });
  std::printf("trap_ns %.0f round_ns %.0f ratio %.2f\n", trap, cost, cost / trap);
  return 0;
}
