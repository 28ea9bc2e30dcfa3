#include "sim/driver/moderation/rdma_dim.h"

namespace hca::driver {
namespace {

constexpr std::uint64_t kMicrosecondsAMillisecond = 1000;
constexpr std::uint64_t kPercent = 100;
constexpr std::uint64_t kTolerance = 10;       // per cent
constexpr std::uint64_t kHalfCompletion = 50;  // hundredths, a round and step

constexpr std::uint64_t divideUp(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

bool differs(std::uint64_t value, std::uint64_t reference) {
  const std::uint64_t difference = value > reference ? value - reference : reference - value;
  return reference != 0 && kPercent * difference / reference > kTolerance;
}

}  // namespace

std::optional<CqModerationSetting> RdmaDim::onRound(Time now, std::uint64_t completions) {
  if (state_ == State::kApplying) return std::nullopt;
  if (state_ == State::kStart) {
    begin(now);
    return std::nullopt;
  }
  ++rounds_;
  completions_ += completions;
  const auto span = static_cast<std::uint64_t>((now - since_).count() / microseconds(1).count());
  if (rounds_ < kRounds || span == 0) return std::nullopt;
  Rates rates;
  rates.completions = divideUp(completions_ * kMicrosecondsAMillisecond, span);
  rates.perRound = kPercent * rates.completions / divideUp(kRounds * kMicrosecondsAMillisecond, span);
  const std::size_t present = step_;
  decide(rates);
  before_ = rates;
  if (step_ == present) {
    begin(now);
    return std::nullopt;
  }
  state_ = State::kApplying;
  return kSettings[step_];
}

void RdmaDim::begin(Time now) {
  state_ = State::kMeasuring;
  since_ = now;
  rounds_ = 0;
  completions_ = 0;
}

void RdmaDim::decide(const Rates& rates) {
  switch (compare(rates, before_)) {
    case Verdict::kSame:
      if (rates.perRound <= kHalfCompletion * step_) step_ = 0;
      return;
    case Verdict::kWorse:
      up_ = !up_;
      return climb();
    case Verdict::kBetter:
      return climb();
  }
}

void RdmaDim::climb() {
  const std::size_t last = up_ ? kSettings.size() - 1 : 0;
  if (step_ == last) {
    up_ = !up_;
  } else {
    step_ = up_ ? step_ + 1 : step_ - 1;
  }
}

RdmaDim::Verdict RdmaDim::compare(const Rates& now, const Rates& before) {
  if (before.completions == 0) return Verdict::kSame;  // the first measurement
  const auto verdict = [](bool better) { return better ? Verdict::kBetter : Verdict::kWorse; };
  if (differs(now.completions, before.completions)) return verdict(now.completions > before.completions);
  if (differs(now.perRound, before.perRound)) return verdict(now.perRound > before.perRound);
  return Verdict::kSame;
}

}  // namespace hca::driver
