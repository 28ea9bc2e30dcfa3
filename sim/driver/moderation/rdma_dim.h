// Dynamic moderation as the Linux kernel does it for RDMA.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/driver/moderation/moderation_policy.h"

namespace hca::driver {

/// Climbs up and down nine settings, in search of the most completions a time and, where these don't change, of the
/// most completions a round (Linux lib/dim/rdma_dim.c, lib/dim/dim.c, drivers/infiniband/core/cq.c).
///
/// A measurement takes 64 rounds. It is compared with the one before, where a difference of at most 10 per cent is
/// none. Better: another step in the same direction. Worse: about-face and a step. Either turns round at the last step
/// of its direction without leaving it. The same: back to the first setting if rounds bring fewer completions than half
/// the step's number, else nothing. So a load that never changes by more than 10 per cent is never moderated.
///
/// Nothing is set before the first step; the first step up goes to the second setting. While a setting is on its way to
/// the adapter nothing is measured.
class RdmaDim final : public ModerationPolicy {
 public:
  static constexpr std::array<CqModerationSetting, 9> kSettings = {
      {{1, 1}, {4, 1}, {4, 2}, {8, 2}, {8, 4}, {8, 16}, {16, 16}, {16, 32}, {32, 32}}};
  static constexpr std::uint64_t kRounds = 64;  ///< of a measurement

  [[nodiscard]] CqModerationSetting initial() const override { return {}; }
  std::optional<CqModerationSetting> onRound(Time now, std::uint64_t completions) override;
  void onApplied() override { state_ = State::kStart; }

  /// Index of the present setting in kSettings.
  [[nodiscard]] std::size_t step() const { return step_; }
  [[nodiscard]] bool goesUp() const { return up_; }

 private:
  enum class State : std::uint8_t { kStart, kMeasuring, kApplying };
  enum class Verdict : std::uint8_t { kSame, kBetter, kWorse };
  struct Rates {
    std::uint64_t completions = 0;  // a millisecond
    std::uint64_t perRound = 0;     // completions a round, in hundredths
  };

  void begin(Time now);
  void decide(const Rates& rates);
  void climb();
  static Verdict compare(const Rates& now, const Rates& before);

  State state_ = State::kStart;
  std::size_t step_ = 0;
  bool up_ = true;
  Time since_{};  // of the measurement under way
  std::uint64_t rounds_ = 0;
  std::uint64_t completions_ = 0;
  Rates before_;
};

}  // namespace hca::driver
