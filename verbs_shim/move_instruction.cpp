#include "verbs_shim/move_instruction.h"

#include <Zydis/Zydis.h>
#include <string.h>

#include "verbs_shim/guarded_copy.h"

#ifndef __x86_64__
#error "hcasim cosim knows the instructions of x86-64 alone"
#endif

namespace hca::shim {
namespace {

using Kind = MoveInstruction::Kind;

constexpr unsigned kWord = 8;
constexpr unsigned kLongest = 15;      // bytes of an instruction
constexpr unsigned kText = 2 * kWord;  // bytes that are looked at
constexpr unsigned kBitsPerByte = 8;

constexpr uint8_t kGeneral[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                  REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

const ZydisDecoder& decoder() {
  static ZydisDecoder instance;
  static bool isReady = false;
  if (!isReady) {
    ZydisDecoderInit(&instance, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    isReady = true;
  }
  return instance;
}

// False for a register that moves don't name.
bool describe(ZydisRegister name, ProcessorOperand& operand) {
  const ZydisRegisterClass kind = ZydisRegisterGetClass(name);
  if (kind == ZYDIS_REGCLASS_XMM) {
    operand.kind = ProcessorOperand::Kind::kVector;
    operand.index = static_cast<uint8_t>(ZydisRegisterGetId(name));
    return operand.index < 16;
  }
  const bool isGeneral = kind == ZYDIS_REGCLASS_GPR8 || kind == ZYDIS_REGCLASS_GPR16 || kind == ZYDIS_REGCLASS_GPR32 ||
                         kind == ZYDIS_REGCLASS_GPR64;
  if (!isGeneral) return false;
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
  operand.kind = ProcessorOperand::Kind::kGeneral;
  operand.index = kGeneral[ZydisRegisterGetId(whole)];
  const bool isHigh = name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH;
  operand.shift = isHigh ? kBitsPerByte : 0;
  return true;
}

bool describe(const ZydisDecodedOperand& from, ProcessorOperand& operand) {
  operand.width = static_cast<uint8_t>(from.size / kBitsPerByte);
  if (operand.width == 0 || operand.width > ProcessorOperand::kLargest) return false;
  if (from.type == ZYDIS_OPERAND_TYPE_REGISTER) return describe(from.reg.value, operand);
  if (from.type != ZYDIS_OPERAND_TYPE_IMMEDIATE) return false;
  operand.kind = ProcessorOperand::Kind::kImmediate;
  operand.immediate = from.imm.value.u;
  return true;
}

bool describe(ZydisRegister name, uint8_t& index) {
  index = MemoryOperand::kNone;
  if (name == ZYDIS_REGISTER_NONE) return true;
  if (ZydisRegisterGetClass(name) != ZYDIS_REGCLASS_GPR64) return false;
  index = kGeneral[ZydisRegisterGetId(name)];
  return true;
}

// Addresses in thread-local segments and of 32 bits are not for registers of a device.
bool describe(const ZydisDecodedOperand& from, unsigned length, MemoryOperand& operand) {
  const ZydisDecodedOperandMem& memory = from.mem;
  if (memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS) return false;
  operand.scale = memory.scale;
  operand.displacement = memory.disp.value;
  if (memory.base == ZYDIS_REGISTER_RIP) {
    operand.base = REG_RIP;
    operand.index = MemoryOperand::kNone;
    operand.displacement += length;
    return true;
  }
  return describe(memory.base, operand.base) && describe(memory.index, operand.index);
}

bool isStore(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVNTI:
    case ZYDIS_MNEMONIC_MOVUPS:
    case ZYDIS_MNEMONIC_MOVAPS:
    case ZYDIS_MNEMONIC_MOVDQU:
    case ZYDIS_MNEMONIC_MOVDQA:
    case ZYDIS_MNEMONIC_MOVNTDQ:
    case ZYDIS_MNEMONIC_MOVNTPS:
    case ZYDIS_MNEMONIC_MOVUPD:
    case ZYDIS_MNEMONIC_MOVAPD:
    case ZYDIS_MNEMONIC_MOVQ:
    case ZYDIS_MNEMONIC_MOVD:
    case ZYDIS_MNEMONIC_MOVSS:
    case ZYDIS_MNEMONIC_MOVSD:
      return true;
    default:
      return false;
  }
}

// None of them changes flags.
bool isLoad(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
    case ZYDIS_MNEMONIC_MOVUPS:
    case ZYDIS_MNEMONIC_MOVAPS:
    case ZYDIS_MNEMONIC_MOVUPD:
    case ZYDIS_MNEMONIC_MOVAPD:
    case ZYDIS_MNEMONIC_MOVDQU:
    case ZYDIS_MNEMONIC_MOVDQA:
    case ZYDIS_MNEMONIC_LDDQU:
    case ZYDIS_MNEMONIC_MOVQ:
    case ZYDIS_MNEMONIC_MOVD:
    case ZYDIS_MNEMONIC_MOVSS:
    case ZYDIS_MNEMONIC_MOVSD:
      return true;
    default:
      return false;
  }
}

// Of two operands of which one is in memory; kOther for any other instruction.
Kind comparison(ZydisMnemonic mnemonic, bool isMemoryFirst) {
  if (mnemonic == ZYDIS_MNEMONIC_TEST) return Kind::kTest;
  if (mnemonic != ZYDIS_MNEMONIC_CMP) return Kind::kOther;
  return isMemoryFirst ? Kind::kCompare : Kind::kCompared;
}

// False if it is none of the kinds.
bool describe(ZydisMnemonic mnemonic, const ZydisDecodedOperand (&operands)[2], MoveInstruction& move) {
  const bool storesMemory = operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
  const bool namesMemory = operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY;
  move.isPlain = mnemonic == ZYDIS_MNEMONIC_MOV;
  move.isSigned = mnemonic == ZYDIS_MNEMONIC_MOVSX || mnemonic == ZYDIS_MNEMONIC_MOVSXD;
  move.width = static_cast<uint8_t>(operands[namesMemory ? 1 : 0].size / kBitsPerByte);
  if (storesMemory || namesMemory) {
    move.kind = comparison(mnemonic, storesMemory);
    const ZydisDecodedOperand& other = operands[storesMemory ? 1 : 0];
    if (move.kind != Kind::kOther) {
      return describe(operands[storesMemory ? 0 : 1], move.length, move.memory) && describe(other, move.processor);
    }
  }
  if (storesMemory) {
    move.kind = Kind::kStore;
    return isStore(mnemonic) && describe(operands[0], move.length, move.memory) &&
           describe(operands[1], move.processor);
  }
  if (!describe(operands[0], move.processor)) return false;
  if (mnemonic == ZYDIS_MNEMONIC_LEA) {
    move.kind = Kind::kAddress;
    return describe(operands[1], move.length, move.memory);
  }
  move.kind = namesMemory ? Kind::kLoad : Kind::kCopy;
  if (namesMemory) return isLoad(mnemonic) && describe(operands[1], move.length, move.memory);
  return move.isPlain && describe(operands[1], move.source);
}

MoveInstruction decode(const uint8_t* text, unsigned length) {
  MoveInstruction move;
  memset(&move, 0, sizeof move);
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[2];  // those that moves have
  ZydisDecoderContext context;
  const bool isKnown = ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder(), &context, text, length, &decoded)) &&
                       decoded.operand_count_visible == 2 &&
                       ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder(), &context, &decoded, operands, 2));
  if (!isKnown) return move;
  move.length = decoded.length;
  if (!describe(decoded.mnemonic, operands, move)) move.kind = Kind::kOther;
  return move;
}

// Programs access registers from few places: what is there is decoded once.
struct Place {
  bool isTaken;  // by a thread that looks at it
  uintptr_t address;
  uint8_t text[kText];
  MoveInstruction move;
};
constexpr unsigned kPlaces = 256;
Place places[kPlaces];

// Near the end of a mapping fewer bytes may be there: the rest of `text` is zero.
unsigned readText(uintptr_t address, uint8_t (&text)[kText]) {
  const auto* from = reinterpret_cast<const uint8_t*>(address);
  if (guardedLoad(text, from) == 0 && guardedLoad(text + kWord, from + kWord) == 0) return kLongest;
  unsigned length = kLongest;
  while (length > 0 && guardedCopy(text, from, length) != 0) --length;
  memset(text + length, 0, kText - length);
  return length;
}

// Behind the registers of old: which others hold more than zero (Intel's manual, volume 1, section 13.4.2). Without it
// what is written into one of them is not restored.
void useVectors(_libc_fpstate* vectors) {
  constexpr size_t kHeader = 512;
  constexpr uint64_t kSse = 2;
  auto* header = reinterpret_cast<uint8_t*>(vectors) + kHeader;
  uint64_t used = 0;
  memcpy(&used, header, sizeof used);
  used |= kSse;
  memcpy(header, &used, sizeof used);
}

}  // namespace

void ProcessorOperand::read(const gregset_t& general, const _libc_fpstate* vectors, uint8_t* bytes) const {
  if (kind == Kind::kVector) {
    memcpy(bytes, vectors->_xmm[index].element, kLargest);
    return;
  }
  const uint64_t value = kind == Kind::kGeneral ? static_cast<uint64_t>(general[index]) >> shift : immediate;
  memcpy(bytes, &value, sizeof value);
}

bool ProcessorOperand::write(gregset_t& general, _libc_fpstate* vectors, const uint8_t* bytes) const {
  if (kind == Kind::kVector) {
    memcpy(vectors->_xmm[index].element, bytes, kLargest);
    useVectors(vectors);
    return true;
  }
  uint64_t value = 0;
  memcpy(&value, bytes, sizeof value);
  return write(general, value);
}

bool ProcessorOperand::write(gregset_t& general, uint64_t value) const {
  if (kind != Kind::kGeneral) return false;
  constexpr unsigned kHalf = 4;
  const auto before = static_cast<uint64_t>(general[index]);
  const uint64_t all = ~uint64_t{0};
  const uint64_t part = width >= kWord ? all : (uint64_t{1} << (width * kBitsPerByte)) - 1;
  const uint64_t mask = width >= kHalf ? all : part << shift;
  general[index] = static_cast<greg_t>((before & ~mask) | (((value & part) << shift) & mask));
  return true;
}

namespace {

// What the processor itself makes of it: the low flags in the second byte (LAHF), overflow in the first.
#define HCASIM_FLAGS(name, operation)                                 \
  template <class Word>                                               \
  uint64_t name(uint64_t left, uint64_t right) {                      \
    uint64_t flags = 0;                                               \
    asm(operation " %2, %1\n\tlahf\n\tseto %%al"                      \
        : "=&a"(flags)                                                \
        : "r"(static_cast<Word>(left)), "r"(static_cast<Word>(right)) \
        : "cc");                                                      \
    return (flags >> 8 & 0xFF) | ((flags & 0xFF) != 0 ? 0x800 : 0);   \
  }
HCASIM_FLAGS(subtractionFlags, "cmp")
HCASIM_FLAGS(commonFlags, "test")
#undef HCASIM_FLAGS

template <class Word>
uint64_t flagsOf(Kind kind, uint64_t memory, uint64_t processor) {
  if (kind == Kind::kTest) return commonFlags<Word>(memory, processor);
  return kind == Kind::kCompare ? subtractionFlags<Word>(memory, processor) : subtractionFlags<Word>(processor, memory);
}

}  // namespace

uint64_t compareFlags(Kind kind, unsigned width, uint64_t memory, uint64_t processor, uint64_t before) {
  constexpr uint64_t kArithmetic = 0x8D5;  // carry, parity, adjust, zero, sign, overflow
  uint64_t flags = 0;
  if (width == sizeof(uint8_t)) flags = flagsOf<uint8_t>(kind, memory, processor);
  if (width == sizeof(uint16_t)) flags = flagsOf<uint16_t>(kind, memory, processor);
  if (width == sizeof(uint32_t)) flags = flagsOf<uint32_t>(kind, memory, processor);
  if (width == sizeof(uint64_t)) flags = flagsOf<uint64_t>(kind, memory, processor);
  return (before & ~kArithmetic) | (flags & kArithmetic);
}

MoveInstruction moveAt(uintptr_t address) {
  uint8_t text[kText];
  const unsigned length = readText(address, text);
  Place& place = places[static_cast<uint32_t>(address) * 2654435761U >> 24];
  if (__atomic_exchange_n(&place.isTaken, true, __ATOMIC_ACQUIRE)) return decode(text, length);
  if (place.address != address || memcmp(place.text, text, kText) != 0) {
    place.address = address;
    memcpy(place.text, text, kText);
    place.move = decode(text, length);
  }
  const MoveInstruction move = place.move;
  __atomic_store_n(&place.isTaken, false, __ATOMIC_RELEASE);
  return move;
}

}  // namespace hca::shim
