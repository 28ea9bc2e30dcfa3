// What a process that drives a PCI function itself asks of the simulation, and what it is told.
//
// The boundary is that of a passed-through function, with nothing of any operating system's interface in it: describe,
// configuration space, registers, memory for DMA, interrupt vectors, reset. Functions are the adapters of the process's
// host, by their number. A domain is what the device side of an IOMMU translates with: functions that are opened in the
// same one see the same memory.
#pragma once

#include <stdint.h>
#include <string.h>

#include "verbs_shim/channel/shared_memory.h"

namespace hca::channel {

/// Hello::version of such a process; raised with every change of a message.
constexpr uint32_t kFunctionProtocolVersion = 0x0F00'0001;

enum class FunctionKind : uint32_t {
  kDescribe = 1,    ///< function. Answer: a FunctionDescription in `bytes`
  kNewDomain,       ///< answer value: domain
  kEndDomain,       ///< domain: nothing is mapped any more. EBUSY while a function is open in it
  kMap,             ///< domain. Argument 0: bus address, 1: address in the process, 2: bytes; `length`: MapAccess
  kUnmap,           ///< domain. Argument 0: bus address, 1: bytes; 0 and 0: everything. Answer value: bytes unmapped
  kOpen,            ///< function. Argument 0: domain. EBUSY if it is open elsewhere
  kClose,           ///< function: reset
  kReadConfig,      ///< function. Argument 0: offset; `length`. Answer: `bytes`
  kWriteConfig,     ///< the same; `bytes`
  kReadBar,         ///< function. Argument 0: number of the base address register, 1: offset; `length`
  kWriteBar,        ///< the same; `bytes`. Posted: answered when the function's link took it
  kReset,           ///< function: as after power-on, but for what its configuration was set to
  kSetVectors,      ///< function. Argument 0: first, 1: count, 2: descriptors that were sent (VectorDescriptors): each
                    ///< vector of the range raises the one that names it, or none
  kDisableVectors,  ///< function: no vector raises anything, interrupts are off
  kTriggerVector,   ///< function. Argument 0: vector: as if it had been raised
};

/// In FunctionRequest::length of kMap: what the function may do.
enum MapAccess : uint32_t { kMapRead = 1, kMapWrite = 2 };

/// Most bytes of one access.
constexpr uint32_t kLongestAccess = 256;

struct FunctionRequest {
  FunctionKind kind;
  uint32_t object;  ///< number of a function or a domain
  uint64_t argument[3];
  uint32_t length;
  uint32_t reserved;
  uint8_t bytes[kLongestAccess];
};

struct FunctionReply {
  int32_t error;  ///< 0 or an errno
  uint32_t reserved;
  uint64_t value;
  uint8_t bytes[kLongestAccess];
};

/// An empty request; `bytes` is left as it is.
inline void clear(FunctionRequest& request, FunctionKind kind, uint32_t object) {
  memset(static_cast<void*>(&request), 0, offsetof(FunctionRequest, bytes));
  request.kind = kind;
  request.object = object;
}

struct FunctionDescription {
  uint64_t barSize[6];
  uint32_t configSize;
  uint32_t vectors;
};
static_assert(sizeof(FunctionDescription) <= kLongestAccess);

/// Bus addresses below this one can be mapped, but for those of interrupt messages.
constexpr uint64_t kBusEnd = uint64_t{1} << 48;
constexpr uint64_t kMessagesStart = 0xFEE0'0000;
constexpr uint64_t kMessagesEnd = 0xFEF0'0000;
constexpr uint64_t kBusPage = 4096;

/// A message on the socket, with as many descriptors; the kSetVectors that it belongs to follows in a slot. The
/// descriptors are eventfds (eventfd(2)).
struct VectorDescriptors {
  static constexpr uint32_t kMost = 64;
  uint32_t count;
  uint32_t vector[kMost];
};

using FunctionSlot = SlotOf<FunctionRequest, FunctionReply>;
using FunctionArea = AreaOf<FunctionSlot>;

}  // namespace hca::channel
