// A window of outstanding messages, from the client to the server.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "sim/workload/arrivals.h"
#include "sim/workload/completion_waiter.h"
#include "sim/workload/flow.h"
#include "sim/workload/message_content.h"
#include "sim/workload/queue_resizer.h"

namespace hca::sim {

/// The client keeps up to tx_depth requests outstanding on each queue pair, as perftest's bandwidth tests do: post
/// while there is room on each in turn, then take completions. The server takes and reposts receives, if the verb needs
/// any; an unreliable service loses messages that it is too slow for. A sample is the time from the post call of a
/// signaled request to the moment at which its completion was seen.
///
/// With an `arrival` the client doesn't wait for completions before it posts: message n is due at its own time, on
/// queue pair n modulo qps. If the queue is full it waits, and so do those behind it; a sample counts from the time at
/// which the message was due, so that a slow answer isn't hidden by the messages that it held up.
class BandwidthFlow final : public Flow {
 public:
  /// `seed`: of sizes, verbs and arrivals.
  BandwidthFlow(std::string name, const FlowConfig& config, bool movesPayload, std::uint64_t seed,
                driver::VerbsClient& client, driver::VerbsClient& server);

 private:
  struct Pair {
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
    std::uint64_t toReceive = 0;  // of those that were posted
    std::uint64_t received = 0;
    bool failed = false;
    bool isRoomy = false;  // in roomy_
  };

  void begin() override;
  [[nodiscard]] std::uint64_t measuredBytes() const override { return measuredBytes_; }
  void checkRemainder() override;

  // Client.
  void step();
  void waitForSends();
  void stepOpenLoop();
  [[nodiscard]] bool arrivalsOver() const;
  [[nodiscard]] std::uint64_t room(const Pair& pair) const;
  void postSome(std::uint32_t index);
  bool postList(std::uint32_t index, std::uint64_t count);
  void prepare(std::uint32_t index, std::uint64_t message, driver::SendWorkRequest& request);
  void post(std::uint32_t index, Time due);
  [[nodiscard]] bool mayPost(const Pair& pair) const;
  /// When a message was posted, of the last tx_depth of its queue pair.
  [[nodiscard]] Time& postTime(std::uint32_t index, std::uint64_t message) {
    return postTimes_[std::size_t{index} * config().tx_depth + message % config().tx_depth];
  }
  void takeSends();
  void takeSend(const driver::WorkCompletion& completion);
  void setCompleted(std::uint32_t index, std::uint64_t count);
  void noteRoom(std::uint32_t index);

  // Server.
  void serve();
  void waitForReceives();
  void takeReceives();
  void postReceive(std::uint32_t index, std::uint64_t number);
  [[nodiscard]] bool serverDone() const;

  void resize(QueueResizer& resizer, const std::function<void()>& next);
  void finishIfDone();
  /// Whether messages may get lost: the service doesn't repeat one for which there is no receive.
  [[nodiscard]] bool mayLose() const;

  MessageContent content_;
  bool receives_ = false;             // there are messages that take a receive
  std::optional<Arrivals> arrivals_;  // of an open loop
  std::uint64_t total_;               // messages a queue pair; without end if the duration counts
  std::uint64_t measuredBytes_ = 0;
  bool timeIsUp_ = false;
  std::vector<Pair> pairs_;
  std::vector<Time> postTimes_;       // tx_depth of each pair (see postTime)
  std::vector<std::uint32_t> roomy_;  // queue pairs that may have room for more since the last step
  std::size_t busy_ = 0;              // queue pairs that wait for completions
  std::size_t served_ = 0;            // queue pairs that received all
  std::unique_ptr<CompletionWaiter> clientWaiter_;
  std::unique_ptr<CompletionWaiter> serverWaiter_;
  std::unique_ptr<QueueResizer> clientResizer_;
  std::unique_ptr<QueueResizer> serverResizer_;
  std::vector<driver::SendWorkRequest> list_;
  std::vector<driver::ReceiveWorkRequest> receive_;
  bool clientFinished_ = false;
};

}  // namespace hca::sim
