#include "verbs_shim/vfio/function_client.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs_shim/real_calls.h"
#include "verbs_shim/settings.h"
#include "verbs_shim/shared_connection.h"

namespace hca::shim {
namespace {

using channel::FunctionArea;
using channel::FunctionKind;
using channel::FunctionReply;
using channel::FunctionRequest;
using channel::FunctionSlot;
using channel::SlotState;

RealCall<decltype(&::close)> realClose("close");

enum class State : int { kNew, kConnected, kFailed, kEnded };

pthread_mutex_t connecting = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t sending = PTHREAD_MUTEX_INITIALIZER;  // descriptors and the request that they belong to
State state = State::kNew;
int connection = -1;
FunctionArea* area = nullptr;
channel::Doorbell* doorbell = nullptr;
unsigned looks = 0;

// What the parent has open is the parent's, and ends with it: the connection isn't to outlive it here.
void forgetInChild() {
  if (state == State::kConnected) {
    state = State::kEnded;
    realClose(connection);
  }
  pthread_mutex_init(&connecting, nullptr);
  pthread_mutex_init(&sending, nullptr);
}

bool isWelcome() {
  const channel::Hello hello{channel::kFunctionProtocolVersion, settings().host, 0};
  int descriptors[2];
  if (send(connection, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) return false;
  if (!receiveWelcome(connection, descriptors)) return false;
  area = mapShared<FunctionArea>(descriptors[0]);
  doorbell = mapShared<channel::Doorbell>(descriptors[1]);
  return area != nullptr && doorbell != nullptr;
}

State connect() {
  if (settings().socket == nullptr) return State::kFailed;
  connection = openConnection(settings().socket);
  if (connection < 0) {
    complain("there is no simulation at '%s' (any more)", settings().socket);
    return State::kFailed;
  }
  admitPeer(connection);
  if (!isWelcome()) {
    complain("the simulation at '%s' refuses this program: it is of another version, or has no host %u",
             settings().socket, settings().host);
    return State::kFailed;
  }
  looks = channel::looksBeforeSleep();
  pthread_atfork(nullptr, nullptr, forgetInChild);
  return State::kConnected;
}

State connected() {
  const State now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
  if (now != State::kNew) return now;
  pthread_mutex_lock(&connecting);
  if (state == State::kNew) __atomic_store_n(&state, connect(), __ATOMIC_RELEASE);
  pthread_mutex_unlock(&connecting);
  return state;
}

// More threads than slots in a call at the same time wait for each other.
FunctionSlot& takeFreeSlot() {
  for (;;) {
    const uint32_t index = takeSlot(*area, static_cast<int>(syscall(SYS_gettid)));
    if (index < FunctionArea::kSlots) return area->slots[index];
    sched_yield();
  }
}

uint32_t bytesIn(const FunctionRequest& request) {
  const bool carries = request.kind == FunctionKind::kWriteBar || request.kind == FunctionKind::kWriteConfig;
  return carries ? request.length : 0;
}

}  // namespace

int call(const FunctionRequest& request, FunctionReply& reply) {
  const State now = connected();
  if (now != State::kConnected) return reply.error = now == State::kEnded ? EIO : ENODEV;
  FunctionSlot& slot = takeFreeSlot();
  memcpy(static_cast<void*>(&slot.request), &request, offsetof(FunctionRequest, bytes));
  memcpy(slot.request.bytes, request.bytes, bytesIn(request));
  __atomic_store_n(&slot.state, static_cast<uint32_t>(SlotState::kSubmitted), __ATOMIC_SEQ_CST);
  ringDoorbell(*doorbell);
  if (!awaitAnswer(slot, connection, looks, [] {})) {
    if (__atomic_exchange_n(&state, State::kEnded, __ATOMIC_ACQ_REL) == State::kConnected) {
      complain("the simulation has ended");
    }
    return reply.error = EIO;
  }
  reply = slot.reply;
  __atomic_store_n(&slot.state, static_cast<uint32_t>(SlotState::kFree), __ATOMIC_RELEASE);
  return reply.error;
}

namespace {

bool sendDescriptors(const channel::VectorDescriptors& named, const int* descriptors) {
  iovec data{const_cast<channel::VectorDescriptors*>(&named), sizeof named};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * channel::VectorDescriptors::kMost)];
  memset(control, 0, sizeof control);
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(sizeof(int) * named.count);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * named.count);
  memcpy(CMSG_DATA(header), descriptors, sizeof(int) * named.count);
  return sendmsg(connection, &message, MSG_NOSIGNAL) == sizeof named;
}

// 0 or an errno. `sent`: how many were.
int sendAll(uint32_t first, uint32_t count, const int32_t* descriptors, uint64_t& sent) {
  channel::VectorDescriptors named{};
  int chosen[channel::VectorDescriptors::kMost];
  for (uint32_t i = 0; i < count; ++i) {
    if (descriptors[i] >= 0) {
      named.vector[named.count] = first + i;
      chosen[named.count++] = descriptors[i];
    }
    const bool isFull = named.count == channel::VectorDescriptors::kMost || i + 1 == count;
    if (!isFull || named.count == 0) continue;
    if (!sendDescriptors(named, chosen)) return errno;
    sent += named.count;
    named.count = 0;
  }
  return 0;
}

}  // namespace

int setVectors(uint32_t function, uint32_t first, uint32_t count, const int32_t* descriptors) {
  if (connected() != State::kConnected) return ENODEV;
  FunctionRequest request;
  clear(request, FunctionKind::kSetVectors, function);
  request.argument[0] = first;
  request.argument[1] = count;
  FunctionReply reply;
  pthread_mutex_lock(&sending);
  int error = sendAll(first, count, descriptors, request.argument[2]);
  if (error == 0 || request.argument[2] != 0) {
    const int answer = call(request, reply);
    if (error == 0) error = answer;
  }
  pthread_mutex_unlock(&sending);
  return error;
}

}  // namespace hca::shim
