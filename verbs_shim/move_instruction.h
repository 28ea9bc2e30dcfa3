// An x86-64 instruction that moves data, in the few words that carrying it out takes.
#pragma once

#include <stdint.h>
#include <ucontext.h>

namespace hca::shim {

/// What a move takes from, or puts into, the processor.
struct ProcessorOperand {
  enum class Kind : uint8_t { kNone, kGeneral, kVector, kImmediate };
  static constexpr unsigned kLargest = 16;

  Kind kind;
  uint8_t index;  ///< of a general register in gregset_t, of a vector register its number
  uint8_t shift;  ///< 8 for AH and its like
  uint8_t width;  ///< bytes
  uint64_t immediate;

  /// Copies the operand to `bytes`, which holds kLargest.
  void read(const gregset_t& general, const _libc_fpstate* vectors, uint8_t* bytes) const;
  /// The same the other way. Writing 32 bits clears the upper half of a general register, as the processor does; a
  /// vector register gets all of kLargest. False for an immediate.
  bool write(gregset_t& general, _libc_fpstate* vectors, const uint8_t* bytes) const;
  bool write(gregset_t& general, uint64_t value) const;
};

struct MemoryOperand {
  static constexpr uint8_t kNone = 0xFF;

  uint8_t base;   ///< in gregset_t, or kNone
  uint8_t index;  ///< likewise
  uint8_t scale;
  int64_t displacement;

  /// The counter in `general` is that of the instruction.
  [[nodiscard]] uintptr_t address(const gregset_t& general) const {
    uint64_t sum = static_cast<uint64_t>(displacement);
    if (base != kNone) sum += static_cast<uint64_t>(general[base]);
    if (index != kNone) sum += static_cast<uint64_t>(general[index]) * scale;
    return sum;
  }
};

struct MoveInstruction {
  enum class Kind : uint8_t {
    kOther,     ///< none of the ones below
    kStore,     ///< `processor` to `memory`
    kLoad,      ///< `memory` to `processor`, the rest of the register cleared, or filled with the sign
    kAddress,   ///< the address of `memory` to `processor`
    kCopy,      ///< `source` to `processor`
    kCompare,   ///< flags of `memory` less `processor` (CMP)...
    kCompared,  ///< ... of `processor` less `memory`
    kTest       ///< flags of the bits that both have (TEST)
  };

  Kind kind;
  bool isPlain;    ///< MOV itself, rather than one of its relatives
  bool isSigned;   ///< of a load: the sign goes on
  uint8_t length;  ///< bytes of the instruction
  uint8_t width;   ///< bytes that are moved
  ProcessorOperand processor;
  ProcessorOperand source;
  MemoryOperand memory;
};

/// The flags register `before`, with what a kCompare, kCompared or kTest of `width` bytes makes of it.
[[nodiscard]] uint64_t compareFlags(MoveInstruction::Kind kind, unsigned width, uint64_t memory, uint64_t processor,
                                    uint64_t before);

/// The instruction at `address`; kOther also if nothing can be read there. What was seen once is remembered for as long
/// as the same bytes are there. Safe in a signal handler.
[[nodiscard]] MoveInstruction moveAt(uintptr_t address);

}  // namespace hca::shim
