// The simulation in a process of its own.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "verbs_shim/channel/futex.h"
#include "verbs_shim/channel/shared_memory.h"
#include "verbs_shim/channel/short_slices.h"
#include "verbs_shim/channel_client.h"
#include "verbs_shim/fatal_event.h"
#include "verbs_shim/real_calls.h"
#include "verbs_shim/register_trap.h"
#include "verbs_shim/settings.h"
#include "verbs_shim/transport.h"

namespace hca::shim {
namespace {

using channel::SharedArea;
using channel::SharedSlot;
using channel::SlotState;

RealCall<decltype(&::poll)> realPoll("poll");
RealCall<decltype(&::close)> realClose("close");
RealCall<decltype(&::munmap)> realUnmap("munmap");

SharedArea* area = nullptr;
channel::Doorbell* doorbell = nullptr;
int connection = -1;
bool isDead = false;
unsigned looks = 0;

// Of a child that is about to be forked.
SharedArea* childArea = nullptr;
int childConnection = -1;

// Only the simulation's process may look into this one, besides whom the system lets do so anyway.
void admitSimulation() {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return;
  prctl(PR_SET_PTRACER, static_cast<unsigned long>(peer.pid), 0UL, 0UL, 0UL);
}

// The descriptors of both areas; false if none came.
bool receiveWelcome(int from, int (&descriptors)[2]) {
  channel::Welcome welcome{};
  iovec data{&welcome, sizeof welcome};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptors)];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != sizeof welcome || welcome.error != 0) return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof descriptors)) {
    return false;
  }
  memcpy(descriptors, CMSG_DATA(header), sizeof descriptors);
  return true;
}

template <class Struct>
Struct* map(int descriptor) {
  void* address = ::mmap(nullptr, sizeof(Struct), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  realClose(descriptor);
  return address == MAP_FAILED ? nullptr : static_cast<Struct*>(address);
}

// -1 if there is nobody.
int openConnection() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (strlen(settings().socket) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, settings().socket);
  const int fresh = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fresh < 0) return -1;
  // Out of the way of programs that count on small numbers.
  constexpr int kHigh = 900;
  int opened = fcntl(fresh, F_DUPFD_CLOEXEC, kHigh);
  if (opened < 0) opened = fcntl(fresh, F_DUPFD_CLOEXEC, 3);
  realClose(fresh);
  if (opened < 0 || ::connect(opened, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return opened;
  realClose(opened);
  return -1;
}

// When the thread got its last answer, if it is watched.
__attribute__((tls_model("initial-exec"))) __thread uint64_t answeredAt = 0;

uint64_t processorTime() {
  timespec time{};
  syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);  // the C library's own way may read a trapped counter
  constexpr uint64_t kPerSecond = 1'000'000'000;
  return static_cast<uint64_t>(time.tv_sec) * kPerSecond + static_cast<uint64_t>(time.tv_nsec);
}

// A thread that looks at its memory in a loop, without a call, needs none of its processor time until that memory
// changes: the simulation makes it sleep here. Others can't see to the microsecond how much of it a thread has spent;
// so it says that itself.
void onInterrupt(int) {
  if (isInTrap()) return;  // it is about to call
  const int savedErrno = errno;
  noteInterrupt();
  channel::Request request;
  channel::clear(request, channel::Kind::kSpinning);
  request.argument[0] = answeredAt == 0 ? UINT64_MAX : processorTime() - answeredAt;
  channel::Reply reply{};
  (void)call(request, reply);
  errno = savedErrno;
}

void installInterrupt() {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = onInterrupt;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  sigdelset(&action.sa_mask, SIGSEGV);
  sigdelset(&action.sa_mask, SIGBUS);
  sigaction(SIGRTMIN + channel::kInterruptOffset, &action, nullptr);
}

int connect() {
  connection = openConnection();
  if (connection < 0) {
    complain("there is no simulation at '%s' (any more)", settings().socket);
    return ENODEV;
  }
  admitSimulation();
  const channel::Hello hello{channel::kProtocolVersion, settings().host, 0};
  int descriptors[2];
  if (send(connection, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello ||
      !receiveWelcome(connection, descriptors)) {
    complain("the simulation at '%s' refuses this program: it is of another version, or has no host %u",
             settings().socket, settings().host);
    return ENODEV;
  }
  area = map<SharedArea>(descriptors[0]);
  doorbell = map<channel::Doorbell>(descriptors[1]);
  installInterrupt();
  looks = channel::looksBeforeSleep();
  return area != nullptr && doorbell != nullptr ? 0 : ENOMEM;
}

uint32_t attachThread(int threadId) {
  channel::wantShortSlices();
  for (uint32_t i = 0; i < SharedArea::kSlots; ++i) {
    SharedSlot& slot = area->slots[i];
    uint32_t expected = static_cast<uint32_t>(SlotState::kFree);
    if (!__atomic_compare_exchange_n(&slot.state, &expected, static_cast<uint32_t>(SlotState::kIdle), false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      continue;
    }
    slot.threadId = threadId;
    uint32_t used = __atomic_load_n(&area->used, __ATOMIC_RELAXED);
    while (used <= i &&
           !__atomic_compare_exchange_n(&area->used, &used, i + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    return i;
  }
  return SharedArea::kSlots;
}

bool hasSimulationEnded() {
  pollfd peer{connection, POLLIN, 0};
  return realPoll(&peer, 1UL, 0) > 0 && (peer.revents & (POLLHUP | POLLERR | POLLIN)) != 0;
}

void ringDoorbell() {
  __atomic_add_fetch(&doorbell->rings, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&doorbell->isSleeping, __ATOMIC_SEQ_CST) != 0) channel::futexWake(&doorbell->rings);
}

bool waitForAnswer(SharedSlot& slot) {
  constexpr timespec kLook{0, 200'000'000};  // whether the simulation is still there
  for (;;) {
    const uint32_t state = __atomic_load_n(&slot.state, __ATOMIC_ACQUIRE);
    if (state == static_cast<uint32_t>(SlotState::kAnswered)) return true;
    if (channel::hasChangedSoon(&slot.state, state, looks)) continue;
    channel::futexWait(&slot.state, state, &kLook);
    if (hasDeferredSignal() && channel::isWait(slot.request.kind) && slot.isCancelled == 0) {
      __atomic_store_n(&slot.isCancelled, 1U, __ATOMIC_SEQ_CST);
      ringDoorbell();
    }
    const bool isThere = __atomic_load_n(&slot.state, __ATOMIC_ACQUIRE) == static_cast<uint32_t>(SlotState::kAnswered);
    if (!isThere && hasSimulationEnded()) return false;
  }
}

// The simulation gets at each page of this process by itself: for large buffers large pages save a seventh of its time.
// Kernels before Linux 6.1 refuse (madvise(2)), which does no harm.
void useLargePages(uint64_t address, uint64_t length) {
  constexpr int kCollapse = 25;  // MADV_COLLAPSE, which older headers lack
  constexpr uint64_t kLarge = uint64_t{1} << 21, kMost = uint64_t{1} << 30;
  const uint64_t from = (address + kLarge - 1) / kLarge * kLarge;
  const uint64_t to = (address + length) / kLarge * kLarge;
  if (length > kMost || to <= from) return;
  const int savedErrno = errno;
  madvise(reinterpret_cast<void*>(from), to - from, kCollapse);
  errno = savedErrno;
}

void call(uint32_t thread, const channel::Request& request, channel::Reply& reply) {
  reply.error = EIO;
  if (thread >= SharedArea::kSlots || __atomic_load_n(&isDead, __ATOMIC_RELAXED)) return;
  SharedSlot& slot = area->slots[thread];
  channel::copy(slot.request, request);
  slot.isCancelled = 0;
  __atomic_store_n(&slot.state, static_cast<uint32_t>(SlotState::kSubmitted), __ATOMIC_SEQ_CST);
  ringDoorbell();
  if (!waitForAnswer(slot)) {
    if (!__atomic_exchange_n(&isDead, true, __ATOMIC_RELAXED)) {
      complain("the simulation has ended");
      reportFatal();
    }
    return;
  }
  reply = slot.reply;
  answeredAt = reply.grace == 0 ? 0 : processorTime();
  if (request.kind == channel::Kind::kCommand) useLargePages(reply.value[0], reply.value[1]);
  const bool isOver = request.kind == channel::Kind::kThreadEnds;
  __atomic_store_n(&slot.state, static_cast<uint32_t>(isOver ? SlotState::kFree : SlotState::kIdle), __ATOMIC_RELEASE);
}

// The child inherits the new connection. Where there is no child, or it ends, the connection does, too.
bool prepareFork() {
  if (__atomic_load_n(&isDead, __ATOMIC_RELAXED)) return false;
  childConnection = openConnection();
  if (childConnection < 0) return false;
  const channel::Hello hello{channel::kProtocolVersion, settings().host, 1};
  bool isDone = send(childConnection, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello;
  ringDoorbell();
  int descriptors[2];
  isDone = isDone && receiveWelcome(childConnection, descriptors);
  if (isDone) {
    childArea = map<SharedArea>(descriptors[0]);
    realClose(descriptors[1]);  // all programs have the same doorbell
    isDone = childArea != nullptr;
  }
  if (!isDone) {
    realClose(childConnection);
    childConnection = -1;
  }
  return isDone;
}

void forkedInParent() {
  realClose(childConnection);
  realUnmap(childArea, sizeof(SharedArea));
  childConnection = -1;
  childArea = nullptr;
}

void forkedInChild() {
  realClose(connection);
  realUnmap(area, sizeof(SharedArea));
  connection = childConnection;
  area = childArea;
  childConnection = -1;
  childArea = nullptr;
  answeredAt = 0;
  if (connection < 0) {
    realUnmap(doorbell, sizeof(channel::Doorbell));
    doorbell = nullptr;
    return;
  }
  admitSimulation();
  (void)send(connection, &channel::kIsThere, sizeof channel::kIsThere, MSG_NOSIGNAL);
}

}  // namespace

// The end of the connection says that of the process.
const Transport sharedTransport{connect, attachThread, call, [] {}, prepareFork, forkedInParent, forkedInChild};

}  // namespace hca::shim
