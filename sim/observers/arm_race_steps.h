// Recognises the steps of the race between a completion and an arm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/observe/events.h"

namespace hca::observers {

/// The textbook's eleven steps. 1 to 5: poll until empty, arm, sleep.
///   1 software finds the queue empty and means to arm and sleep
///   2 a completion is written before the arm reached the adapter: no event
///   3 the arm reaches the adapter; it covers later completions only
///   4 so the waiting completion raises no event
///   5 software sleeps, and the completion stays in the queue
/// 6 to 11: poll until empty, arm, poll once more.
///   6 software finds the queue empty    7 a completion is written before the arm    8 software arms
///   9 software polls once more and finds the completion    10 a later completion, with the arm in place, raises an
///   event
///  11 software wakes and begins again in the same order
enum class ArmOrder : std::uint8_t { kNone, kUnsafe, kSafe };

/// Follows one queue. Events are told in the order of their times.
class ArmRaceSteps {
 public:
  explicit ArmRaceSteps(ArmOrder order) : order_(order) {}

  /// Number of the step that `event` is, 0 if it is none.
  int on(const observe::CqEvent& event);

  /// A step that nothing does: it follows from what didn't happen.
  struct Conclusion {
    int step;
    std::string text;
  };
  /// What follows once all events of the present moment were told. Each conclusion is given once.
  [[nodiscard]] std::vector<Conclusion> conclude();

 private:
  int onUnsafe(const observe::CqEvent& event);
  int onSafe(const observe::CqEvent& event);

  ArmOrder order_;
  int reached_ = 0;     // the last step; 0: the race hasn't begun
  bool armed_ = false;  // in the adapter
  bool asleep_ = false;
  bool racing_ = false;          // a completion came between the empty poll and the arm
  bool concluding_ = false;      // the arm has just arrived behind a completion
  std::uint64_t entry_ = 0;      // that completion
  std::uint64_t announced_ = 0;  // entries below this were written when the last event was raised
};

}  // namespace hca::observers
