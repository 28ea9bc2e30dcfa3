#include "sim/cosim/same_process_memory.h"

namespace hca::cosim {

bool SameProcessMemory::copyIn(std::uint64_t address, MutableByteView into) {
  return copy_(into.data(), reinterpret_cast<const void*>(address), into.size()) == 0;  // NOLINT: a program's address
}

bool SameProcessMemory::copyOut(std::uint64_t address, ByteView bytes) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  auto* to = reinterpret_cast<std::uint8_t*>(address);  // NOLINT: a program's address
  const bool endsWithWord = bytes.size() > kWord && (address + bytes.size()) % kWord == 0;
  if (!endsWithWord) return copy_(to, bytes.data(), bytes.size()) == 0;
  // The bytes of one copy may become visible in any order, two copies do so one after the other.
  const std::size_t front = bytes.size() - kWord;
  return copy_(to, bytes.data(), front) == 0 && copy_(to + front, bytes.data() + front, kWord) == 0;
}

}  // namespace hca::cosim
