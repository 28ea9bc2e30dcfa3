#include "verbs_shim/register_access.h"

#include <Zydis/Zydis.h>
#include <string.h>

#include "verbs_shim/channel_client.h"
#include "verbs_shim/guarded_copy.h"
#include "verbs_shim/register_pages.h"

#ifndef __x86_64__
#error "hcasim cosim knows the instructions of x86-64 alone"
#endif

namespace hca::shim {
namespace {

constexpr unsigned kWord = 8;
constexpr unsigned kLine = 64;
constexpr unsigned kPage = 4096;
constexpr unsigned kLargestOperand = 16;

constexpr int kGeneral[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
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

constexpr unsigned kLongest = 15;  // bytes of an instruction

struct Instruction {
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[2];  // those that moves have

  bool decode(const uint8_t* text, unsigned length) {
    ZydisDecoderContext context;
    return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder(), &context, text, length, &decoded)) &&
           decoded.operand_count_visible >= 2 &&
           ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder(), &context, &decoded, operands, 2));
  }
  [[nodiscard]] bool isMove() const { return decoded.mnemonic == ZYDIS_MNEMONIC_MOV; }
  [[nodiscard]] unsigned width(int operand) const { return operands[operand].size / 8; }
  [[nodiscard]] bool isMemory(int operand) const { return operands[operand].type == ZYDIS_OPERAND_TYPE_MEMORY; }
};

// Programs access registers from few places: what is there is decoded once.
struct Place {
  bool isTaken;  // by a thread that looks at it
  bool isKnown;  // it is an instruction with two operands
  unsigned length;
  uintptr_t address;
  uint8_t text[kLongest];
  Instruction instruction;
};
constexpr unsigned kPlaces = 256;
Place places[kPlaces];

// The instruction at `address`; false if it isn't one with two operands.
bool instructionAt(uintptr_t address, Instruction& instruction) {
  uint8_t text[kLongest];
  // Near the end of a mapping fewer bytes may be there.
  unsigned length = kLongest;
  while (length > 0 && guardedCopy(text, reinterpret_cast<const void*>(address), length) != 0) --length;
  Place& place = places[static_cast<uint32_t>(address) * 2654435761U >> 24];
  if (__atomic_exchange_n(&place.isTaken, true, __ATOMIC_ACQUIRE)) return instruction.decode(text, length);
  if (place.address != address || place.length != length || memcmp(place.text, text, length) != 0) {
    place.address = address;
    place.length = length;
    memcpy(place.text, text, length);
    place.isKnown = place.instruction.decode(text, length);
  }
  const bool isKnown = place.isKnown;
  if (isKnown) instruction = place.instruction;
  __atomic_store_n(&place.isTaken, false, __ATOMIC_RELEASE);
  return isKnown;
}

// The processor's registers.
class Registers {
 public:
  /// Those of `context` themselves.
  explicit Registers(ucontext_t& context) : general_(context.uc_mcontext.gregs), vectors_(context.uc_mcontext.fpregs) {}
  /// A copy in `place`, to be changed tentatively.
  Registers(const Registers& from, gregset_t& place) : general_(place), vectors_(from.vectors_) {
    memcpy(place, from.general_, sizeof place);
  }
  void takeOver(const Registers& from) { memcpy(general_, from.general_, sizeof(gregset_t)); }

  [[nodiscard]] uint64_t counter() const { return static_cast<uint64_t>(general_[REG_RIP]); }
  void advance(unsigned bytes) { general_[REG_RIP] += bytes; }

  /// False for a register that moves don't name.
  static bool place(ZydisRegister name, int& index, unsigned& shift) {
    const ZydisRegisterClass kind = ZydisRegisterGetClass(name);
    const bool isGeneral = kind == ZYDIS_REGCLASS_GPR8 || kind == ZYDIS_REGCLASS_GPR16 ||
                           kind == ZYDIS_REGCLASS_GPR32 || kind == ZYDIS_REGCLASS_GPR64;
    if (!isGeneral) return false;
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
    index = kGeneral[ZydisRegisterGetId(whole)];
    const bool isHigh = name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH;
    shift = isHigh ? 8 : 0;
    return true;
  }
  bool read(const ZydisDecodedOperand& operand, uint8_t* bytes) const {
    int index = 0;
    unsigned shift = 0;
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      memcpy(bytes, &operand.imm.value.u, kWord);
      return true;
    }
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
    if (ZydisRegisterGetClass(operand.reg.value) == ZYDIS_REGCLASS_XMM) {
      memcpy(bytes, vectors_->_xmm[ZydisRegisterGetId(operand.reg.value)].element, 16);
      return true;
    }
    if (!place(operand.reg.value, index, shift)) return false;
    const uint64_t value = static_cast<uint64_t>(general_[index]) >> shift;
    memcpy(bytes, &value, kWord);
    return true;
  }
  /// An xmm register gets all 16 bytes; of the others, see below.
  bool write(const ZydisDecodedOperand& operand, const uint8_t (&bytes)[kLargestOperand]) {
    uint64_t value = 0;
    memcpy(&value, bytes, sizeof value);
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
    if (ZydisRegisterGetClass(operand.reg.value) != ZYDIS_REGCLASS_XMM) return write(operand, value);
    memcpy(vectors_->_xmm[ZydisRegisterGetId(operand.reg.value)].element, bytes, kLargestOperand);
    return true;
  }
  /// `value` has the operand's width. Writing 32 bits clears the upper half, as the processor does.
  bool write(const ZydisDecodedOperand& operand, uint64_t value) {
    int index = 0;
    unsigned shift = 0;
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || !place(operand.reg.value, index, shift)) return false;
    const uint64_t before = static_cast<uint64_t>(general_[index]);
    uint64_t mask = operand.size >= 32 ? ~uint64_t{0} : ((uint64_t{1} << operand.size) - 1) << shift;
    if (operand.size == 32) value &= 0xFFFFFFFF;
    general_[index] = static_cast<greg_t>((before & ~mask) | ((value << shift) & mask));
    return true;
  }
  /// The address that a memory operand names; the counter must be that of the instruction.
  [[nodiscard]] bool addressOf(const Instruction& instruction, int operand, uintptr_t& address) const {
    ZydisRegisterContext context;
    memset(&context, 0, sizeof context);
    for (int i = 0; i < 16; ++i) context.values[ZYDIS_REGISTER_RAX + i] = static_cast<ZyanU64>(general_[kGeneral[i]]);
    context.values[ZYDIS_REGISTER_RIP] = counter();
    ZyanU64 result = 0;
    if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(&instruction.decoded, &instruction.operands[operand], counter(),
                                                 &context, &result))) {
      return false;
    }
    address = result;
    return true;
  }

 private:
  greg_t* general_;
  _libc_fpstate* vectors_;
};

bool isPlainStore(const Instruction& instruction) {
  if (!instruction.isMemory(0)) return false;
  switch (instruction.decoded.mnemonic) {
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

// Of what is loaded, the rest of the register is cleared, or the sign goes on; no load changes flags.
bool isPlainLoad(const Instruction& instruction) {
  if (!instruction.isMemory(1)) return false;
  switch (instruction.decoded.mnemonic) {
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

// The bus knows words at their natural places: calls `visit` with the start and the length of each that an access to
// [address, address + width) is made of, as long as it returns true.
template <class Visit>
bool forEachWord(uintptr_t address, unsigned width, Visit&& visit) {
  for (unsigned start = 0; start < width;) {
    unsigned length = kWord;
    while (length > width - start || (address + start) % length != 0) length /= 2;
    if (!visit(start, length)) return false;
    start += length;
  }
  return true;
}

void setRegister(channel::Request& request, channel::Kind kind, const RegisterPage& page, uintptr_t address,
                 unsigned length) {
  clear(request, kind);
  // Of device memory there are several pages.
  const uintptr_t offset = address - page.address;
  request.argument[0] = page.page + offset / kPage;
  request.argument[1] = offset % kPage;
  request.length = length;
}

// An instruction between two stores of a run: a load from ordinary memory, a copy of a register, or an address. None of
// them touches flags. False, and nothing happened, for any other.
bool stepBetween(const Instruction& next, Registers& ahead) {
  const auto mnemonic = next.decoded.mnemonic;
  const bool isWhole = next.width(0) == kWord && next.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
  uint64_t value = 0;
  if (!isWhole) return false;
  if (mnemonic == ZYDIS_MNEMONIC_LEA) {
    uintptr_t address = 0;
    return ahead.addressOf(next, 1, address) && ahead.write(next.operands[0], address);
  }
  if (mnemonic != ZYDIS_MNEMONIC_MOV) return false;
  if (next.isMemory(1)) {
    uintptr_t address = 0;
    if (!ahead.addressOf(next, 1, address) || findPage(address) != nullptr) return false;
    if (guardedCopy(&value, reinterpret_cast<const void*>(address), kWord) != 0) return false;
    return ahead.write(next.operands[0], value);
  }
  const bool isCopy = next.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
  uint8_t bytes[kLargestOperand];
  if (!isCopy || !ahead.read(next.operands[1], bytes)) return false;
  memcpy(&value, bytes, sizeof value);
  return ahead.write(next.operands[0], value);
}

// Follows the code behind a store for as long as it goes on filling the same line; registers and counter are moved
// behind the last store that was taken along.
void gatherRun(const RegisterPage& page, uintptr_t start, Registers& registers, channel::Request& request) {
  constexpr int kMostInstructions = 32;
  Instruction next;
  // Most often it is a barrier.
  if (!instructionAt(registers.counter(), next)) return;
  gregset_t place;
  Registers ahead(registers, place);
  for (int i = 0; i < kMostInstructions && (start + request.length) % kLine != 0; ++i) {
    uintptr_t address = 0;
    if (i != 0 && !instructionAt(ahead.counter(), next)) return;
    const bool isStore = next.isMove() && next.isMemory(0) && next.width(0) == kWord;
    if (!isStore) {
      if (!stepBetween(next, ahead)) return;
      ahead.advance(next.decoded.length);
      continue;
    }
    if (!ahead.addressOf(next, 0, address) || address != start + request.length) return;
    if (findPage(address) != &page || !ahead.read(next.operands[1], request.bytes + request.length)) return;
    request.length += kWord;
    ahead.advance(next.decoded.length);
    registers.takeOver(ahead);
  }
}

bool storeWords(uintptr_t address, const uint8_t* bytes, unsigned width) {
  return forEachWord(address, width, [&](unsigned start, unsigned length) {
    const RegisterPage* page = findPage(address + start);
    if (page == nullptr) return false;
    channel::Request request;
    setRegister(request, channel::Kind::kRegisterWrite, *page, address + start, length);
    memcpy(request.bytes, bytes + start, length);
    channel::Reply reply{};
    (void)call(request, reply);  // a device that is gone swallows writes
    return true;
  });
}

bool emulateStore(const RegisterPage& page, uintptr_t address, const Instruction& instruction, ucontext_t& context) {
  const unsigned width = instruction.width(0);
  if (!isPlainStore(instruction) || width == 0 || width > kLargestOperand) return false;
  Registers registers(context);
  channel::Request request;
  setRegister(request, channel::Kind::kRegisterWrite, page, address, width);
  if (!registers.read(instruction.operands[1], request.bytes)) return false;
  registers.advance(instruction.decoded.length);
  const bool isWord = width <= kWord ? address % width == 0 : address % kLargestOperand == 0;
  if (!isWord) return storeWords(address, request.bytes, width);
  if (width == kWord && address % kLine == 0) gatherRun(page, address, registers, request);
  channel::Reply reply{};
  (void)call(request, reply);  // likewise
  return true;
}

bool loadWords(uintptr_t address, uint8_t* bytes, unsigned width) {
  return forEachWord(address, width, [&](unsigned start, unsigned length) {
    const RegisterPage* page = findPage(address + start);
    if (page == nullptr) return false;
    channel::Request request;
    setRegister(request, channel::Kind::kRegisterRead, *page, address + start, length);
    channel::Reply reply{};
    // A device that is gone answers all ones.
    if (call(request, reply) != 0) reply.value[0] = ~uint64_t{0};
    memcpy(bytes + start, &reply.value[0], length);
    return true;
  });
}

bool emulateLoad(uintptr_t address, const Instruction& instruction, ucontext_t& context) {
  const unsigned width = instruction.width(1);
  if (!isPlainLoad(instruction) || width == 0 || width > kLargestOperand) return false;
  const auto mnemonic = instruction.decoded.mnemonic;
  const bool isSigned = mnemonic == ZYDIS_MNEMONIC_MOVSX || mnemonic == ZYDIS_MNEMONIC_MOVSXD;
  Registers registers(context);
  uint8_t bytes[kLargestOperand] = {};
  if (!loadWords(address, bytes, width)) return false;
  if (isSigned && (bytes[width - 1] & 0x80) != 0) memset(bytes + width, 0xFF, kWord - width);
  if (!registers.write(instruction.operands[0], bytes)) return false;
  registers.advance(instruction.decoded.length);
  return true;
}

}  // namespace

bool emulateAccess(ucontext_t& context, uintptr_t faultAddress) {
  const RegisterPage* page = findPage(faultAddress);
  if (page == nullptr) return false;
  Instruction instruction;
  if (!instructionAt(static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]), instruction)) return false;
  return instruction.isMemory(0) ? emulateStore(*page, faultAddress, instruction, context)
                                 : emulateLoad(faultAddress, instruction, context);
}

}  // namespace hca::shim
