// Speaks to a simulation that is served as no honest program would, and checks that it reaches nothing that isn't its
// own: another process of the same user (the victim, a child) must keep its memory, and the simulation must go on.
//
// usage: attacker    with HCASIM_SOCKET in the environment
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "verbs_shim/channel/futex.h"
#include "verbs_shim/channel/shared_memory.h"

namespace {

using namespace hca::channel;

void need(bool fine, const char* what) {
  if (fine) return;
  std::fprintf(stderr, "attacker: %s (errno %d)\n", what, errno);
  std::exit(1);
}

int connectTo(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  need(fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "no connection");
  return fd;
}

// True if the simulation lets us in; then with its descriptors.
bool greet(int fd, const void* hello, std::size_t length, int (&descriptors)[2]) {
  need(send(fd, hello, length, MSG_NOSIGNAL) == static_cast<ssize_t>(length), "no hello sent");
  Welcome welcome{-1};
  iovec data{&welcome, sizeof welcome};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptors)];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(fd, &message, 0) != sizeof welcome || welcome.error != 0) return false;
  std::memcpy(descriptors, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptors);
  return true;
}

void malformedHellos(const char* path) {
  int descriptors[2];
  const std::uint32_t tooLong[64] = {kProtocolVersion, 0};
  const Hello hellos[] = {{kProtocolVersion + 1, 0, 0},
                          {0, 0, 0},
                          {kProtocolVersion, 0xFFFFFFFF, 0},
                          {kProtocolVersion, 2, 0},
                          {kProtocolVersion, 0, 1}};
  for (const Hello& hello : hellos) {
    const int fd = connectTo(path);
    need(!greet(fd, &hello, sizeof hello, descriptors), "a wrong hello was welcome");
    close(fd);
  }
  for (const std::size_t length : {std::size_t{1}, std::size_t{7}, sizeof tooLong}) {
    const int fd = connectTo(path);
    need(!greet(fd, tooLong, length, descriptors), "a hello of another length was welcome");
    close(fd);
  }
  // One that says nothing holds nobody up.
  (void)connectTo(path);
}

class Channel {
 public:
  explicit Channel(const char* path, bool isForChild = false) : fd_(connectTo(path)) {
    const Hello hello{kProtocolVersion, 0, isForChild ? 1U : 0U};
    int descriptors[2];
    need(greet(fd_, &hello, sizeof hello, descriptors), "not welcome");
    need(ftruncate(descriptors[0], 0) != 0 && ftruncate(descriptors[1], 0) != 0, "shared memory can be taken away");
    area_ = static_cast<SharedArea*>(map(descriptors[0], sizeof(SharedArea)));
    doorbell_ = static_cast<Doorbell*>(map(descriptors[1], sizeof(Doorbell)));
  }
  SharedArea& area() { return *area_; }
  void claim() { need(send(fd_, &kIsThere, sizeof kIsThere, MSG_NOSIGNAL) == sizeof kIsThere, "no claim sent"); }

  /// False if there is no answer: a wait.
  bool call(std::uint32_t slot, const Request& request, Reply& reply) {
    SharedSlot& own = area_->slots[slot];
    own.threadId = getpid();
    own.isCancelled = 0;
    own.request = request;
    if (area_->used <= slot) area_->used = slot + 1;
    __atomic_store_n(&own.state, static_cast<std::uint32_t>(SlotState::kSubmitted), __ATOMIC_SEQ_CST);
    ring();
    constexpr timespec kLook{0, 20'000'000};
    for (int i = 0; i < 20; ++i) {
      const std::uint32_t state = __atomic_load_n(&own.state, __ATOMIC_ACQUIRE);
      if (state == static_cast<std::uint32_t>(SlotState::kAnswered)) {
        reply = own.reply;
        __atomic_store_n(&own.state, static_cast<std::uint32_t>(SlotState::kIdle), __ATOMIC_SEQ_CST);
        return true;
      }
      futexWait(&own.state, state, &kLook);
    }
    return false;
  }
  void ring() {
    __atomic_add_fetch(&doorbell_->rings, 1, __ATOMIC_SEQ_CST);
    futexWake(&doorbell_->rings);
  }

 private:
  static void* map(int descriptor, std::size_t length) {
    void* address = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    need(address != MAP_FAILED, "shared memory can't be mapped");
    return address;
  }
  int fd_;
  SharedArea* area_;
  Doorbell* doorbell_;
};

// A place that was made for a child of this process is nobody else's, this process included.
void otherChildren(const char* path) {
  Channel own(path);
  Request open{};
  open.kind = Kind::kOpenDevice;
  Reply reply{};
  need(own.call(0, open, reply) && reply.error == 0, "the device can't be opened");
  Request close = open;
  close.kind = Kind::kCloseDevice;
  close.file = static_cast<std::uint32_t>(reply.value[0]);
  {
    Channel forChild(path, true);
    forChild.claim();
    need(!forChild.call(0, open, reply), "this process is served as its own child");
  }
  Channel forGrandchild(path, true);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      forGrandchild.claim();
      _exit(forGrandchild.call(0, close, reply) ? 1 : 0);
    }
    int status = 0;
    waitpid(grandchild, &status, 0);
    _exit(WEXITSTATUS(status));
  }
  int status = 0;
  need(waitpid(child, &status, 0) == child && status == 0, "a child of somebody else is served");
}

// Values that are wrong in interesting ways: ours, the victim's, the kernel's.
std::uint64_t wild(std::mt19937_64& random, const void* victims) {
  switch (random() % 8) {
    case 0:
      return random();
    case 1:
      return reinterpret_cast<std::uint64_t>(victims);
    case 2:
      return 0xFFFF800000000000 | random();
    case 3:
      return 0;
    case 4:
      return ~std::uint64_t{0};
    case 5:
      return 0xC0181B01;  // RDMA_VERBS_IOCTL
    case 6:
      return (random() % 16) << 32 | random() % 16;
    default:
      return random() % 4096;
  }
}

void wildMessages(const char* path, const void* victims, unsigned seed) {
  Channel channel(path);
  std::mt19937_64 random(seed);
  Request open{};
  open.kind = Kind::kOpenDevice;
  Reply reply{};
  need(channel.call(0, open, reply), "the device was not opened");
  std::uint32_t slot = 0;
  for (int i = 0; i < 3000; ++i) {
    Request request{};
    request.kind = static_cast<Kind>(random() % 22);
    request.file =
        random() % 2 == 0 ? static_cast<std::uint32_t>(reply.value[0]) : static_cast<std::uint32_t>(random());
    for (std::uint64_t& argument : request.argument) argument = wild(random, victims);
    request.length = static_cast<std::uint32_t>(random() % 3 == 0 ? random() : random() % 80);
    // Simulated sleeps of hours are its own right, but take long.
    if (request.kind == Kind::kSleep) request.argument[0] %= 1000;
    if (request.kind == Kind::kWaitForEvent || request.kind == Kind::kJoinThread || request.kind == Kind::kPark)
      request.argument[1] = 1000;
    Reply ignored{};
    if (!channel.call(slot, request, ignored)) slot = (slot + 1) % 200;
  }
  // What isn't a message at all.
  for (std::uint32_t i = 0; i < SharedArea::kSlots; ++i) {
    channel.area().slots[i].state = static_cast<std::uint32_t>(random());
    channel.area().slots[i].threadId = static_cast<std::int32_t>(random());
  }
  channel.area().used = 0xFFFFFFFF;
  channel.ring();
  usleep(20000);
}

constexpr std::size_t kSecret = 1 << 16;

}  // namespace

int main() {
  const char* path = std::getenv("HCASIM_SOCKET");
  need(path != nullptr, "HCASIM_SOCKET isn't set");
  void* memory = mmap(nullptr, kSecret, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(memory, 0x5A, kSecret);
  int done[2];
  need(pipe(done) == 0, "no pipe");
  const pid_t victim = fork();
  if (victim == 0) {
    close(done[1]);
    char nothing = 0;
    (void)!read(done[0], &nothing, 1);
    for (std::size_t i = 0; i < kSecret; ++i) {
      if (static_cast<unsigned char*>(memory)[i] != 0x5A) _exit(1);
    }
    _exit(0);
  }
  malformedHellos(path);
  otherChildren(path);
  for (unsigned seed = 1; seed <= 3; ++seed) wildMessages(path, memory, seed);
  close(done[1]);
  int status = 0;
  need(waitpid(victim, &status, 0) == victim && status == 0, "the victim's memory was changed");
  std::printf("attacker: nothing reached\n");
  return 0;
}
