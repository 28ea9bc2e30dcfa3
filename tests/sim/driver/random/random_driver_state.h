// What the random driver keeps of each object.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "tests/sim/driver/random/random_driver.h"

namespace hca::test {

/// A host with one thread, which is idle between steps, at work, or asleep.
struct RandomDriver::Host {
  std::uint32_t index = 0;
  driver::ThreadClient* client = nullptr;
  driver::MrRegistered memory;  ///< all rights
  driver::MrRegistered closed;  ///< the same bytes without any
  SlotPool pool;
  bool busy = false;
  bool asleep = false;
  Time kickAt{};
  /// A queue pair in error: what is posted to it is flushed at once, which wakes the thread.
  driver::QpCreated kick;
  Queue* kickQueue = nullptr;
};

struct RandomDriver::Queue {
  Host* host = nullptr;
  driver::CqCreated created;
  bool alive = false;
  bool eventDriven = false;  ///< polled until empty, armed, polled again; then nobody looks before the next event
  bool tight = false;        ///< more may be posted than it has room for
  bool ignoreOverrun = false;
  bool dead = false;          ///< reported in error
  bool locked = false;        ///< a resize is under way
  bool serveLater = false;    ///< an event came meanwhile
  bool holdsEvents = false;   ///< moderation by count alone: an event may wait for ever
  std::uint32_t pending = 0;  ///< events in the channel
  std::unique_ptr<EventReference> events;

  [[nodiscard]] bool lossy() const { return dead || (tight && ignoreOverrun); }
  [[nodiscard]] driver::CqHandle handle() const { return created.handle; }
};

/// One end of a connection.
struct RandomDriver::Side {
  Connection* connection = nullptr;
  Host* host = nullptr;
  Queue* sendQueue = nullptr;
  Queue* receiveQueue = nullptr;
  bool exists = false;
  driver::QpCreated qp;
  std::uint32_t firstPsn = 0;
  WorkQueueReference sends{true};
  WorkQueueReference receives{false};
  std::uint64_t messagesSent = 0;
  std::uint64_t receivesPosted = 0;
  std::uint64_t doneThrough = 0;    ///< highest request that succeeded
  std::deque<WorkRecord> messages;  ///< sent and not matched with a receive
  std::deque<WorkRecord> writes;    ///< posted and their bytes not yet seen at the peer
  std::uint64_t atomicAddress = 0;  ///< at the peer
  std::uint64_t atomicValue = 0;
  bool toldToFail = false;  ///< by modifyToError
};

struct RandomDriver::Connection {
  driver::QpType type = driver::QpType::kRc;
  bool up = false;
  bool building = false;  ///< or being torn down
  bool wild = false;      ///< some requests are wrong
  bool mayFail = false;
  std::uint32_t depth = 0;
  std::uint32_t longest = 0;  ///< message, bytes
  driver::ConnectionAttributes attributes;
  Side sides[2];

  [[nodiscard]] bool reliable() const { return type == driver::QpType::kRc; }
};

template <class Answer, class Start>
Answer RandomDriver::await(Start&& start) {
  return system_->await<Answer>(std::forward<Start>(start));
}

}  // namespace hca::test
