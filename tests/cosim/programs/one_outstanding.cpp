// One message at a time from a client to a server that sleeps for each: of every two messages the first lands between
// the server's empty poll and its arm, the second after the arm.
//
// usage: one_outstanding server PORT MESSAGES SIZE
//        one_outstanding client ADDRESS PORT MESSAGES SIZE
//
// It does what a flow of kind arm_race does, so that what the adapters write can be compared. Exit 0 or 1.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/cosim/programs/reliable_connection.h"

namespace {

using namespace hcasim_test;  // NOLINT(google-build-using-namespace): a program of one file

constexpr int kDepth = 16;

struct Address {
  std::uint32_t qp = 0;
  std::uint32_t lid = 0;
};

struct End {
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_comp_channel* channel = nullptr;
  ibv_cq* cq = nullptr;
  ibv_qp* qp = nullptr;
  ibv_mr* mr = nullptr;
  alignas(4096) std::uint8_t buffer[kDepth * 4096] = {};
  std::uint32_t size = 0;
  int peer = -1;
};
End end;

void openDevice() {
  end.context = openFirstDevice();
  end.pd = ibv_alloc_pd(end.context);
  end.mr = ibv_reg_mr(end.pd, end.buffer, sizeof end.buffer, IBV_ACCESS_LOCAL_WRITE);
  end.channel = ibv_create_comp_channel(end.context);
  end.cq = ibv_create_cq(end.context, 2 * kDepth, nullptr, end.channel, 0);
  need(end.mr != nullptr && end.cq != nullptr, "no queue");
  end.qp = makeReliable(end.pd, end.cq, kDepth);
}

void postReceive(std::uint64_t slot) {
  ibv_sge into{reinterpret_cast<std::uint64_t>(end.buffer + slot % kDepth * 4096), end.size, end.mr->lkey};
  ibv_recv_wr receive{};
  receive.wr_id = slot;
  receive.sg_list = &into;
  receive.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  need(ibv_post_recv(end.qp, &receive, &bad) == 0, "no receive posted");
}

void postSend(std::uint64_t number) {
  ibv_sge from{reinterpret_cast<std::uint64_t>(end.buffer + number % kDepth * 4096), end.size, end.mr->lkey};
  ibv_send_wr send{};
  send.wr_id = number;
  send.sg_list = &from;
  send.num_sge = 1;
  send.opcode = IBV_WR_SEND;
  send.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  need(ibv_post_send(end.qp, &send, &bad) == 0, "no send posted");
}

int poll() {
  ibv_wc completion{};
  const int found = ibv_poll_cq(end.cq, 1, &completion);
  need(found >= 0, "a poll failed");
  need(found == 0 || completion.status == IBV_WC_SUCCESS, "a completion with an error");
  return found;
}

void sendAll(const void* bytes, std::size_t length) {
  need(send(end.peer, bytes, length, MSG_NOSIGNAL) == static_cast<ssize_t>(length), "the peer is gone");
}
void receiveAll(void* bytes, std::size_t length) {
  need(recv(end.peer, bytes, length, MSG_WAITALL) == static_cast<ssize_t>(length), "the peer is gone");
}

void connectToPeer(int receives) {
  const Address own{end.qp->qp_num, localId(end.context)};
  Address other;
  sendAll(&own, sizeof own);
  receiveAll(&other, sizeof other);
  connectReliable(end.qp, other.qp, static_cast<std::uint16_t>(other.lid));
  for (int slot = 0; slot < receives; ++slot) postReceive(static_cast<std::uint64_t>(slot));
  std::uint8_t ready = 1;
  sendAll(&ready, 1);
  receiveAll(&ready, 1);
}

sockaddr_in placeOf(const char* address, const char* port) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  need(inet_pton(AF_INET, address, &place.sin_addr) == 1, "no such address");
  return place;
}

void listenOn(const char* port) {
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in place = placeOf("0.0.0.0", port);
  need(bind(listening, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0, "the port is taken");
  need(listen(listening, 1) == 0, "can't listen");
  end.peer = accept(listening, nullptr, nullptr);
  need(end.peer >= 0, "nobody came");
  close(listening);
}

void callServer(const char* address, const char* port) {
  const sockaddr_in place = placeOf(address, port);
  for (int attempt = 0; attempt < 100; ++attempt) {
    end.peer = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(end.peer, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0) return;
    close(end.peer);
    usleep(100'000);
  }
  need(false, "no server");
}

// Tells the client to send; if it is to have arrived, waits until the client saw it acknowledged, and some more.
void ask(bool isToArrive) {
  std::uint8_t word = 1;
  sendAll(&word, 1);
  if (!isToArrive) return;
  receiveAll(&word, 1);
  usleep(20'000);
}

void serve(int messages) {
  connectToPeer(kDepth);
  std::uint8_t word = 0;
  for (int i = 0; i < messages; ++i) {
    need(poll() == 0, "a message that nobody asked for");
    const bool isEarly = i % 2 == 0;
    if (isEarly) ask(true);
    need(ibv_req_notify_cq(end.cq, 0) == 0, "not armed");
    if (!isEarly) ask(false);
    ibv_cq* which = nullptr;
    void* unused = nullptr;
    need(ibv_get_cq_event(end.channel, &which, &unused) == 0, "no event");
    ibv_ack_cq_events(which, 1);
    need(poll() == 1, "an event without a completion");
    postReceive(static_cast<std::uint64_t>(i + kDepth));
    if (!isEarly) receiveAll(&word, 1);
  }
}

void sendMessages(int messages) {
  connectToPeer(0);
  for (int i = 0; i < messages; ++i) {
    std::uint8_t word = 0;
    receiveAll(&word, 1);
    postSend(static_cast<std::uint64_t>(i));
    while (poll() == 0) {
    }
    sendAll(&word, 1);
  }
}

void closeDevice() {
  need(ibv_destroy_qp(end.qp) == 0, "the queue pair stays");
  need(ibv_destroy_cq(end.cq) == 0, "the completion queue stays");
  need(ibv_destroy_comp_channel(end.channel) == 0, "the channel stays");
  need(ibv_dereg_mr(end.mr) == 0, "the memory region stays");
  need(ibv_dealloc_pd(end.pd) == 0, "the protection domain stays");
  need(ibv_close_device(end.context) == 0, "the device stays open");
}

}  // namespace

int main(int argc, char** argv) {
  const bool isServer = argc == 5 && std::strcmp(argv[1], "server") == 0;
  need(isServer || (argc == 6 && std::strcmp(argv[1], "client") == 0), "usage: server PORT MESSAGES SIZE, or client");
  end.size = static_cast<std::uint32_t>(std::atoi(argv[argc - 1]));
  const int messages = std::atoi(argv[argc - 2]);
  openDevice();
  if (isServer) {
    listenOn(argv[2]);
    serve(messages);
  } else {
    callServer(argv[2], argv[3]);
    sendMessages(messages);
  }
  closeDevice();
  std::printf("one_outstanding: %d messages\n", messages);
  return 0;
}
