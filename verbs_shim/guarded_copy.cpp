#include "verbs_shim/guarded_copy.h"

// The one instruction that may fault has a label, to which the fault handler compares.
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
  .globl hcasim_guarded_copy_landing
  .hidden hcasim_guarded_copy_landing
hcasim_guarded_copy_landing:
  movl $1, %eax
  ret
  .size hcasim_guarded_copy, .-hcasim_guarded_copy
)");

extern "C" const char hcasim_guarded_copy_access[];
extern "C" const char hcasim_guarded_copy_landing[];

namespace hca::shim {

uintptr_t guardedCopyLanding(uintptr_t address) {
  if (address != reinterpret_cast<uintptr_t>(hcasim_guarded_copy_access)) return 0;
  return reinterpret_cast<uintptr_t>(hcasim_guarded_copy_landing);
}

}  // namespace hca::shim
