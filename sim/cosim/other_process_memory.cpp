#include "sim/cosim/other_process_memory.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace hca::cosim {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
// Shorter reads are structures, which come alone.
constexpr std::size_t kPayload = 1024;
constexpr std::size_t kAhead = 64 * 1024;
constexpr std::size_t kMostWritten = 256 * 1024;
constexpr std::size_t kMostPieces = 512;  // the kernel takes 1024 (IOV_MAX)

iovec piece(std::uint64_t address, std::size_t length) {
  return {reinterpret_cast<void*>(address), length};  // NOLINT: a program's address
}

std::uint64_t endOf(const iovec& piece) {
  return reinterpret_cast<std::uint64_t>(piece.iov_base) + piece.iov_len;  // NOLINT: likewise
}

}  // namespace

// The system call has a wrapper since glibc 2.36 only.
OtherProcessMemory::OtherProcessMemory(pid_t process)
    : process_(process), handle_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))) {}

OtherProcessMemory::~OtherProcessMemory() {
  if (handle_ >= 0) ::close(handle_);
}

// The number of a process that ended may be another one's, whose memory is none of ours. Numbers come again after
// thousands of others, so that a look in each slice is enough.
bool OtherProcessMemory::isThere() {
  if (isGone_ || isLookedAt_ || handle_ < 0) return !isGone_;
  isLookedAt_ = isInSlice_;
  pollfd ended{handle_, POLLIN, 0};
  isGone_ = ::poll(&ended, 1, 0) != 0;
  return !isGone_;
}

bool OtherProcessMemory::readNow(std::uint64_t address, MutableByteView into) const {
  const iovec local{into.data(), into.size()};
  const iovec remote = piece(address, into.size());
  return process_vm_readv(process_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(into.size());
}

bool OtherProcessMemory::copyIn(std::uint64_t address, MutableByteView into) {
  if (!isThere()) return false;
  (void)flush();  // it may be about what is read
  const std::uint64_t before = readEnd_;
  readEnd_ = address + into.size();
  if (!isQuiet_ || into.size() < kPayload) return readNow(address, into);
  const auto isAhead = [&] { return address >= aheadFrom_ && readEnd_ <= aheadFrom_ + ahead_.size(); };
  if (!isAhead() && address == before) {
    ahead_.resize(kAhead);
    aheadFrom_ = address;
    const iovec local{ahead_.data(), kAhead};
    const iovec remote = piece(address, kAhead);
    // As far as there is memory.
    ahead_.resize(static_cast<std::size_t>(std::max<ssize_t>(process_vm_readv(process_, &local, 1, &remote, 1, 0), 0)));
  }
  if (!isAhead()) return readNow(address, into);
  std::memcpy(into.data(), ahead_.data() + (address - aheadFrom_), into.size());
  return true;
}

void OtherProcessMemory::append(std::uint64_t address, std::size_t length, bool isApart) {
  if (!isApart && !pieces_.empty() && endOf(pieces_.back()) == address) {
    pieces_.back().iov_len += length;
  } else {
    pieces_.push_back(piece(address, length));
  }
}

bool OtherProcessMemory::flush() {
  if (written_.empty()) return true;
  const iovec local{written_.data(), written_.size()};
  const ssize_t done = process_vm_writev(process_, &local, 1, pieces_.data(), pieces_.size(), 0);
  const bool isDone = done == static_cast<ssize_t>(written_.size());
  written_.clear();
  pieces_.clear();
  return isDone;
}

bool OtherProcessMemory::copyOut(std::uint64_t address, ByteView bytes) {
  if (!isThere()) return false;
  ahead_.clear();
  written_.insert(written_.end(), bytes.begin(), bytes.end());
  // The kernel copies piece after piece: the last word of an entry becomes visible last, and at once.
  const bool endsWithWord = bytes.size() > kWord && (address + bytes.size()) % kWord == 0;
  const std::size_t front = endsWithWord ? bytes.size() - kWord : bytes.size();
  append(address, front, false);
  if (endsWithWord) append(address + front, kWord, bytes.size() < kPayload);
  const bool mayWait = isInSlice_ && written_.size() < kMostWritten && pieces_.size() < kMostPieces;
  return mayWait || flush();
}

void OtherProcessMemory::endSlice() {
  (void)flush();
  ahead_.clear();
  isQuiet_ = isInSlice_ = false;
}

// The same process may run another program by now (execve(2)), whose memory is none of ours either.
void OtherProcessMemory::end() {
  isGone_ = true;
  written_.clear();
  pieces_.clear();
  ahead_.clear();
}

}  // namespace hca::cosim
