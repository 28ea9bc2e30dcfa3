// The race between a poll and an arm, made to happen.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/workload/completion_waiter.h"
#include "sim/workload/flow.h"

namespace hca::sim {

/// Messages of even number are posted when the server, having polled in vain, begins to compute: their completion lands
/// between that poll and the arm, if the gap is long enough. Messages of odd number are posted `pause` after the server
/// went to sleep. In both cases only once everything before was received: a lost wake-up therefore lasts for ever.
class ArmRaceFlow final : public Flow {
 public:
  ArmRaceFlow(std::string name, const FlowConfig& config, bool movesPayload, driver::VerbsClient& client,
              driver::VerbsClient& server);

 private:
  void begin() override;
  void serve();
  void takeReceives();
  void postReceive(std::uint64_t slot);
  void onGap();
  void onSleep();
  /// Has the client post the next message in `delay`, or when it took the completion of the one before.
  void ask(Time delay);
  void post();
  void takeSend();
  void finishIfDone();
  [[nodiscard]] bool mayPost(bool odd) const;

  std::unique_ptr<CompletionWaiter> clientWaiter_;
  std::unique_ptr<CompletionWaiter> serverWaiter_;
  std::vector<driver::SendWorkRequest> request_;
  std::vector<driver::ReceiveWorkRequest> receive_;
  std::uint64_t asked_ = 0;  // messages that the client was told to post
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t received_ = 0;
  Time delay_{};
  Time postTime_{};
};

}  // namespace hca::sim
