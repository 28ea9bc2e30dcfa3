#include "models/adapter/completion/notification.h"

#include <algorithm>

#include "models/adapter/event/ring_index.h"

namespace hca::adapter {

bool Notification::arm(const ArmRequest& request) {
  const bool served =
      state_ == NotificationState::kFired && hasFiredSequence_ && request.sequenceNumber == firedSequence_;
  if (served || state_ == NotificationState::kAlwaysArmed) return false;
  const bool any = !request.solicitedOnly || state_ == NotificationState::kArmed;
  state_ = any ? NotificationState::kArmed : NotificationState::kArmedSolicited;
  armedSequence_ = request.sequenceNumber;
  if (!due_) compare(request.consumerIndex);
  return true;
}

void Notification::compare(std::uint32_t consumerIndex) {
  if (rule_ == ArmRule::kIbSpec) return;
  std::uint64_t consumer = extendIndex24(consumerIndex, produced_);
  if (static_cast<std::int64_t>(consumer) < 0) consumer = 0;  // "behind" the first entry of all: nonsense
  const auto ahead = [](std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a - b) > 0; };
  std::uint64_t from = consumer;
  if (rule_ != ArmRule::kCiCompare && ahead(lastNotified_, consumer)) {
    if (rule_ == ArmRule::kCiCompareStaleLoses) return;
    from = lastNotified_;
  }
  const std::uint64_t until = state_ == NotificationState::kArmed ? produced_ : lastSolicited_;
  if (!ahead(until, from)) return;
  due_ = true;
  firstUnpromised_ = from;
}

void Notification::addEntry(bool solicited) {
  ++produced_;
  if (solicited) lastSolicited_ = produced_;
  const bool asked = awaitsAny() || (state_ == NotificationState::kArmedSolicited && solicited);
  if (!asked) return;
  due_ = true;
  promised_ = true;
}

void Notification::skipEntry() {
  ++produced_;
  ++lastNotified_;
  ++lastSolicited_;
  ++firstUnpromised_;
}

void Notification::fire() {
  if (armed()) {
    hasFiredSequence_ = true;
    firedSequence_ = armedSequence_;
    state_ = NotificationState::kFired;
  }
  lastNotified_ = produced_;
  due_ = false;
  promised_ = false;
}

}  // namespace hca::adapter
