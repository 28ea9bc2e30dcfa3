// What a program asks of the simulation, and what it is told.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace hca::channel {

/// Both sides must agree; raised with every change of a message.
constexpr uint32_t kProtocolVersion = 5;

enum class Kind : uint32_t {
  kOpenDevice = 1,  ///< argument 0: device index. Answer value 0: file
  kCloseDevice,     ///< file
  kCommand,         ///< an ioctl on `file`. Argument 0: request code, 1: address, 2: a pipe (write end << 32 |
                    ///< read end) or kNoPipe. Answer kNeedsPipe: once more with a pipe; values 0 and 1: address and
                    ///< length of memory that the device is to use from now on, if any
  kMapPage,         ///< mmap of `file`. Argument 0: length, 1: offset. Answer value 0: PageKind, 1: page
  kFillPage,        ///< the page of `file` that kMapPage answered (argument 0) lies at address (argument 1): fill it
  kRegisterWrite,   ///< page `argument 0`, offset `argument 1`, `length` bytes
  kRegisterRead,    ///< the same; the answer's value 0 holds the bytes
  kPollEmpty,       ///< a poll found nothing: comes back when something may have changed
  kWaitForEvent,    ///< comes back when an event was delivered, with kTimedOut, or with kNothingPending. Argument 0:
                    ///< nanoseconds of wall time after which to give up, 0: none; 1: the same of simulated time; 2: the
                    ///< event file (its descriptor) and, in bit 32, whether the thread waits for nothing but events
  kReadClock,       ///< answer value 0: the thread's simulated time, picoseconds; what it costs is in `spent`
  kSleep,           ///< argument 0: nanoseconds of simulated time
  kSpinning,     ///< the thread was interrupted because it calls nothing: comes back when memory changed. Argument 0:
                 ///< nanoseconds of processor time since its last answer, if that limited them
  kUnmapMemory,  ///< argument 0: address, 1: length: no longer the program's
  kThreadEnds,
  kJoinThread,  ///< comes back when the thread with the kernel's number in argument 0 has ended
  kPark,        ///< comes back when another thread unparked this one (since its last park), with kTimedOut, or with
                ///< kNothingPending if a signal came. Argument 1: nanoseconds of simulated time, 0: no limit
  kUnpark,      ///< argument 0: the kernel's number of the thread
  kEventTaken,  ///< argument 0: the handle in a completion event that the thread is about to get
  kInterruptThread,  ///< the same thread is to look around: its wait, if it is in one, ends with kNothingPending
};

/// Whether a signal of the program ends such a call.
inline bool isWait(Kind kind) {
  return kind == Kind::kWaitForEvent || kind == Kind::kJoinThread || kind == Kind::kPark;
}

/// Values of Reply::error that are no errno.
constexpr int32_t kNeedsPipe = -1;       ///< the command makes an event file: repeat it with a pipe
constexpr int32_t kNothingPending = -2;  ///< nothing will change until somebody else acts
constexpr int32_t kTimedOut = -3;        ///< the simulated time is over

/// In Reply::flags: the simulation wants to know of completion events that the program takes.
constexpr uint32_t kTellEventsTaken = 1;

/// In argument 2 of kWaitForEvent.
constexpr uint64_t kNothingButEvents = uint64_t{1} << 32;

/// Behind SIGRTMIN: the signal by which a simulation in another process interrupts a thread that calls nothing.
constexpr int kInterruptOffset = 27;

constexpr uint64_t kNoPipe = ~uint64_t{0};

/// What the program maps.
enum class PageKind : uint32_t {
  kRegisters = 1,  ///< every access is a message
  kMemory = 2,     ///< ordinary memory, filled once by kFillPage and only read
};

/// Longest write: half of a BlueFlame register.
constexpr uint32_t kLongestWrite = 256;

/// Reading the clock takes next to no time, but some: loops that wait for it end. A program that reads nothing else for
/// long waits for the clock: its reads take longer and longer, so that it need not make millions of them. Picoseconds.
inline uint64_t clockCost(uint32_t reads) {
  constexpr uint32_t kPatience = 64, kMost = 12;
  constexpr uint64_t kRead = 1000;
  return kRead << (reads / kPatience < kMost ? reads / kPatience : kMost);
}

struct Request {
  Kind kind;
  uint32_t file;
  uint64_t argument[3];
  uint64_t spent;  ///< picoseconds by which the thread's clock moved since its last message: by itself up to what
                   ///< Reply::quiet allowed, and for this message
  uint32_t length;
  uint16_t completions;  ///< that polls found since the thread's last message
  uint16_t events;       ///< that it read from event files since then
  uint8_t bytes[kLongestWrite];
};

/// An empty request; `bytes` is left as it is: most requests have none.
inline void clear(Request& request, Kind kind) {
  memset(static_cast<void*>(&request), 0, offsetof(Request, bytes));
  request.kind = kind;
}
/// Copies what a request holds. Precondition: `from.length` is at most kLongestWrite.
inline void copy(Request& to, const Request& from) {
  memcpy(static_cast<void*>(&to), &from, offsetof(Request, bytes));
  memcpy(to.bytes, from.bytes, from.kind == Kind::kRegisterWrite ? from.length : 0);
}

struct Reply {
  int32_t error;   ///< 0, an errno, or one of the values above
  uint32_t grace;  ///< nanoseconds of processor time after which it is taken to look at its memory; 0: not soon
  uint64_t value[2];
  uint64_t clock;  ///< simulated time of the thread, picoseconds; 0: not known
  uint64_t quiet;  ///< nothing happens before this time, so that the thread may move its clock up to it by itself
  uint32_t flags;
  uint32_t reserved;
};

}  // namespace hca::channel
