// A register access leaves everything of the processor as it was: registers, flags and what lies below the stack
// pointer.
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "tests/cosim/programs/self_connection.h"

using hcasim_test::need;
using hcasim_test::SelfConnection;

namespace {

constexpr int kGeneral = 13;
constexpr int kVectors = 16;
constexpr int kBelow = 15;  // words below the stack pointer
constexpr std::uint64_t kCarry = 1, kSign = 0x80;

struct alignas(16) Processor {
  std::uint64_t vectors[kVectors][2];
  std::uint64_t general[kGeneral];
  std::uint64_t flags;
  std::uint64_t below[kBelow];
};

// Loads the processor from `before`, stores a word at `where`, and saves it in `after`.
extern "C" void storeBetween(const Processor* before, Processor* after, void* where);
asm(R"(
  .text
  .type storeBetween, @function
storeBetween:
  pushq %rbx
  pushq %rbp
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  pushq %rsi
  pushq %rdx
  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movdqa 16*\n(%rdi), %xmm\n
  .endr
  .irp n,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movq 368-8+8*\n(%rdi), %rax
  movq %rax, -8*\n(%rsp)
  .endr
  movq 256+8*0(%rdi), %rax
  movq 256+8*1(%rdi), %rbx
  movq 256+8*2(%rdi), %rcx
  movq 256+8*3(%rdi), %rbp
  movq 256+8*4(%rdi), %rsi
  movq 256+8*5(%rdi), %r8
  movq 256+8*6(%rdi), %r9
  movq 256+8*7(%rdi), %r10
  movq 256+8*8(%rdi), %r11
  movq 256+8*9(%rdi), %r12
  movq 256+8*10(%rdi), %r13
  movq 256+8*11(%rdi), %r14
  movq 256+8*12(%rdi), %r15
  movq (%rsp), %rdi
  cmpq $-1, %rsp
  movq %rax, (%rdi)
  movq 8(%rsp), %rdi
  movq %rax, 256+8*0(%rdi)
  movq %rbx, 256+8*1(%rdi)
  movq %rcx, 256+8*2(%rdi)
  movq %rbp, 256+8*3(%rdi)
  movq %rsi, 256+8*4(%rdi)
  movq %r8, 256+8*5(%rdi)
  movq %r9, 256+8*6(%rdi)
  movq %r10, 256+8*7(%rdi)
  movq %r11, 256+8*8(%rdi)
  movq %r12, 256+8*9(%rdi)
  movq %r13, 256+8*10(%rdi)
  movq %r14, 256+8*11(%rdi)
  movq %r15, 256+8*12(%rdi)
  .irp n,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movq -8*\n(%rsp), %rax
  movq %rax, 368-8+8*\n(%rdi)
  .endr
  pushfq
  popq 360(%rdi)
  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movdqa %xmm\n, 16*\n(%rdi)
  .endr
  addq $16, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbp
  popq %rbx
  ret
  .size storeBetween, .-storeBetween
)");
static_assert(offsetof(Processor, general) == 256 && offsetof(Processor, flags) == 360 &&
                  offsetof(Processor, below) == 368,
              "storeBetween knows these places");

Processor numbers(std::uint64_t seed) {
  Processor all{};
  auto* words = reinterpret_cast<std::uint64_t*>(&all);
  for (std::size_t i = 0; i < sizeof all / sizeof *words; ++i) words[i] = (i + 1) * seed;
  return all;
}

}  // namespace

int main() {
  SelfConnection own;
  own.open();
  mlx5dv_qp inside{};
  mlx5dv_obj object{};
  object.qp.in = own.qp;
  object.qp.out = &inside;
  need(mlx5dv_init_obj(&object, MLX5DV_OBJ_QP) == 0, "mlx5dv_init_obj failed");
  for (int i = 0; i < 100; ++i) {
    const Processor before = numbers(0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(i));
    Processor after = numbers(1);
    storeBetween(&before, &after, inside.bf.reg);  // a doorbell of a queue that isn't there
    need(std::memcmp(before.vectors, after.vectors, sizeof before.vectors) == 0, "vector registers changed");
    need(std::memcmp(before.general, after.general, sizeof before.general) == 0, "general registers changed");
    need(std::memcmp(before.below, after.below, sizeof before.below) == 0, "what is below the stack pointer changed");
    // The stack pointer is below the largest number: a borrow.
    need((after.flags & kCarry) != 0 && (after.flags & kSign) == 0, "flags changed");
    own.round();
  }
  std::puts("all is kept");
  return 0;
}
