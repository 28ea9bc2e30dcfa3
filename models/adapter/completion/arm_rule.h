// When an entry that was written before the arm raises an event.
#pragma once

#include <cstdint>
#include <utility>

#include "models/base/config_key.h"

namespace hca::adapter {

/// What an arm does about entries that are in the queue already. No public document settles what ConnectX does; each
/// rule explains other observations. PI: entries written so far; CI: the consumer index in the arm; LN: PI at the last
/// event. Every rule raises one event an arm, and raises it at the first (solicited) entry written after the arm.
enum class ArmRule : std::uint8_t {
  /// They raise nothing: all that the InfiniBand specification promises.
  kIbSpec,
  /// An event at once if PI is ahead of CI, even for entries that raised one already.
  kCiCompare,
  /// An event at once if PI is ahead of both CI and LN: entries that raised an event raise no second one.
  kCiCompareOnce,
  /// As kCiCompareOnce, but a CI behind LN counts as served: the arm then waits for a new entry. Software that polls
  /// with one index and arms with another, older one loses wake-ups (openucx/ucx issue 11728).
  kCiCompareStaleLoses,
};

}  // namespace hca::adapter

template <>
struct hca::config::EnumNames<hca::adapter::ArmRule> {
  static constexpr std::pair<const char*, adapter::ArmRule> kNames[] = {
      {"ib_spec", adapter::ArmRule::kIbSpec},
      {"ci_compare", adapter::ArmRule::kCiCompare},
      {"ci_compare_once", adapter::ArmRule::kCiCompareOnce},
      {"ci_compare_stale_loses", adapter::ArmRule::kCiCompareStaleLoses},
  };
};
