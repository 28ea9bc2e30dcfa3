#include "verbs_shim/register_access.h"

#include <string.h>

#include "verbs_shim/guarded_copy.h"
#include "verbs_shim/move_instruction.h"
#include "verbs_shim/register_bus.h"
#include "verbs_shim/register_pages.h"

namespace hca::shim {
namespace {

using Kind = MoveInstruction::Kind;

constexpr unsigned kWord = 8;
constexpr unsigned kLine = 64;
constexpr unsigned kPage = 4096;

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

// What goes out as one write.
struct Write {
  uint8_t bytes[kLine];
  uint32_t length;
};

// Of device memory there are several pages.
uint64_t pageOf(const RegisterPage& page, uintptr_t address) { return page.page + (address - page.address) / kPage; }
uint32_t offsetOf(const RegisterPage& page, uintptr_t address) {
  return static_cast<uint32_t>((address - page.address) % kPage);
}

// An instruction between two stores of a run: a load from ordinary memory, a copy of a register, or an address. None of
// them touches flags. False, and nothing happened, for any other.
bool stepBetween(const MoveInstruction& next, gregset_t& ahead, const _libc_fpstate* vectors) {
  const bool isWhole = next.processor.kind == ProcessorOperand::Kind::kGeneral && next.processor.width == kWord;
  if (!isWhole) return false;
  uint64_t value = 0;
  if (next.kind == Kind::kAddress) {
    value = next.memory.address(ahead);
  } else if (next.kind == Kind::kLoad) {
    const uintptr_t address = next.memory.address(ahead);
    if (!next.isPlain || findPage(address) != nullptr) return false;
    if (guardedLoad(&value, reinterpret_cast<const void*>(address)) != 0) return false;
  } else if (next.kind == Kind::kCopy) {
    uint8_t bytes[ProcessorOperand::kLargest];
    next.source.read(ahead, vectors, bytes);
    memcpy(&value, bytes, sizeof value);
  } else {
    return false;
  }
  ahead[REG_RIP] += next.length;
  return next.processor.write(ahead, value);
}

// Follows the code behind a store for as long as it goes on filling the same line; registers and counter are moved
// behind the last store that was taken along.
void gatherRun(const RegisterPage& page, uintptr_t start, mcontext_t& processor, Write& write) {
  constexpr int kMostInstructions = 32;
  gregset_t ahead;
  memcpy(ahead, processor.gregs, sizeof ahead);
  uint8_t bytes[ProcessorOperand::kLargest];
  for (int i = 0; i < kMostInstructions && (start + write.length) % kLine != 0; ++i) {
    const MoveInstruction next = moveAt(static_cast<uintptr_t>(ahead[REG_RIP]));
    const bool isStore = next.kind == Kind::kStore && next.isPlain && next.width == kWord;
    if (!isStore) {
      // Most often it is a barrier.
      if (!stepBetween(next, ahead, processor.fpregs)) return;
      continue;
    }
    const uintptr_t address = next.memory.address(ahead);
    if (address != start + write.length || findPage(address) != &page) return;
    next.processor.read(ahead, processor.fpregs, bytes);
    memcpy(write.bytes + write.length, bytes, kWord);
    write.length += kWord;
    ahead[REG_RIP] += next.length;
    memcpy(processor.gregs, ahead, sizeof ahead);
  }
}

bool storeWords(uintptr_t address, const uint8_t* bytes, unsigned width) {
  return forEachWord(address, width, [&](unsigned start, unsigned length) {
    const RegisterPage* page = findPage(address + start);
    if (page == nullptr) return false;
    writeRegister(pageOf(*page, address + start), offsetOf(*page, address + start), bytes + start, length);
    return true;
  });
}

bool emulateStore(const RegisterPage& page, uintptr_t address, const MoveInstruction& store, mcontext_t& processor) {
  static_assert(ProcessorOperand::kLargest <= kLine);
  Write write;
  write.length = store.width;
  store.processor.read(processor.gregs, processor.fpregs, write.bytes);
  processor.gregs[REG_RIP] += store.length;
  const bool isWord = address % (store.width <= kWord ? store.width : ProcessorOperand::kLargest) == 0;
  if (!isWord) return storeWords(address, write.bytes, store.width);
  if (store.width == kWord && address % kLine == 0) gatherRun(page, address, processor, write);
  writeRegister(pageOf(page, address), offsetOf(page, address), write.bytes, write.length);
  return true;
}

bool loadWords(uintptr_t address, uint8_t* bytes, unsigned width) {
  return forEachWord(address, width, [&](unsigned start, unsigned length) {
    const RegisterPage* page = findPage(address + start);
    if (page == nullptr) return false;
    const uint64_t value = readRegister(pageOf(*page, address + start), offsetOf(*page, address + start), length);
    memcpy(bytes + start, &value, length);
    return true;
  });
}

bool emulateLoad(uintptr_t address, const MoveInstruction& load, mcontext_t& processor) {
  uint8_t bytes[ProcessorOperand::kLargest] = {};
  if (!loadWords(address, bytes, load.width)) return false;
  if (load.isSigned && (bytes[load.width - 1] & 0x80) != 0) memset(bytes + load.width, 0xFF, kWord - load.width);
  processor.gregs[REG_RIP] += load.length;
  return load.processor.write(processor.gregs, processor.fpregs, bytes);
}

bool emulateCompare(uintptr_t address, const MoveInstruction& compare, mcontext_t& processor) {
  uint64_t memory = 0;
  uint8_t bytes[ProcessorOperand::kLargest] = {};
  if (!loadWords(address, bytes, compare.width)) return false;
  memcpy(&memory, bytes, sizeof memory);
  uint64_t other = 0;
  compare.processor.read(processor.gregs, processor.fpregs, bytes);
  memcpy(&other, bytes, sizeof other);
  greg_t& flags = processor.gregs[REG_EFL];
  flags = static_cast<greg_t>(compareFlags(compare.kind, compare.width, memory, other, static_cast<uint64_t>(flags)));
  processor.gregs[REG_RIP] += compare.length;
  return true;
}

}  // namespace

bool emulateAccess(ucontext_t& context, uintptr_t faultAddress) {
  const RegisterPage* page = findPage(faultAddress);
  if (page == nullptr) return false;
  mcontext_t& processor = context.uc_mcontext;
  const MoveInstruction move = moveAt(static_cast<uintptr_t>(processor.gregs[REG_RIP]));
  if (move.kind == Kind::kLoad) return emulateLoad(faultAddress, move, processor);
  const bool compares = move.kind == Kind::kCompare || move.kind == Kind::kCompared || move.kind == Kind::kTest;
  if (compares) return emulateCompare(faultAddress, move, processor);
  return move.kind == Kind::kStore && emulateStore(*page, faultAddress, move, processor);
}

}  // namespace hca::shim
