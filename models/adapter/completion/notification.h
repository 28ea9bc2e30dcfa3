// Whether a completion queue owes its consumer an event.
#pragma once

#include <cstdint>

#include "models/adapter/completion/arm_rule.h"
#include "models/adapter/completion/cq_attributes.h"

namespace hca::adapter {

/// Software's request for an event, as the arm register has it.
struct ArmRequest {
  std::uint32_t consumerIndex = 0;  ///< 24 bits
  std::uint8_t sequenceNumber = 0;  ///< 2 bits
  bool solicitedOnly = false;
};

/// The notification state of one completion queue: cqc.st, last_notified_index and last_solicit_index.
///
/// Entries and arms are told in the order in which they reach the adapter's completion block: an entry counts from its
/// hand-over to PCIe, where it is in order before any later write of the adapter. An entry handed over before the arm
/// arrived was "written before the arm", even if host memory gets it a little later.
///
/// `due()` says that an event is owed; moderation decides when it is raised, and `fire()` records that it was.
/// Indices are compared modulo 2^24: an arm's index is taken as the nearest to the number of entries written.
class Notification {
 public:
  /// `alwaysArmed` (cqc.always_armed_cq): every entry owes an event, and no arm is needed. An arm is ignored.
  explicit Notification(ArmRule rule, bool alwaysArmed = false)
      : rule_(rule), state_(alwaysArmed ? NotificationState::kAlwaysArmed : NotificationState::kIdle) {}

  /// As if `index` entries had been written, told of and consumed; before the first one.
  void startAt(std::uint64_t index) { produced_ = lastNotified_ = lastSolicited_ = index; }

  /// False if ignored: the queue fired and the arm carries the sequence number of the one that was served, so it is a
  /// late copy. Otherwise the queue is armed, and `due()` may have become true.
  /// A request for any entry outlives a later one for solicited entries alone.
  bool arm(const ArmRequest& request);

  /// One more entry was written.
  void addEntry(bool solicited);

  /// The resize entry was written: it takes an index and is no completion. Software moves the entries that it has not
  /// consumed one index up, so what is known of them moves, too. Whether an event is owed doesn't change.
  void skipEntry();

  /// Whether an event is owed.
  [[nodiscard]] bool due() const { return due_; }
  /// Whether it would be owed under ArmRule::kIbSpec too. False while due: without the lenient rule the consumer might
  /// have slept over the entries from `firstUnpromised()` on.
  [[nodiscard]] bool promised() const { return promised_; }
  [[nodiscard]] std::uint64_t firstUnpromised() const { return firstUnpromised_; }

  /// The event was raised: one shot. Also for an event that no arm asked for (CE = 3 of a work request); such an event
  /// serves a pending arm.
  void fire();

  [[nodiscard]] NotificationState state() const { return state_; }
  /// Whether the next entry owes an event, whatever it is.
  [[nodiscard]] bool awaitsAny() const {
    return state_ == NotificationState::kArmed || state_ == NotificationState::kAlwaysArmed;
  }
  [[nodiscard]] std::uint64_t produced() const { return produced_; }
  [[nodiscard]] std::uint64_t lastNotified() const { return lastNotified_; }
  [[nodiscard]] std::uint64_t lastSolicited() const { return lastSolicited_; }

 private:
  [[nodiscard]] bool armed() const {
    return state_ == NotificationState::kArmed || state_ == NotificationState::kArmedSolicited;
  }
  void compare(std::uint32_t consumerIndex);

  ArmRule rule_;
  NotificationState state_;
  bool due_ = false;
  bool promised_ = false;
  bool hasFiredSequence_ = false;
  std::uint8_t armedSequence_ = 0;
  std::uint8_t firedSequence_ = 0;
  std::uint64_t produced_ = 0;
  std::uint64_t lastNotified_ = 0;   // produced_ at the last event
  std::uint64_t lastSolicited_ = 0;  // index after the last solicited entry
  std::uint64_t firstUnpromised_ = 0;
};

}  // namespace hca::adapter
