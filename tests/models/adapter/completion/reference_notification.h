// The contract of arming and events, in the plainest form.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/adapter/completion/arm_rule.h"

namespace hca::adapter::test {

/// The contract as it is written down, by searching the history of all entries. Indices never wrap here.
class ReferenceNotification {
 public:
  explicit ReferenceNotification(ArmRule rule, std::uint64_t earlier = 0) : rule_(rule), base_(earlier) {}

  bool arm(std::uint64_t consumer, std::uint8_t sequence, bool solicitedOnly) {
    if (fired_ && !armedAny_ && !armedSolicited_ && sequence == firedSequence_) return false;
    armedAny_ = armedAny_ || !solicitedOnly;
    armedSolicited_ = !armedAny_;
    sequence_ = sequence;
    if (owed_) return true;
    if (rule_ == ArmRule::kIbSpec) return true;
    if (rule_ == ArmRule::kCiCompareStaleLoses && consumer < notified_) return true;
    const std::uint64_t from = rule_ == ArmRule::kCiCompare ? consumer : std::max(consumer, notified_);
    for (std::uint64_t i = std::max(from, base_); i < base_ + solicited_.size(); ++i) {
      if (armedAny_ || solicited_[i - base_]) owed_ = true;
    }
    return true;
  }
  void entry(bool solicited) {
    solicited_.push_back(solicited);
    if (!armedAny_ && !(armedSolicited_ && solicited)) return;
    owed_ = true;
    promised_ = true;
  }
  void fire() {
    if (armedAny_ || armedSolicited_) {
      fired_ = true;
      firedSequence_ = sequence_;
    }
    armedAny_ = armedSolicited_ = owed_ = promised_ = false;
    notified_ = base_ + solicited_.size();
  }
  [[nodiscard]] bool owed() const { return owed_; }
  [[nodiscard]] bool promised() const { return promised_; }
  [[nodiscard]] std::uint64_t produced() const { return base_ + solicited_.size(); }

 private:
  ArmRule rule_;
  std::uint64_t base_;  // entries before the history starts; nobody looks at them
  std::uint64_t notified_ = 0;
  std::vector<bool> solicited_;
  bool armedAny_ = false, armedSolicited_ = false, owed_ = false, promised_ = false, fired_ = false;
  std::uint8_t sequence_ = 0, firedSequence_ = 0;
};

}  // namespace hca::adapter::test
