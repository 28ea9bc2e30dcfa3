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

}  // namespace

ProgramListener::ProgramListener(std::string path) : path_(std::move(path)), socket_(openSocket(path_)) {}

ProgramListener::~ProgramListener() {
  for (const Stranger& stranger : strangers_) ::close(stranger.connection);
  ::close(socket_);
  ::unlink(path_.c_str());
}

void ProgramListener::letStrangersIn() {
  constexpr std::size_t kMost = 64;
  while (strangers_.size() < kMost) {
    const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    ucred peer{};
    socklen_t length = sizeof peer;
    const bool isKnown = getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
    if (isKnown) strangers_.push_back({connection, peer.pid, std::chrono::steady_clock::now()});
    if (!isKnown) ::close(connection);
  }
}

std::optional<Applicant> ProgramListener::accept() {
  constexpr auto kPatience = std::chrono::seconds(1);
  letStrangersIn();
  for (auto at = strangers_.begin(); at != strangers_.end();) {
    Applicant applicant;
    applicant.connection = at->connection;
    applicant.process = at->process;
    // One byte more than a hello: a longer message is none.
    struct {
      channel::Hello hello;
      std::uint8_t more;
    } message{};
    const ssize_t length = recv(at->connection, &message, sizeof message, MSG_DONTWAIT);
    const bool isSilent = length < 0 && (errno == EAGAIN || errno == EINTR);
    if (isSilent && std::chrono::steady_clock::now() - at->since < kPatience) {
      ++at;
      continue;
    }
    at = strangers_.erase(at);
    applicant.hello = message.hello;
    if (length == static_cast<ssize_t>(sizeof message.hello)) return applicant;
    ::close(applicant.connection);
  }
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

void ProgramListener::expectChild(int connection) {
  const int isWanted = 1;
  (void)setsockopt(connection, SOL_SOCKET, SO_PASSCRED, &isWanted, sizeof isWanted);
}

pid_t ProgramListener::findChild(int connection) {
  std::uint8_t word[2] = {};
  iovec data{word, sizeof word};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t length = recvmsg(connection, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  const bool isIt = length == 1 && word[0] == channel::kIsThere && header != nullptr &&
                    header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_CREDENTIALS &&
                    header->cmsg_len == CMSG_LEN(sizeof(ucred));
  if (!isIt) return -1;
  ucred child{};
  std::memcpy(&child, CMSG_DATA(header), sizeof child);
  return child.uid == geteuid() && child.pid > 0 ? child.pid : -1;
}

bool hasHungUp(int connection) {
  pollfd peer{connection, POLLIN, 0};
  return ::poll(&peer, 1, 0) != 0;  // a program says nothing more after its hello
}

}  // namespace hca::cosim
