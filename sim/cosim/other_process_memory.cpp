#include "sim/cosim/other_process_memory.h"

#include <sys/uio.h>

namespace hca::cosim {
namespace {

iovec piece(std::uint64_t address, std::size_t length) {
  return {reinterpret_cast<void*>(address), length};  // NOLINT: a program's address
}

}  // namespace

bool OtherProcessMemory::copyIn(std::uint64_t address, MutableByteView into) {
  const iovec local{into.data(), into.size()};
  const iovec remote = piece(address, into.size());
  return process_vm_readv(process_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(into.size());
}

bool OtherProcessMemory::copyOut(std::uint64_t address, ByteView bytes) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const iovec local{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
  const bool endsWithWord = bytes.size() > kWord && (address + bytes.size()) % kWord == 0;
  const std::size_t front = endsWithWord ? bytes.size() - kWord : bytes.size();
  // The kernel copies piece after piece.
  const iovec remote[] = {piece(address, front), piece(address + front, kWord)};
  const ssize_t done = process_vm_writev(process_, &local, 1, remote, endsWithWord ? 2 : 1, 0);
  return done == static_cast<ssize_t>(bytes.size());
}

}  // namespace hca::cosim
