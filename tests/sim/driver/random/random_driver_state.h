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
  driver::XrcdOpened domain;
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

/// A shared receive queue: a basic one, from which some queue pairs receive, or one of XRC, which all reach that come
/// into the host's domain.
struct RandomDriver::Shared {
  Host* host = nullptr;
  Queue* queue = nullptr;  ///< of XRC: where it completes
  driver::SrqCreated created;
  std::deque<WorkRecord> records;  ///< posted and not completed, in that order
  std::uint64_t lastTaken = 0;     ///< the youngest that completed
  bool isUnsure = false;           ///< a queue pair went, and an entry that it had taken may never complete

  [[nodiscard]] bool isXrc() const { return queue != nullptr; }
};

enum class WindowState : std::uint8_t { kUnknown, kFree, kChanging, kBound };

/// A memory window of type 2, which the peer of its connection may use. What goes through it has a piece of its memory
/// for itself.
struct RandomDriver::Window {
  static constexpr std::uint32_t kPieces = SlotPool::kLarge / SlotPool::kSmall;

  bool exists = false;
  driver::MwHandle handle;
  WindowState state = WindowState::kUnknown;
  MemoryKey key;                  ///< when bound, or the latest
  bool wasBound = false;          ///< so that the key is one that means nothing any more, if it is free
  std::uint64_t address = 0;      ///< of what it is bound to
  std::uint64_t nextAddress = 0;  ///< of what it will be
  std::uint32_t pieces = 0;       ///< that were used
  std::uint32_t uses = 0;         ///< requests of the peer that are not done
};

/// One end of a connection.
struct RandomDriver::Side {
  Connection* connection = nullptr;
  Host* host = nullptr;
  Queue* sendQueue = nullptr;
  Queue* receiveQueue = nullptr;
  bool exists = false;
  driver::QpCreated qp;
  driver::QpCreated target;    ///< of XRC
  Shared* shared = nullptr;    ///< basic; instead of a receive queue
  bool receiveFailed = false;  ///< a receive of a shared queue completed with an error
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
  Window window;
};

struct RandomDriver::Connection {
  driver::QpType type = driver::QpType::kRc;
  bool up = false;
  bool building = false;      ///< or being torn down
  bool wild = false;          ///< some requests are wrong
  bool scatterToCqe = false;  // small responses come in completion entries
  bool mayFail = false;
  std::uint32_t depth = 0;
  std::uint32_t longest = 0;  ///< message, bytes
  driver::ConnectionAttributes attributes;
  Side sides[2];

  [[nodiscard]] bool isXrc() const { return type == driver::QpType::kXrcInitiator; }
  [[nodiscard]] bool reliable() const { return type == driver::QpType::kRc || isXrc(); }
};

template <class Answer, class Start>
Answer RandomDriver::await(Start&& start) {
  return system_->await<Answer>(std::forward<Start>(start));
}

}  // namespace hca::test
