// Ping-pong: one message at a time, to and fro.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/workload/completion_waiter.h"
#include "sim/workload/flow.h"

namespace hca::sim {

/// Both sides do what perftest's latency tests do: wait for the peer's message (a write: poll its last byte; a send:
/// take the receive's completion), answer, take the completion of the own request. The client begins. A sample is half
/// of the time from one post to the moment at which the answer was seen.
class LatencyFlow final : public Flow {
 public:
  LatencyFlow(std::string name, const FlowConfig& config, bool movesPayload, driver::VerbsClient& client,
              driver::VerbsClient& server);

 private:
  struct Side {
    Side(FlowEndpoint& own, FlowEndpoint& other, bool starts, const CompletionWaiter::Settings& settings)
        : end(own), peer(other), begins(starts), waiter(own.client(), own.queues(), settings) {}
    FlowEndpoint& end;
    FlowEndpoint& peer;
    bool begins;
    CompletionWaiter waiter;
    std::vector<driver::SendWorkRequest> request;     // one
    std::vector<driver::ReceiveWorkRequest> receive;  // one
    std::uint64_t posted = 0;
    bool lastSignaled = true;  // the youngest of them
    std::uint64_t completed = 0;
    std::uint64_t arrived = 0;   // receive completions
    std::uint64_t received = 0;  // messages seen
    Time lastPost{};
    bool done = false;
  };

  void begin() override;
  std::unique_ptr<Side> makeSide(FlowEndpoint& own, FlowEndpoint& other, bool starts);
  void postReceives(Side& side, std::uint64_t count);
  void next(Side& side);
  void waitForMessage(Side& side);
  void waitForReceive(Side& side);
  void onMessage(Side& side);
  void sample(Side& side);
  void post(Side& side);
  void fillMessage(Side& side);
  void waitForSend(Side& side);
  void takeCompletions(Side& side);
  void finishSide(Side& side);
  [[nodiscard]] std::uint64_t seed(const Side& from, std::uint64_t message) const;
  [[nodiscard]] std::uint8_t lastByte(std::uint64_t message) const { return static_cast<std::uint8_t>(message + 1); }

  std::unique_ptr<Side> clientSide_;
  std::unique_ptr<Side> serverSide_;
  std::uint64_t total_;  // messages each way; grows without end until the duration is over
};

}  // namespace hca::sim
