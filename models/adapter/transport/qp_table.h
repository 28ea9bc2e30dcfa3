// The queue pairs of an adapter and their state machine.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "models/adapter/completion/completion_port.h"
#include "models/adapter/completion/cq_directory.h"
#include "models/adapter/event/event_port.h"
#include "models/adapter/transport/datapath_config.h"
#include "models/adapter/transport/dynamic_targets.h"
#include "models/adapter/transport/flow_steering.h"
#include "models/adapter/transport/multicast_groups.h"
#include "models/adapter/transport/qp_directory.h"
#include "models/adapter/transport/qp_lookup.h"
#include "models/adapter/transport/special_queue_pairs.h"
#include "models/kernel/object_slab.h"

namespace hca::adapter {

class Requester;
class Responder;
class ReceiveQueueEngine;
class SendQueueEngine;
class SrqEngine;

/// Owns the queue pairs; creates, moves through their states, and takes to error what a stage or a completion queue
/// gave up on.
class QpTable final : public QpDirectory,
                      public QpLookup,
                      public QpEventSink,
                      public QpFailureSink,
                      public DynamicTargets {
 public:
  /// `ports`: of the adapter.
  QpTable(const DatapathConfig& config, CqDirectory& completionQueues, EventPort& events, std::size_t ports);
  ~QpTable();

  struct Stages {
    SendQueueEngine& sendQueue;
    ReceiveQueueEngine& receiveQueue;
    Requester& requester;
    Responder& responder;
    SrqEngine& sharedQueues;
  };
  void connect(const Stages& stages);

  CommandResult create(const QpAttributes& attributes, QpNumber& number) override;
  CommandResult destroy(QpNumber number) override;
  CommandResult modify(QpNumber number, QpTransition transition, std::uint32_t optionalMask,
                       const QpAttributes& attributes) override;
  CommandResult query(QpNumber number, QpAttributes& attributes) const override;
  CommandResult attachMulticast(QpNumber number, const network::Gid& group) override;
  CommandResult detachMulticast(QpNumber number, const network::Gid& group) override;
  CommandResult setFrameOptions(QpNumber number, bool stripVlan, bool scatterFcs) override;
  CommandResult addFlow(const FlowRule& rule, std::uint64_t& name) override;
  CommandResult removeFlow(std::uint64_t name) override;
  CommandResult drainTarget(QpNumber number) override;
  QueuePair* contextOf(QueuePair& target, const network::Packet& packet) override;
  [[nodiscard]] const MulticastGroups& groups() const { return groups_; }
  [[nodiscard]] const FlowSteering& steering() const { return steering_; }

  QueuePair* find(QpNumber number) override;
  [[nodiscard]] QpNumber specialOf(std::uint8_t port, QpNumber number) const override {
    return special_.find(port, number);
  }
  void expect(QpNumber number) override;
  void onRequesterError(QueuePair& qp) override;
  void onResponderError(QueuePair& qp, EventType event) override;
  void onPostedInError(QueuePair& qp) override;
  void onSendQueueDrained(QueuePair& qp) override;
  void onCommunicationEstablished(QueuePair& qp) override;
  bool onPathFailed(QueuePair& qp) override;
  bool takesPath(QueuePair& qp, const network::Packet& packet, std::uint8_t port) override;
  void onCompletionQueueFailed(QpNumber number) override;

  /// Destroys every queue pair without completions (function-level reset).
  void clear();
  [[nodiscard]] std::size_t size() const { return alive_; }

 private:
  /// Numbers below are special queue pairs (0 and 1) and what drivers reserve.
  static constexpr std::uint32_t kFirstNumber = 64;
  /// So many stay in the processor's cache.
  static constexpr std::size_t kFew = 64;

  CommandResult check(const QpAttributes& attributes) const;
  [[nodiscard]] CommandResult checkPaths(const QueuePair& qp, QpTransition transition, std::uint32_t optionalMask,
                                         const QpAttributes& attributes) const;
  void setMigration(QueuePair& qp, MigrationState wanted);
  void migrateNow(QueuePair& qp);
  CommandResult attachQueues(const QpAttributes& attributes);
  [[nodiscard]] bool inlineScatterFits(const QpAttributes& attributes) const;
  QueuePair& place(const QpAttributes& attributes);
  void remove(QueuePair& qp);
  [[nodiscard]] QueuePair* nameable(QpNumber number);
  QueuePair* connectPeer(QueuePair& target, const DynamicPeer& peer, const network::Packet& packet);
  void disconnectPeers(QpNumber target);
  void failContext(QueuePair& context, EventType event);
  void detachQueues(const QpAttributes& attributes);
  void enter(QueuePair& qp, QpTransition transition);
  void toError(QueuePair& qp);
  void toSendQueueError(QueuePair& qp);
  void toReset(QueuePair& qp);
  void raiseLastWqe(const QueuePair& qp);
  void raise(EventType type, const QueuePair& qp);

  const DatapathConfig& config_;
  CqDirectory& completionQueues_;
  EventPort& events_;
  std::size_t ports_;
  std::unique_ptr<Stages> stages_;
  FlowSteering steering_;
  MulticastGroups groups_;
  SpecialQueuePairs special_;
  kernel::ObjectSlab<QueuePair> table_;    // by number - kFirstNumber
  std::map<DynamicPeer, QpNumber> peers_;  // contexts of targets
  std::uint32_t nextSlot_ = 0;
  std::size_t alive_ = 0;
};

}  // namespace hca::adapter
