#include "verbs_shim/guarded_copy.h"

// The instructions that may fault have labels, to which the fault handler compares.
asm(R"(
  .text
  .p2align 4
  .globl hcasim_guarded_copy
  .hidden hcasim_guarded_copy
  .type hcasim_guarded_copy, @function
hcasim_guarded_copy:
  movq %rdx, %rcx
  .globl hcasim_guarded_copy_access
  .hidden hcasim_guarded_copy_access
hcasim_guarded_copy_access:
  rep movsb
  xorl %eax, %eax
  ret
  .size hcasim_guarded_copy, .-hcasim_guarded_copy
  .p2align 4
  .globl hcasim_guarded_load
  .hidden hcasim_guarded_load
  .type hcasim_guarded_load, @function
hcasim_guarded_load:
  .globl hcasim_guarded_load_access
  .hidden hcasim_guarded_load_access
hcasim_guarded_load_access:
  movq (%rsi), %rax
  movq %rax, (%rdi)
  xorl %eax, %eax
  ret
  .size hcasim_guarded_load, .-hcasim_guarded_load
  .globl hcasim_guarded_copy_landing
  .hidden hcasim_guarded_copy_landing
hcasim_guarded_copy_landing:
  movl $1, %eax
  ret
)");

extern "C" const char hcasim_guarded_copy_access[];
extern "C" const char hcasim_guarded_load_access[];
extern "C" const char hcasim_guarded_copy_landing[];

namespace hca::shim {

uintptr_t guardedCopyLanding(uintptr_t address) {
  const bool isGuarded = address == reinterpret_cast<uintptr_t>(hcasim_guarded_copy_access) ||
                         address == reinterpret_cast<uintptr_t>(hcasim_guarded_load_access);
  if (!isGuarded) return 0;
  return reinterpret_cast<uintptr_t>(hcasim_guarded_copy_landing);
}

}  // namespace hca::shim
