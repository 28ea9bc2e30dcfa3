// One side of a flow: its thread with memory, queues and queue pairs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/driver/verbs_client.h"
#include "sim/workload/flow_config.h"

namespace hca::sim {

/// Creates what one side needs, through verbs, and knows where messages lie. Each queue pair has places to send from
/// and to receive into. With XRC a side has both ends of each connection, so that either may begin: an initiator, which
/// is the queue pair that one posts to, and a target.
class FlowEndpoint {
 public:
  struct Shape {
    std::uint32_t sendDepth = 1;     ///< requests outstanding in a send queue
    std::uint32_t receiveDepth = 1;  ///< receives posted to a receive queue
    bool receives = false;           ///< messages complete receives here
    bool withChannel = false;        ///< completions may come as events
    bool sharedReceives = false;     ///< one receive queue for all
    std::uint32_t areas = 2;         ///< of memory, each with all places
  };
  using Done = std::function<void(driver::VerbsError)>;

  FlowEndpoint(driver::VerbsClient& client, const FlowConfig& config, const Shape& shape);

  /// Opens the device and creates memory region, completion queues and queue pairs.
  void setUp(Done done);
  /// Connects queue pair i with the peer's i. Both sides are set up.
  void connect(const FlowEndpoint& peer, Done done);

  [[nodiscard]] driver::VerbsClient& client() const { return client_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] driver::QpHandle qp(std::uint32_t index) const { return qps_[index].handle; }
  [[nodiscard]] QpNumber qpNumber(std::uint32_t index) const { return qps_[index].number; }
  /// The number that completions of receives name.
  [[nodiscard]] QpNumber receiverNumber(std::uint32_t index) const {
    return targets_.empty() ? qpNumber(index) : targets_[index].number;
  }
  /// The queue pair whose receives name this number; there is one.
  [[nodiscard]] std::uint32_t indexOf(QpNumber number) const;
  /// Receive queues: of each queue pair, or those that they share.
  [[nodiscard]] std::uint32_t receiveQueues() const {
    return srqs_.empty() ? config_.qps : static_cast<std::uint32_t>(srqs_.size());
  }
  [[nodiscard]] bool sharesReceives() const { return !srqs_.empty(); }
  /// Of XRC, the shared queue to name; else none.
  [[nodiscard]] SrqNumber srqNumber(std::uint64_t index) const {
    return srqs_.empty() ? SrqNumber() : srqs_[index].number;
  }
  /// Posts to receive queue `index`.
  void postReceives(std::uint32_t index, const std::vector<driver::ReceiveWorkRequest>& list) const;
  /// Every completion queue; one if shared.
  [[nodiscard]] const std::vector<driver::CqHandle>& queues() const { return queues_; }
  [[nodiscard]] MemoryKey key() const { return key_; }
  /// How to reach queue pair `index` by datagrams.
  [[nodiscard]] driver::DatagramTarget datagramTarget(std::uint32_t index) const;
  /// Bytes that a receive buffer needs in front of the message.
  [[nodiscard]] std::uint32_t headerSize() const {
    return config_.transport == FlowTransport::kUd ? driver::kGlobalRouteHeaderSize : 0;
  }

  [[nodiscard]] std::uint32_t slots() const { return slots_; }
  /// Address of a place; `slot` is taken modulo slots().
  [[nodiscard]] std::uint64_t sendAddress(std::uint32_t qp, std::uint64_t slot) const { return address(0, qp, slot); }
  [[nodiscard]] std::uint64_t receiveAddress(std::uint32_t qp, std::uint64_t slot) const {
    return address(1, qp, slot);
  }
  /// The same for any area: 0 is what messages are sent from, 1 what they are received into.
  [[nodiscard]] std::uint64_t address(std::uint32_t area, std::uint32_t qp, std::uint64_t slot) const {
    return base_ + area * areaSize_ + (std::uint64_t{qp} * slots_ + slot % slots_) * stride_;
  }
  [[nodiscard]] std::uint8_t* bytes(std::uint64_t address) const { return bytes_ + (address - base_); }
  /// Whether messages are short enough to be copied into the request.
  [[nodiscard]] bool inlines() const { return inlines(static_cast<std::uint64_t>(config_.size.count())); }
  [[nodiscard]] bool inlines(std::uint64_t length) const {
    return length <= static_cast<std::uint64_t>(config_.inline_size.count()) && length <= qps_.front().maxInline;
  }

 private:
  void allocate();
  void createQueues(const Done& done);
  void openDomain(const Done& done);
  void createSharedQueues(const Done& done);
  void createQueuePairs(const Done& done);
  void createTargets(const Done& done);
  void connectFrom(std::uint32_t index, const FlowEndpoint& peer, const Done& done);
  void connectOne(driver::QpHandle pair, std::uint32_t index, QpNumber remote, const FlowEndpoint& peer,
                  const Done& done);
  [[nodiscard]] bool isXrc() const { return config_.transport == FlowTransport::kXrc; }
  /// Rows of places: one for each queue pair, and for each shared queue.
  [[nodiscard]] std::uint64_t rows() const { return std::max(config_.qps, isXrc() ? config_.xrc_srqs : 1U); }
  [[nodiscard]] std::uint32_t sharedQueuesWanted() const {
    return isXrc() ? config_.xrc_srqs : shape_.sharedReceives ? 1 : 0;
  }
  [[nodiscard]] driver::CqRequest queueRequest() const;
  [[nodiscard]] driver::QpRequest pairRequest() const;

  driver::VerbsClient& client_;
  FlowConfig config_;
  Shape shape_;
  std::uint32_t slots_ = 1;
  std::uint64_t stride_ = 64;
  std::uint64_t base_ = 0;
  std::uint64_t areaSize_ = 0;
  std::uint8_t* bytes_ = nullptr;
  MemoryKey key_;
  std::vector<driver::CqHandle> queues_;
  driver::XrcdHandle domain_;
  std::vector<driver::SrqCreated> srqs_;
  std::vector<driver::QpCreated> qps_;
  std::vector<driver::QpCreated> targets_;  // of XRC, by the queue pair that the peer sends from
};

}  // namespace hca::sim
