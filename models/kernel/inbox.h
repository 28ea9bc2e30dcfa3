// Typed, time-stamped records on their way into a block.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/kernel/calendar.h"

namespace hca::kernel {

/// Delivers records to one member function of one block, each at its time stamp, ties in the order of sending.
/// Records wait in a slab that is reused, so that a steady state allocates nothing.
///
/// The sender adds the receiving stage's latency to the stamp; the block itself acts at `Calendar::now()`.
template <class Owner, class Record>
class Inbox final : private CalendarClient {
 public:
  using Handler = void (Owner::*)(Record&);

  Inbox(Calendar& calendar, Priority priority, Owner& owner, Handler handler)
      : calendar_(calendar), owner_(owner), handler_(handler), priority_(priority) {}

  /// Delivers `record` at `when`, not before now.
  void send(Time when, Record record) {
    std::uint32_t slot;
    if (free_.empty()) {
      slot = static_cast<std::uint32_t>(slots_.size());
      slots_.push_back(std::move(record));
    } else {
      slot = free_.back();
      free_.pop_back();
      slots_[slot] = std::move(record);
    }
    calendar_.schedule(when, priority_, *this, slot);
  }

  /// Records sent and not yet delivered.
  [[nodiscard]] std::size_t pending() const { return slots_.size() - free_.size(); }

 private:
  void onCalendar(std::uint64_t token) override {
    const auto slot = static_cast<std::uint32_t>(token);
    Record record = std::move(slots_[slot]);
    free_.push_back(slot);
    (owner_.*handler_)(record);
  }

  Calendar& calendar_;
  Owner& owner_;
  Handler handler_;
  Priority priority_;
  std::vector<Record> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace hca::kernel
