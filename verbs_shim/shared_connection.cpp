#include "verbs_shim/shared_connection.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "verbs_shim/real_calls.h"

namespace hca::shim {
namespace {

RealCall<decltype(&::poll)> realPoll("poll");
RealCall<decltype(&::close)> realClose("close");
RealCall<decltype(&::mmap)> realMap("mmap");

}  // namespace

int openConnection(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  const int fresh = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fresh < 0) return -1;
  constexpr int kHigh = 900;
  int opened = fcntl(fresh, F_DUPFD_CLOEXEC, kHigh);
  if (opened < 0) opened = fcntl(fresh, F_DUPFD_CLOEXEC, 3);
  realClose(fresh);
  if (opened < 0 || ::connect(opened, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return opened;
  realClose(opened);
  return -1;
}

void admitPeer(int connection) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return;
  prctl(PR_SET_PTRACER, static_cast<unsigned long>(peer.pid), 0UL, 0UL, 0UL);
}

bool receiveWelcome(int connection, int (&descriptors)[2]) {
  channel::Welcome welcome{};
  iovec data{&welcome, sizeof welcome};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptors)];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != sizeof welcome || welcome.error != 0) return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof descriptors)) {
    return false;
  }
  memcpy(descriptors, CMSG_DATA(header), sizeof descriptors);
  return true;
}

bool hasPeerEnded(int connection) {
  pollfd peer{connection, POLLIN, 0};
  return realPoll(&peer, 1UL, 0) > 0 && (peer.revents & (POLLHUP | POLLERR | POLLIN)) != 0;
}

void ringDoorbell(channel::Doorbell& doorbell) {
  __atomic_add_fetch(&doorbell.rings, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&doorbell.isSleeping, __ATOMIC_SEQ_CST) != 0) channel::futexWake(&doorbell.rings);
}

void* mapDescriptor(int descriptor, uint64_t length) {
  void* address = realMap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, off_t{0});
  realClose(descriptor);
  return address == MAP_FAILED ? nullptr : address;
}

}  // namespace hca::shim
