#include "sim/cosim/program_listener.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace hca::cosim {
namespace {

int openSocket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("'" + path + "' is too long for a socket");
  std::strcpy(address.sun_path, path.c_str());
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const mode_t before = umask(0077);
  const bool isBound = fd >= 0 && bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  umask(before);
  constexpr int kBacklog = 64;
  if (!isBound || listen(fd, kBacklog) != 0) throw std::runtime_error("no socket can be made at '" + path + "'");
  return fd;
}

// A program's hello follows its connection at once: libhcasim_verbs sends it before it does anything else.
bool receiveHello(int connection, channel::Hello& hello) {
  constexpr int kPatience = 1000;  // milliseconds
  pollfd ready{connection, POLLIN, 0};
  return ::poll(&ready, 1, kPatience) == 1 &&
         recv(connection, &hello, sizeof hello, MSG_DONTWAIT) == static_cast<ssize_t>(sizeof hello);
}

}  // namespace

ProgramListener::ProgramListener(std::string path) : path_(std::move(path)), socket_(openSocket(path_)) {}

ProgramListener::~ProgramListener() {
  ::close(socket_);
  ::unlink(path_.c_str());
}

std::optional<Applicant> ProgramListener::accept() {
  Applicant applicant;
  applicant.connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  if (applicant.connection < 0) return std::nullopt;
  ucred peer{};
  socklen_t length = sizeof peer;
  const bool isKnown = getsockopt(applicant.connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0;
  if (isKnown && peer.uid == geteuid() && receiveHello(applicant.connection, applicant.hello)) {
    applicant.process = peer.pid;
    return applicant;
  }
  ::close(applicant.connection);
  return std::nullopt;
}

bool ProgramListener::admit(const Applicant& applicant, int area, int doorbell) {
  channel::Welcome welcome{0};
  const int descriptors[2] = {area, doorbell};
  iovec data{&welcome, sizeof welcome};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptors)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(header), descriptors, sizeof descriptors);
  return sendmsg(applicant.connection, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof welcome);
}

void ProgramListener::refuse(const Applicant& applicant) {
  const channel::Welcome welcome{EINVAL};
  (void)send(applicant.connection, &welcome, sizeof welcome, MSG_NOSIGNAL);
  ::close(applicant.connection);
}

bool hasHungUp(int connection) {
  pollfd peer{connection, POLLIN, 0};
  return ::poll(&peer, 1, 0) != 0;  // a program says nothing more after its hello
}

}  // namespace hca::cosim
