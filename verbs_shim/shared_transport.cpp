// The simulation in a process of its own.
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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
#include "verbs_shim/shared_connection.h"
#include "verbs_shim/transport.h"

namespace hca::shim {
namespace {

using channel::SharedArea;
using channel::SharedSlot;
using channel::SlotState;

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
  connection = openConnection(settings().socket);
  if (connection < 0) {
    complain("there is no simulation at '%s' (any more)", settings().socket);
    return ENODEV;
  }
  admitPeer(connection);
  const channel::Hello hello{channel::kProtocolVersion, settings().host, 0};
  int descriptors[2];
  if (send(connection, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello ||
      !receiveWelcome(connection, descriptors)) {
    complain("the simulation at '%s' refuses this program: it is of another version, or has no host %u",
             settings().socket, settings().host);
    return ENODEV;
  }
  area = mapShared<SharedArea>(descriptors[0]);
  doorbell = mapShared<channel::Doorbell>(descriptors[1]);
  installInterrupt();
  looks = channel::looksBeforeSleep();
  return area != nullptr && doorbell != nullptr ? 0 : ENOMEM;
}

uint32_t attachThread(int threadId) {
  channel::wantShortSlices();
  return takeSlot(*area, threadId);
}

bool waitForAnswer(SharedSlot& slot) {
  return awaitAnswer(slot, connection, looks, [&slot] {
    if (!hasDeferredSignal() || !channel::isWait(slot.request.kind) || slot.isCancelled != 0) return;
    __atomic_store_n(&slot.isCancelled, 1U, __ATOMIC_SEQ_CST);
    ringDoorbell(*doorbell);
  });
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
  ringDoorbell(*doorbell);
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
  childConnection = openConnection(settings().socket);
  if (childConnection < 0) return false;
  const channel::Hello hello{channel::kProtocolVersion, settings().host, 1};
  bool isDone = send(childConnection, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello;
  ringDoorbell(*doorbell);
  int descriptors[2];
  isDone = isDone && receiveWelcome(childConnection, descriptors);
  if (isDone) {
    childArea = mapShared<SharedArea>(descriptors[0]);
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
  admitPeer(connection);
  (void)send(connection, &channel::kIsThere, sizeof channel::kIsThere, MSG_NOSIGNAL);
}

}  // namespace

// The end of the connection says that of the process.
const Transport sharedTransport{connect, attachThread, call, [] {}, prepareFork, forkedInParent, forkedInChild};

}  // namespace hca::shim
