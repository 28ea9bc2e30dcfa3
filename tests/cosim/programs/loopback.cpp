// A verbs program that talks to itself: a reliable connection from a queue pair to the same queue pair.
//
// usage: loopback [poll|event] [MESSAGES] [SIZE]
//
// Sends messages of SIZE bytes, alternating SEND and RDMA WRITE, checks every completion and every byte. Exit 0 or 1.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/cosim/programs/reliable_connection.h"

namespace {

constexpr int kDepth = 64;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "loopback: %s\n", what);
  std::exit(1);
}

template <class Pointer>
Pointer need(Pointer pointer, const char* what) {
  if (pointer == nullptr) fail(what);
  return pointer;
}

void need(bool fine, const char* what) {
  if (!fine) fail(what);
}

struct Setup {
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_comp_channel* channel = nullptr;
  ibv_cq_ex* cq = nullptr;
  ibv_qp* qp = nullptr;
  std::uint8_t* buffer = nullptr;
  ibv_mr* mr = nullptr;
};

void open(Setup& setup, bool withEvents, std::size_t size) {
  int count = 0;
  ibv_device** list = need(ibv_get_device_list(&count), "no device list");
  need(count == 1, "not one device");
  setup.context = need(ibv_open_device(list[0]), "the device can't be opened");
  ibv_free_device_list(list);
  setup.pd = need(ibv_alloc_pd(setup.context), "no protection domain");
  // From a page's start, so that transfers are cut alike in every run.
  constexpr std::size_t kPage = 4096;
  setup.buffer =
      static_cast<std::uint8_t*>(need(std::aligned_alloc(kPage, (2 * size + kPage - 1) / kPage * kPage), "no memory"));
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  setup.mr = need(ibv_reg_mr(setup.pd, setup.buffer, 2 * size, access), "no memory region");
  if (withEvents) setup.channel = need(ibv_create_comp_channel(setup.context), "no completion channel");
  ibv_cq_init_attr_ex attributes{};
  attributes.cqe = 2 * kDepth;
  attributes.channel = setup.channel;
  attributes.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
  setup.cq = need(ibv_create_cq_ex(setup.context, &attributes), "no completion queue");
  need(attributes.cqe == 2 * kDepth, "the attributes were changed");
}

void connect(Setup& setup) {
  setup.qp = hcasim_test::makeReliable(setup.pd, ibv_cq_ex_to_cq(setup.cq), kDepth);
  hcasim_test::connectReliable(setup.qp, setup.qp->qp_num, hcasim_test::localId(setup.context));
}

void post(Setup& setup, std::size_t size, bool isWrite) {
  const auto address = reinterpret_cast<std::uint64_t>(setup.buffer);
  ibv_sge from{address, static_cast<std::uint32_t>(size), setup.mr->lkey};
  ibv_sge into{address + size, static_cast<std::uint32_t>(size), setup.mr->lkey};
  ibv_recv_wr receive{};
  receive.wr_id = 1;
  receive.sg_list = &into;
  receive.num_sge = 1;
  ibv_recv_wr* badReceive = nullptr;
  if (!isWrite) need(ibv_post_recv(setup.qp, &receive, &badReceive) == 0, "no receive posted");
  ibv_send_wr send{};
  send.wr_id = 2;
  send.sg_list = &from;
  send.num_sge = 1;
  send.opcode = isWrite ? IBV_WR_RDMA_WRITE : IBV_WR_SEND;
  send.send_flags = IBV_SEND_SIGNALED;
  send.wr.rdma.remote_addr = address + size;
  send.wr.rdma.rkey = setup.mr->rkey;
  ibv_send_wr* badSend = nullptr;
  need(ibv_post_send(setup.qp, &send, &badSend) == 0, "no send posted");
}

void waitForEvent(Setup& setup) {
  ibv_cq* cq = nullptr;
  void* unused = nullptr;
  need(ibv_get_cq_event(setup.channel, &cq, &unused) == 0, "no event");
  need(cq == ibv_cq_ex_to_cq(setup.cq), "an event of another queue");
  ibv_ack_cq_events(cq, 1);
}

// Takes `wanted` completions.
void complete(Setup& setup, int wanted, std::size_t size, bool withEvents) {
  while (wanted > 0) {
    ibv_poll_cq_attr none{};
    const int found = ibv_start_poll(setup.cq, &none);
    if (found == ENOENT) {
      if (!withEvents) continue;
      need(ibv_req_notify_cq(ibv_cq_ex_to_cq(setup.cq), 0) == 0, "not armed");
      if (ibv_start_poll(setup.cq, &none) == ENOENT) {
        waitForEvent(setup);
        continue;
      }
    } else {
      need(found == 0, "a poll failed");
    }
    do {
      need(setup.cq->status == IBV_WC_SUCCESS, "a completion with an error");
      need(ibv_wc_read_qp_num(setup.cq) == setup.qp->qp_num, "a completion of another queue pair");
      if (setup.cq->wr_id == 1) need(ibv_wc_read_byte_len(setup.cq) == size, "a completion of another length");
      --wanted;
    } while (ibv_next_poll(setup.cq) == 0);
    ibv_end_poll(setup.cq);
  }
}

void close(Setup& setup) {
  need(ibv_destroy_qp(setup.qp) == 0, "the queue pair stays");
  need(ibv_destroy_cq(ibv_cq_ex_to_cq(setup.cq)) == 0, "the completion queue stays");
  if (setup.channel != nullptr) need(ibv_destroy_comp_channel(setup.channel) == 0, "the channel stays");
  need(ibv_dereg_mr(setup.mr) == 0, "the memory region stays");
  need(ibv_dealloc_pd(setup.pd) == 0, "the protection domain stays");
  need(ibv_close_device(setup.context) == 0, "the device stays");
}

}  // namespace

int main(int argc, char** argv) {
  const bool withEvents = argc > 1 && std::strcmp(argv[1], "event") == 0;
  const int messages = argc > 2 ? std::atoi(argv[2]) : 10;
  const std::size_t size = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 4096;
  Setup setup;
  open(setup, withEvents, size);
  connect(setup);
  for (int message = 0; message < messages; ++message) {
    for (std::size_t i = 0; i < size; ++i) setup.buffer[i] = static_cast<std::uint8_t>(i * 7 + message);
    const bool isWrite = message % 2 == 1;
    post(setup, size, isWrite);
    complete(setup, isWrite ? 1 : 2, size, withEvents);
    need(std::memcmp(setup.buffer, setup.buffer + size, size) == 0, "other bytes arrived");
  }
  close(setup);
  std::printf("loopback: %d messages of %zu bytes\n", messages, size);
  return 0;
}
