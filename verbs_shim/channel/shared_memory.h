// How a program and a simulation in another process exchange messages.
#pragma once

#include <stdint.h>

#include "verbs_shim/channel/message.h"

namespace hca::channel {

/// Who a SharedSlot belongs to next. Also the word that the program's thread sleeps on.
enum class SlotState : uint32_t {
  kFree = 0,       ///< no thread has it
  kIdle = 1,       ///< the program may write a request
  kSubmitted = 2,  ///< the simulation may read it
  kAnswered = 3,   ///< the program may read the answer
};

/// A call under way: of one thread of a program.
template <class RequestOf, class ReplyOf>
struct SlotOf {
  uint32_t state;  ///< SlotState
  int32_t threadId;
  uint32_t isCancelled;  ///< a signal came: the thread wants its answer at once
  uint32_t reserved;
  RequestOf request;
  ReplyOf reply;
};

/// What a program shares with the simulation, and with nobody else.
template <class Slot>
struct AreaOf {
  static constexpr uint32_t kSlots = 256;
  uint32_t used;  ///< slots from here on were never taken
  uint32_t reserved;
  Slot slots[kSlots];
};

using SharedSlot = SlotOf<Request, Reply>;
using SharedArea = AreaOf<SharedSlot>;

/// What all programs share with the simulation: how to wake it. It holds nothing that matters.
struct Doorbell {
  uint32_t rings;       ///< counts up with each request; the simulation sleeps on it
  uint32_t isSleeping;  ///< the simulation is to be woken
};

/// First message on the socket, from the program.
struct Hello {
  uint32_t version;
  uint32_t host;
  uint32_t isForChild;  ///< not 0: the connection is for a child that the program is about to fork
};
/// First message of such a child, once it is there: a byte, with the credentials that the kernel adds.
constexpr uint8_t kIsThere = 1;
/// Its answer, with two descriptors: of the SharedArea and of the Doorbell.
struct Welcome {
  int32_t error;
};

}  // namespace hca::channel
