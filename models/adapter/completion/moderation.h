// When an owed event is raised.
#pragma once

#include <cstdint>

#include "models/adapter/completion/cq_attributes.h"
#include "models/base/units.h"

namespace hca::adapter {

/// cqc.cq_max_count, cq_period, cq_period_mode and scqe_break_moderation_en. Count and period both 0: no moderation.
struct ModerationSetting {
  std::uint16_t count = 0;   ///< entries; 0: no limit by count
  std::uint16_t period = 0;  ///< microseconds; 0: no limit by time
  PeriodMode mode = PeriodMode::kFromEvent;
  bool solicitedBreaks = false;  ///< a solicited entry ends the wait
};

/// Delays the events of one completion queue until `count` entries were written since the last event or until the
/// period has passed, whichever comes first. It never touches the entries themselves. With a count and no period an
/// event waits for the count, however long that takes.
///
/// The period starts at the first entry since the last event (kFromEntry), or at the last event itself (kFromEvent).
/// No public document says what the latter does on a queue that was quiet for longer than the period; here the period
/// has run out unused and the next entry starts a new one, so that a burst after a pause is moderated, too.
class Moderation {
 public:
  /// Entries written before stay counted.
  void set(const ModerationSetting& setting) { setting_ = setting; }
  [[nodiscard]] const ModerationSetting& setting() const { return setting_; }
  [[nodiscard]] bool enabled() const { return setting_.count != 0 || setting_.period != 0; }

  void addEntry(Time now, bool solicited);
  void eventRaised(Time now);

  /// When an event that is owed may be raised: a time that is past means now, kForever that only further entries
  /// release it.
  [[nodiscard]] Time releaseTime() const;

 private:
  ModerationSetting setting_;
  std::uint64_t entries_ = 0;  // since the last event
  bool broken_ = false;        // a solicited one among them
  Time firstEntry_{};
  Time lastEvent_{};
  bool hadEvent_ = false;
};

}  // namespace hca::adapter
