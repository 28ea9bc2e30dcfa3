// Children of fork(2) that use what their parent opened.
//
// usage: forked objects | memory | registers | device_memory | load_behind_store | grandchild | killed | outlives |
// fresh | exec
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/cosim/programs/self_connection.h"

using hcasim_test::need;
using hcasim_test::SelfConnection;

namespace {

constexpr int kRounds = 20;

pid_t inChild(const std::function<void()>& work) {
  const pid_t child = fork();
  need(child >= 0, "no child");
  if (child != 0) return child;
  work();
  _exit(0);
}

void expectSuccess(pid_t child) {
  int status = 0;
  need(waitpid(child, &status, 0) == child, "the child is lost");
  need(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child failed");
}

// A pair of descriptors that tells the other process to go on.
struct Signal {
  Signal() { need(pipe(ends) == 0, "no pipe"); }
  void give() const { need(write(ends[1], "", 1) == 1, "nothing told"); }
  void wait() const {
    char byte = 0;
    need(read(ends[0], &byte, 1) == 1, "nothing heard");
  }
  int ends[2] = {};
};

void poll(SelfConnection& connection) {
  for (int i = 0; i < kRounds; ++i) connection.round();
}

void pollAndWait(SelfConnection& connection) {
  poll(connection);
  for (int i = 0; i < kRounds; ++i) {
    connection.post();
    need(connection.waitAndPoll() == IBV_WC_SUCCESS, "a completion with an error");
  }
}

// Objects of its own on its parent's open device, while the parent goes on.
void objects() {
  SelfConnection parent;
  parent.open();
  parent.round();
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    children.push_back(inChild([&parent, i] {
      SelfConnection own;
      own.context = parent.context;
      own.open();
      pollAndWait(own);
      if (i == 1) return;  // leaves everything behind
      need(ibv_destroy_qp(own.qp) == 0 && ibv_destroy_cq(own.cq) == 0 && ibv_dereg_mr(own.mr) == 0, "not destroyed");
      need(ibv_destroy_comp_channel(own.channel) == 0 && ibv_dealloc_pd(own.pd) == 0, "not destroyed");
    }));
    pollAndWait(parent);
  }
  for (const pid_t child : children) expectSuccess(child);
  pollAndWait(parent);
}

// The same address is other memory in the child.
void memory() {
  SelfConnection parent;
  parent.open();
  std::memset(parent.own, 1, sizeof parent.own);
  const pid_t child = inChild([&parent] {
    SelfConnection own;
    own.context = parent.context;
    own.buffer = parent.own;
    own.open();
    std::memset(parent.own, 2, sizeof parent.own / 2);
    own.round();
    for (int i = 0; i < 8; ++i) need(parent.own[sizeof parent.own / 2 + i] == 2, "the child's memory isn't written");
  });
  expectSuccess(child);
  for (const std::uint8_t byte : parent.own) need(byte == 1, "the parent's memory was written");
  parent.round();
  // And the parent's is the parent's.
  Signal isDone;
  const pid_t looker = inChild([&] {
    isDone.wait();
    for (const std::uint8_t byte : parent.own) need(byte == 1, "the child's memory was written");
  });
  std::memset(parent.own, 3, sizeof parent.own / 2);
  parent.round();
  need(parent.own[sizeof parent.own / 2] == 3, "the parent's memory isn't written");
  isDone.give();
  expectSuccess(looker);
}

// The clock's page of registers, which the parent mapped.
void registers() {
  SelfConnection parent;
  parent.openDevice();
  const auto clock = [&parent] {
    ibv_values_ex values{};
    values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
    need(ibv_query_rt_values_ex(parent.context, &values) == 0, "no clock");
    return static_cast<std::uint64_t>(values.raw_clock.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(values.raw_clock.tv_nsec);
  };
  const std::uint64_t before = clock();
  need(before != 0, "the clock stands");
  expectSuccess(inChild([&] { need(clock() > before && clock() < ~std::uint64_t{0} / 2, "no clock in the child"); }));
}

ibv_dm* allocate(ibv_context* context, std::size_t length) {
  ibv_alloc_dm_attr wanted{};
  wanted.length = length;
  return ibv_alloc_dm(context, &wanted);
}

std::size_t mostDeviceMemory(ibv_context* context) {
  ibv_device_attr_ex device{};
  need(ibv_query_device_ex(context, nullptr, &device) == 0 && device.max_dm_size != 0, "no device memory");
  return device.max_dm_size;
}

// What the parent mapped, and the child's own.
void deviceMemory() {
  SelfConnection parent;
  parent.openDevice();
  ibv_dm* dm = allocate(parent.context, 256);
  const char text[16] = "of the parent  ";
  const char reply[16] = "of the child   ";
  need(dm != nullptr && ibv_memcpy_to_dm(dm, 0, text, sizeof text) == 0, "no device memory");
  expectSuccess(inChild([&] {
    char read[16] = "";
    need(ibv_memcpy_from_dm(read, dm, 0, sizeof read) == 0 && std::memcmp(read, text, sizeof text) == 0, "not read");
    need(ibv_memcpy_to_dm(dm, 64, reply, sizeof reply) == 0, "not written");
    ibv_dm* own = allocate(parent.context, 128);
    need(own != nullptr && ibv_memcpy_to_dm(own, 0, reply, sizeof reply) == 0, "no device memory of its own");
    need(ibv_memcpy_from_dm(read, own, 0, sizeof read) == 0 && std::memcmp(read, reply, sizeof reply) == 0, "lost");
    need(ibv_free_dm(own) == 0, "not freed");
  }));
  char read[16] = "";
  need(ibv_memcpy_from_dm(read, dm, 64, sizeof read) == 0 && std::memcmp(read, reply, sizeof reply) == 0, "not shared");
}

// Loads right behind stores, at the same simulated time.
void loadBehindStore() {
  SelfConnection parent;
  parent.openDevice();
  ibv_dm* dm = allocate(parent.context, 64);
  need(dm != nullptr, "no device memory");
  constexpr std::uint32_t kLoads = 3000;
  for (std::uint32_t i = 0; i < kLoads; ++i) {
    std::uint32_t read = ~i;
    need(ibv_memcpy_to_dm(dm, 0, &i, sizeof i) == 0 && ibv_memcpy_from_dm(&read, dm, 0, sizeof read) == 0, "no access");
    need(read == i, "another value was read");
  }
}

void grandchild() {
  SelfConnection parent;
  parent.open();
  expectSuccess(inChild([&parent] {
    SelfConnection own;
    own.context = parent.context;
    own.open();
    expectSuccess(inChild([&parent] {
      SelfConnection youngest;
      youngest.context = parent.context;
      youngest.open();
      pollAndWait(youngest);
    }));
    pollAndWait(own);
  }));
  pollAndWait(parent);
}

// It takes nothing of its parent's along, wherever it is.
void killed() {
  SelfConnection parent;
  parent.open();
  constexpr useconds_t kStep = 7000;
  for (unsigned i = 0; i < 5; ++i) {
    const pid_t child = inChild([&parent] {
      SelfConnection own;
      own.context = parent.context;
      own.open();
      for (;;) {
        own.round();
        ibv_free_dm(allocate(own.context, 64));
      }
    });
    poll(parent);
    usleep(i * kStep);
    need(kill(child, SIGKILL) == 0 && waitpid(child, nullptr, 0) == child, "not killed");
    pollAndWait(parent);
  }
}

// What was opened stays until the last one that has it is gone.
void outlives() {
  Signal isClosed, mayEnd;
  const pid_t parent = inChild([&] {
    SelfConnection connection;
    connection.open();
    need(allocate(connection.context, mostDeviceMemory(connection.context)) != nullptr, "no device memory");
    const pid_t self = getpid();
    inChild([&] {
      while (getppid() == self) usleep(1000);
      usleep(20000);
      SelfConnection own;
      own.context = connection.context;
      own.open();
      pollAndWait(own);
      isClosed.give();
      mayEnd.wait();
    });
  });
  expectSuccess(parent);
  isClosed.wait();
  SelfConnection stranger;
  stranger.open();
  const std::size_t all = mostDeviceMemory(stranger.context);
  need(allocate(stranger.context, all) == nullptr, "what the child has is gone");
  mayEnd.give();
  ibv_dm* dm = nullptr;
  for (int i = 0; i < 200 && dm == nullptr; ++i) {
    usleep(20000);
    dm = allocate(stranger.context, all);
  }
  need(dm != nullptr, "it is still there");
}

// Closes what it has from its parent and opens the device itself; or opens it where the parent has closed it.
void fresh() {
  SelfConnection parent;
  parent.open();
  const auto openItself = [] {
    SelfConnection own;
    own.open();
    pollAndWait(own);
    need(ibv_destroy_qp(own.qp) == 0, "not destroyed");
  };
  expectSuccess(inChild([&] {
    close(parent.context->cmd_fd);
    openItself();
  }));
  pollAndWait(parent);
  SelfConnection closed;
  closed.openDevice();
  need(ibv_close_device(closed.context) == 0, "not closed");
  expectSuccess(inChild(openItself));
  pollAndWait(parent);
}

// Nothing is left of it in another program, and its parent doesn't notice.
void execute(const char* self) {
  SelfConnection parent;
  parent.open();
  expectSuccess(inChild([&] {
    SelfConnection own;
    own.context = parent.context;
    own.open();
    own.round();
    execl(self, self, "objects", static_cast<char*>(nullptr));
  }));
  pollAndWait(parent);
}

}  // namespace

int main(int count, char** words) {
  const std::string way = count > 1 ? words[1] : "";
  if (way == "objects") objects();
  if (way == "memory") memory();
  if (way == "registers") registers();
  if (way == "device_memory") deviceMemory();
  if (way == "load_behind_store") loadBehindStore();
  if (way == "grandchild") grandchild();
  if (way == "killed") killed();
  if (way == "outlives") outlives();
  if (way == "fresh") fresh();
  if (way == "exec") execute(words[0]);
  std::printf("forked: %s\n", way.c_str());
}
