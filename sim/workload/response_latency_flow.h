// Reads or atomics, one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/workload/completion_waiter.h"
#include "sim/workload/flow.h"

namespace hca::sim {

/// What perftest's ib_read_lat and ib_atomic_lat do: the client posts a request, waits for its completion, and posts
/// the next; the server's software takes no part. A sample is the time from the post call to the moment at which the
/// completion was seen: a whole round trip.
class ResponseLatencyFlow final : public Flow {
 public:
  ResponseLatencyFlow(std::string name, const FlowConfig& config, bool movesPayload, driver::VerbsClient& client,
                      driver::VerbsClient& server);

 private:
  void begin() override;
  void checkRemainder() override;
  void post();
  void takeCompletion();
  void checkResponse(const driver::WorkCompletion& completion);
  [[nodiscard]] bool isTimed() const { return config().iters == 0; }
  [[nodiscard]] bool isOver() const;
  /// Where responses go.
  [[nodiscard]] std::uint8_t* place() const { return clientEnd().bytes(clientEnd().sendAddress(0, 0)); }

  std::unique_ptr<CompletionWaiter> waiter_;
  std::vector<driver::SendWorkRequest> request_;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  Time postTime_{};
};

}  // namespace hca::sim
