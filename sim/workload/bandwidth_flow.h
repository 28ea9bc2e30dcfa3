// A window of outstanding messages, from the client to the server.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/workload/completion_waiter.h"
#include "sim/workload/flow.h"
#include "sim/workload/queue_resizer.h"

namespace hca::sim {

/// The client keeps up to tx_depth requests outstanding on each queue pair, as perftest's bandwidth tests do: post
/// while there is room on each in turn, then take completions. The server takes and reposts receives, if the verb needs
/// any; an unreliable service loses messages that it is too slow for. A sample is the time from the post call of a
/// signaled request to the moment at which its completion was seen.
class BandwidthFlow final : public Flow {
 public:
  BandwidthFlow(std::string name, const FlowConfig& config, bool movesPayload, driver::VerbsClient& client,
                driver::VerbsClient& server);

 private:
  struct Pair {
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
    std::uint64_t received = 0;
    std::uint64_t expected = 0;  // number of the next message to be received
    bool failed = false;
    std::vector<Time> postTimes;  // of message n at n modulo tx_depth
  };

  void begin() override;
  void checkRemainder() override;

  // Client.
  void step();
  void waitForSends();
  [[nodiscard]] std::uint64_t room(const Pair& pair) const;
  void postSome(std::uint32_t index);
  bool postList(std::uint32_t index, std::uint64_t count);
  void prepare(std::uint32_t index, std::uint64_t message, driver::SendWorkRequest& request);
  [[nodiscard]] bool mayPost(const Pair& pair) const;
  void takeSends();
  void takeSend(const driver::WorkCompletion& completion);
  [[nodiscard]] bool clientDone() const;

  // Server.
  void serve();
  void waitForReceives();
  void takeReceives();
  void postReceive(std::uint32_t index, std::uint64_t number);
  void checkReceived(std::uint32_t index, const std::uint8_t* content, const driver::WorkCompletion& completion);
  [[nodiscard]] bool serverDone() const;

  void resize(QueueResizer& resizer, const std::function<void()>& next);
  void finishIfDone();
  [[nodiscard]] std::uint64_t seed(std::uint32_t index, std::uint64_t message) const;
  void fillSources();
  void checkResponses(std::uint32_t index, std::uint64_t last, std::uint32_t length);
  void checkWords();
  void writeHeader(std::uint32_t index, std::uint64_t message);
  [[nodiscard]] bool isIntact(const std::uint8_t* content, std::uint32_t index, std::uint64_t message) const;

  std::uint64_t total_;  // messages a queue pair; without end if the duration counts
  bool timeIsUp_ = false;
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> active_;  // queue pairs that have messages left to post
  std::unique_ptr<CompletionWaiter> clientWaiter_;
  std::unique_ptr<CompletionWaiter> serverWaiter_;
  std::unique_ptr<QueueResizer> clientResizer_;
  std::unique_ptr<QueueResizer> serverResizer_;
  std::vector<driver::SendWorkRequest> list_;
  std::vector<driver::ReceiveWorkRequest> receive_;
  bool clientFinished_ = false;
  bool numbered_ = false;  // every outstanding message has a place of its own and carries its number
};

}  // namespace hca::sim
