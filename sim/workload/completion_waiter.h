// Waits for completions the way a program does: by polling, by event, or by both.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/driver/verbs_client.h"
#include "sim/workload/flow_config.h"

namespace hca::sim {

/// One thread's loop around its completion queues. The orders:
///   off       poll until an entry is there
///   safe      poll; empty: arm; poll once more; still empty: sleep until an event; again
///   unsafe    poll; empty: arm; sleep until an event; again
///   adaptive  poll until an entry is there, but no longer than `spin`; then as safe
///   turns     `turn` waits as off, as many as safe, and again
/// Between the empty poll and the arm the thread computes for `gap`.
class CompletionWaiter {
 public:
  struct Settings {
    EventOrder order = EventOrder::kOff;
    bool solicitedOnly = false;
    Time gap{};
    Time spin{};
    std::uint32_t turn = 1;
  };
  /// As the flow's keys say; `solicitedOnly`: arm for solicited events.
  [[nodiscard]] static Settings settingsOf(const FlowConfig& config, bool solicitedOnly) {
    return {config.events, solicitedOnly, config.gap, config.spin_time, config.turn};
  }
  /// `client` and `queues` must outlive the waiter.
  CompletionWaiter(driver::VerbsClient& client, const std::vector<driver::CqHandle>& queues, Settings settings);

  /// Runs `ready` once at least one completion is in `completions()`, which is emptied first. One wait at a time.
  void wait(std::function<void()> ready);
  /// Polls until a completion is there or until `deadline`, when `completions()` may be empty. For EventOrder::kOff.
  void waitUntil(Time deadline, std::function<void()> ready);
  [[nodiscard]] const std::vector<driver::WorkCompletion>& completions() const { return completions_; }

  /// For scripted flows: called when the gap begins and when the thread is about to sleep.
  std::function<void()> onGap;
  std::function<void()> onSleep;

  /// Events taken from the channel so far.
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  static constexpr std::size_t kBatch = 16;  // perftest's CTX_POLL_BATCH

  /// How this wait begins.
  [[nodiscard]] EventOrder nextOrder();
  void spin(driver::CqHandle queue);
  void endSpin(driver::CqHandle queue);
  /// Polls every queue once; true if that ended the wait.
  bool pollAll();
  void pollBeforeArm();
  void armAll();
  void pollAfterArm();
  void sleep();
  void wake(driver::CqHandle queue);

  driver::VerbsClient& client_;
  const std::vector<driver::CqHandle>& queues_;
  Settings settings_;
  std::vector<driver::WorkCompletion> completions_;
  std::function<void()> ready_;
  std::uint64_t events_ = 0;
  std::uint64_t waits_ = 0;
};

}  // namespace hca::sim
