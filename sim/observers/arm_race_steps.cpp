#include "sim/observers/arm_race_steps.h"

namespace hca::observers {

using observe::CqAction;
using observe::CqEvent;

int ArmRaceSteps::on(const CqEvent& event) {
  if (order_ == ArmOrder::kNone) return 0;
  const int step = order_ == ArmOrder::kUnsafe ? onUnsafe(event) : onSafe(event);
  switch (event.action) {
    case CqAction::kArmArrived:
      armed_ = true;
      break;
    case CqAction::kEventFired:
      armed_ = false;
      announced_ = event.index;
      break;
    case CqAction::kSleep:
      asleep_ = true;
      break;
    case CqAction::kWake:
      asleep_ = false;
      break;
    default:
      break;
  }
  if (step != 0) reached_ = step;
  return step;
}

int ArmRaceSteps::onUnsafe(const CqEvent& event) {
  switch (event.action) {
    case CqAction::kPolledEmpty:
      racing_ = false;
      return 1;
    case CqAction::kCqeVisible:
      if (reached_ == 0 || armed_ || racing_ || event.index < announced_) return 0;
      racing_ = true;
      entry_ = event.index;
      return 2;
    case CqAction::kArmArrived:
      if (!racing_) return 0;
      concluding_ = true;
      return 3;
    case CqAction::kEventFired:  // a lenient arm rule
    case CqAction::kPolled:
      racing_ = false;
      concluding_ = false;
      return 0;
    case CqAction::kSleep:
      return racing_ && reached_ == 4 ? 5 : 0;
    default:
      return 0;
  }
}

int ArmRaceSteps::onSafe(const CqEvent& event) {
  switch (event.action) {
    case CqAction::kPolledEmpty:
      if (reached_ >= 8 && reached_ < 11) return 0;  // the poll after the arm
      racing_ = false;
      return 6;
    case CqAction::kCqeVisible:
      if ((reached_ != 6 && reached_ != 8) || armed_ || racing_ || event.index < announced_) return 0;
      racing_ = true;
      entry_ = event.index;
      return 7;
    case CqAction::kArmIssued:
      return reached_ == 6 || reached_ == 7 ? 8 : 0;
    case CqAction::kPolled:
      if (!racing_ || event.index != entry_) return 0;
      racing_ = false;
      return 9;
    case CqAction::kEventFired:
      return reached_ == 9 ? 10 : 0;
    case CqAction::kWake:
      return reached_ == 10 ? 11 : 0;
    default:
      return 0;
  }
}

std::vector<ArmRaceSteps::Conclusion> ArmRaceSteps::conclude() {
  if (!concluding_) return {};
  concluding_ = false;
  const std::string entry = "completion " + std::to_string(entry_);
  std::vector<Conclusion> conclusions;
  conclusions.push_back({4, "no event: " + entry + " was written before the arm"});
  reached_ = 4;
  if (asleep_) {
    conclusions.push_back({5, "the thread sleeps; " + entry + " stays in the queue"});
    reached_ = 5;
  }
  return conclusions;
}

}  // namespace hca::observers
