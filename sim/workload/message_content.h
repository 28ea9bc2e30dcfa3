// What the messages of a bandwidth flow carry, where it lies, and whether it arrived.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/flow_endpoint.h"
#include "sim/workload/message_sizes.h"
#include "sim/workload/message_verbs.h"

namespace hca::sim {

/// Messages of one verb come from one area of memory and land in another. Where verbs are mixed, each kind has areas of
/// its own, so that none changes what another one is checked by.
class MessageContent {
 public:
  /// `moves`: payload is really moved. `seed`: of sizes and verbs.
  MessageContent(const FlowConfig& config, std::uint64_t seed, bool moves);

  [[nodiscard]] const MessageVerbs& verbs() const { return verbs_; }
  /// Areas that either side needs.
  [[nodiscard]] std::uint32_t areas() const { return verbs_.isMixed() ? kMixedAreas : kPlainAreas; }
  /// Bytes of a message.
  [[nodiscard]] std::uint32_t length(std::uint32_t index, std::uint64_t number) const;

  /// Both ends are set up: fills what messages come from. The ends must outlive this.
  void start(const FlowEndpoint& client, const FlowEndpoint& server);
  /// Makes `request` message `number` of queue pair `index`, of which each is prepared once, in order.
  void prepare(std::uint32_t index, std::uint64_t number, driver::SendWorkRequest& request);

  // The checks return how many messages are wrong.

  /// A receive completed. `content`: of its buffer, behind any header; `posted`: messages so far.
  std::uint64_t checkReceived(std::uint32_t index, std::uint64_t posted, const std::uint8_t* content,
                              const driver::WorkCompletion& completion);
  /// What came back for messages `first` to `last`, whose completion reports `byteLength`.
  std::uint64_t checkResponses(std::uint32_t index, std::uint64_t first, std::uint64_t last, std::uint32_t byteLength);
  /// In the end, after `completed` messages: what gives the server no completion. `all`: and these are all.
  [[nodiscard]] std::uint64_t checkRemainder(std::uint32_t index, std::uint64_t completed, bool all) const;

 private:
  enum Area : std::uint32_t { kSendArea, kReceiveArea, kWrittenArea, kReadArea };
  static constexpr std::uint32_t kPlainAreas = 2, kMixedAreas = 4;
  struct Pair {
    std::uint64_t expected = 0;  // number of the next message to be received
    std::uint64_t atomicsPosted = 0;
    std::uint64_t atomicsCompleted = 0;
  };

  [[nodiscard]] std::uint64_t localAddress(std::uint32_t index, std::uint64_t number) const;
  [[nodiscard]] std::uint64_t remoteAddress(std::uint32_t index, std::uint64_t number) const;
  [[nodiscard]] Area wordArea() const { return verbs_.isMixed() ? kSendArea : kReceiveArea; }
  void writeHeader(std::uint32_t index, std::uint64_t number);
  [[nodiscard]] std::uint64_t seed(std::uint32_t index, std::uint64_t number) const;
  [[nodiscard]] bool isIntact(const std::uint8_t* content, std::uint32_t index, std::uint64_t number) const;
  [[nodiscard]] bool fits(std::uint32_t index, std::uint64_t number, const std::uint8_t* content,
                          const driver::WorkCompletion& completion) const;
  bool checkResponse(std::uint32_t index, std::uint64_t number);

  std::uint32_t depth_;  // messages outstanding
  bool moves_;
  MessageSizes sizes_;
  MessageVerbs verbs_;
  bool mayLose_;
  bool numbered_ = false;  // every outstanding message has a place of its own and carries its number
  std::vector<Pair> pairs_;
  const FlowEndpoint* client_ = nullptr;
  const FlowEndpoint* server_ = nullptr;
};

}  // namespace hca::sim
