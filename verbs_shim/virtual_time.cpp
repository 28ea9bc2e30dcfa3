#include "verbs_shim/virtual_time.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/guarded_copy.h"
#include "verbs_shim/register_trap.h"
#include "verbs_shim/settings.h"

namespace hca::shim {
namespace {

// Each look at the clock before there is a simulation: loops that wait for the clock are to end.
constexpr uint64_t kStep = 1000000;  // picoseconds
constexpr uint64_t kPerSecond = 1000000000;
uint64_t beforeSimulation = 0;
uint64_t kept = 0;  // time that had passed when the simulation came, which starts at 0

uint64_t timeBefore() { return __atomic_add_fetch(&beforeSimulation, kStep, __ATOMIC_RELAXED); }

uint64_t realTsc() {
  prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
  const uint64_t value = __builtin_ia32_rdtsc();
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  return value;
}

// The kernel's own code in the program: what it makes of the counter depends on the real one.
bool isInVdso(uintptr_t address) {
  constexpr uintptr_t kLength = 4 * 4096;
  const uintptr_t start = getauxval(AT_SYSINFO_EHDR);
  return start != 0 && address - start < kLength;
}

}  // namespace

bool hasVirtualTime() { return settings().tscKilohertz != 0 && !isInSimulation(); }

uint64_t virtualNow() {
  if (!isConnected()) return timeBefore();
  uint64_t local = 0;
  const bool hasBegun = __atomic_load_n(&kept, __ATOMIC_RELAXED) != 0;
  if (hasBegun && readClockLocally(local)) return virtualTimeOf(local);
  channel::Request request{};
  request.kind = channel::Kind::kReadClock;
  channel::Reply reply{};
  const int error = call(request, reply);
  if (error != 0) return timeBefore();
  uint64_t none = 0;
  const uint64_t before = __atomic_load_n(&beforeSimulation, __ATOMIC_RELAXED);
  __atomic_compare_exchange_n(&kept, &none, before + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return virtualTimeOf(reply.value[0]);
}

uint64_t virtualTimeOf(uint64_t clock) { return __atomic_load_n(&kept, __ATOMIC_RELAXED) + clock; }

// The program's first day: 1 January 2026, 00:00 UTC. Its machine runs since 1000 seconds.
uint64_t wallOffset() { return 1767225600 * kPerSecond; }
uint64_t uptimeOffset() { return 1000 * kPerSecond; }

uint64_t virtualTsc(uint64_t picoseconds) {
  constexpr uint64_t kPicosecondsPerKilocycle = 1000000000;
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(static_cast<Wide>(picoseconds) * settings().tscKilohertz / kPicosecondsPerKilocycle);
}

bool virtualSleep(uint64_t nanoseconds) {
  if (!isConnected()) {
    __atomic_add_fetch(&beforeSimulation, nanoseconds * 1000, __ATOMIC_RELAXED);
    return false;
  }
  channel::Request request{};
  request.kind = channel::Kind::kSleep;
  request.argument[0] = nanoseconds;
  channel::Reply reply{};
  return call(request, reply) == 0;
}

void trapTsc() {
  installTrap();
  trapInstructions(emulateTsc);
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

bool emulateTsc(void* opaque) {
  constexpr uint8_t kRdtsc[] = {0x0F, 0x31};
  constexpr uint8_t kRdtscp[] = {0x0F, 0x01, 0xF9};
  auto& registers = static_cast<ucontext_t*>(opaque)->uc_mcontext.gregs;
  uint8_t text[3] = {};
  const auto counter = static_cast<uintptr_t>(registers[REG_RIP]);
  if (guardedCopy(text, reinterpret_cast<const void*>(counter), sizeof text) != 0) return false;
  const bool isRdtscp = memcmp(text, kRdtscp, sizeof kRdtscp) == 0;
  if (!isRdtscp && memcmp(text, kRdtsc, sizeof kRdtsc) != 0) return false;
  const bool isReal = !hasVirtualTime() || isInVdso(counter);
  const uint64_t value = isReal ? realTsc() : virtualTsc(virtualNow());
  registers[REG_RAX] = static_cast<greg_t>(value & 0xFFFFFFFF);
  registers[REG_RDX] = static_cast<greg_t>(value >> 32);
  if (isRdtscp) registers[REG_RCX] = 0;
  registers[REG_RIP] += isRdtscp ? sizeof kRdtscp : sizeof kRdtsc;
  return true;
}

namespace {
__attribute__((constructor)) void start() {
  if (settings().tscKilohertz != 0) trapTsc();
}
}  // namespace

}  // namespace hca::shim
