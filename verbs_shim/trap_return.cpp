#include "verbs_shim/trap_return.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Restores vector registers, general registers, flags, stack and program counter, the last three at once: what lies
// below the program's stack pointer is the program's, too. The numbers are places in gregset_t (sys/ucontext.h).
asm(R"(
  .text
  .p2align 4
  .globl hcasim_resume
  .hidden hcasim_resume
  .type hcasim_resume, @function
hcasim_resume:
  movl %edx, %eax
  shrq $32, %rdx
  xrstor64 (%rsi)
  xorl %eax, %eax
  movw %ss, %ax
  pushq %rax
  pushq 8*15(%rdi)
  pushq 8*17(%rdi)
  movw %cs, %ax
  pushq %rax
  pushq 8*16(%rdi)
  movq 8*0(%rdi), %r8
  movq 8*1(%rdi), %r9
  movq 8*2(%rdi), %r10
  movq 8*3(%rdi), %r11
  movq 8*4(%rdi), %r12
  movq 8*5(%rdi), %r13
  movq 8*6(%rdi), %r14
  movq 8*7(%rdi), %r15
  movq 8*9(%rdi), %rsi
  movq 8*10(%rdi), %rbp
  movq 8*11(%rdi), %rbx
  movq 8*12(%rdi), %rdx
  movq 8*13(%rdi), %rax
  movq 8*14(%rdi), %rcx
  movq 8*8(%rdi), %rdi
  iretq
  .size hcasim_resume, .-hcasim_resume
)");

static_assert(REG_R8 == 0 && REG_RDI == 8 && REG_RSI == 9 && REG_RCX == 14 && REG_RSP == 15 && REG_RIP == 16 &&
                  REG_EFL == 17,
              "hcasim_resume knows these places");

extern "C" [[noreturn]] void hcasim_resume(const greg_t* general, const void* vectors, uint64_t features);

namespace hca::shim {
namespace {

// What the kernel says of the vector registers that it saved, in the part of the legacy area that is left to software
// (struct _fpx_sw_bytes of asm/sigcontext.h).
struct SavedVectors {
  uint32_t magic;
  uint32_t wholeSize;
  uint64_t features;
};
constexpr size_t kSavedVectors = 464;
constexpr uint32_t kMagic = 0x46505853;

// Not 0 if the processor keeps return addresses of its own, which a jump out of the handler would not match.
uint64_t shadowStack() {
  uint64_t pointer = 0;
  asm volatile("rdsspq %0" : "+r"(pointer));
  return pointer;
}

}  // namespace

void returnFromTrap(const ucontext_t& context) {
  const void* vectors = context.uc_mcontext.fpregs;
  if (vectors == nullptr || shadowStack() != 0) return;
  SavedVectors saved;
  memcpy(&saved, static_cast<const uint8_t*>(vectors) + kSavedVectors, sizeof saved);
  if (saved.magic != kMagic) return;
  hcasim_resume(context.uc_mcontext.gregs, vectors, saved.features);
}

}  // namespace hca::shim
