#include "models/adapter/completion/moderation.h"

namespace hca::adapter {

void Moderation::addEntry(Time now, bool solicited) {
  if (entries_++ == 0) firstEntry_ = now;
  broken_ = broken_ || solicited;
}

void Moderation::eventRaised(Time now) {
  entries_ = 0;
  broken_ = false;
  lastEvent_ = now;
  hadEvent_ = true;
}

Time Moderation::releaseTime() const {
  constexpr Time kNow{};
  // An event owed without a new entry repeats one (ArmRule::kCiCompare): there is nothing to gather.
  if (!enabled() || entries_ == 0) return kNow;
  if (setting_.count != 0 && entries_ >= setting_.count) return kNow;
  if (setting_.solicitedBreaks && broken_) return kNow;
  if (setting_.period == 0) return kForever;
  const Time period = microseconds(setting_.period);
  const Time fromEvent = lastEvent_ + period;
  const bool eventPeriodRuns = setting_.mode == PeriodMode::kFromEvent && hadEvent_ && firstEntry_ < fromEvent;
  return eventPeriodRuns ? fromEvent : firstEntry_ + period;
}

}  // namespace hca::adapter
