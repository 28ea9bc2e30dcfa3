// Typed, time-stamped records on their way into a block.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/kernel/calendar.h"
#include "models/kernel/ring_queue.h"

namespace hca::kernel {

/// Delivers records to one member function of one block, each at its time stamp, ties in the order of sending.
///
/// Records that come in the order of their stamps (most do: a pipeline overtakes nothing) wait in a queue of which the
/// first alone has an entry in the calendar. The others wait in a slab. Both are reused, so that a steady state
/// allocates nothing.
///
/// The sender adds the receiving stage's latency to the stamp; the block itself acts at `Calendar::now()`.
template <class Owner, class Record>
class Inbox final : private CalendarClient {
 public:
  using Handler = void (Owner::*)(Record&);

  Inbox(Calendar& calendar, Priority priority, Owner& owner, Handler handler)
      : calendar_(calendar), owner_(owner), handler_(handler), priority_(priority) {}

  /// Delivers `record` at `when`, not before now.
  void send(Time when, Record&& record) { place(when) = std::move(record); }
  void send(Time when, const Record& record) { send(when, Record(record)); }

  /// Delivers at `when` what the caller writes into the place, at once; what it holds is left from before.
  Record& place(Time when) {
    const bool isFirst = inOrder_.empty();
    if (!isFirst && when < inOrder_.back().when) {
      const std::uint32_t slot = freeSlot();
      calendar_.schedule(when, priority_, *this, slot);
      return slots_[slot];
    }
    Waiting& waiting = inOrder_.append();
    waiting.when = when;
    waiting.turn = calendar_.takeTurn(priority_);
    if (isFirst) calendar_.schedule(when, waiting.turn, *this, kInOrder);
    return waiting.record;
  }

  /// The record that is delivered next of those in order; null if there is none. Valid until something is sent.
  [[nodiscard]] const Record* next() const { return inOrder_.empty() ? nullptr : &inOrder_[0].record; }
  /// Records sent and not yet delivered.
  [[nodiscard]] std::size_t pending() const { return inOrder_.size() + slots_.size() - free_.size(); }

 private:
  struct Waiting {
    Time when{};
    Calendar::Turn turn{};
    Record record{};
  };
  static constexpr std::uint64_t kInOrder = ~std::uint64_t{0};

  std::uint32_t freeSlot() {
    if (free_.empty()) {
      slots_.emplace_back();
      return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }

  void onCalendar(std::uint64_t token) override {
    if (token != kInOrder) {
      Record record = std::move(slots_[token]);
      free_.push_back(static_cast<std::uint32_t>(token));
      return (owner_.*handler_)(record);
    }
    Record record = std::move(inOrder_.front().record);
    inOrder_.drop();
    if (!inOrder_.empty()) calendar_.schedule(inOrder_.front().when, inOrder_.front().turn, *this, kInOrder);
    (owner_.*handler_)(record);
  }

  Calendar& calendar_;
  Owner& owner_;
  Handler handler_;
  Priority priority_;
  RingQueue<Waiting> inOrder_;
  std::vector<Record> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace hca::kernel
