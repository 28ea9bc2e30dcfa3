// Queue pairs, as the command interface sees them.
#pragma once

#include <cstdint>

#include "models/adapter/command/command_result.h"
#include "models/adapter/transport/flow_steering.h"
#include "models/adapter/transport/qp_attributes.h"

namespace hca::adapter {

/// MODIFY_QP commands by their opcodes. Linux include/linux/mlx5/mlx5_ifc.h; those of the drained send queue as the
/// header had them up to 4.x (drivers/net/ethernet/mellanox/mlx5/core/qp.c of 3.11 has the table that uses them), and
/// the one that later headers have, SQD_RTS, beside them.
enum class QpTransition : std::uint16_t {
  kResetToInit = 0x502,
  kInitToReadyToReceive = 0x503,
  kReadyToReceiveToReadyToSend = 0x504,
  kReadyToSendToReadyToSend = 0x505,
  kSendQueueErrorToReadyToSend = 0x506,
  kToError = 0x507,
  kReadyToSendToDrain = 0x508,
  kDrainToReadyToSend = 0x509,
  kToReset = 0x50A,
  kDrainedToReadyToSend = 0x50C,
  kInitToInit = 0x50E,
  kDrainToDrain = 0x511,
};

class QpDirectory {
 public:
  /// Creates in reset. Checks sizes and that both completion queues exist; `number` is set on success.
  virtual CommandResult create(const QpAttributes& attributes, QpNumber& number) = 0;
  virtual CommandResult destroy(QpNumber number) = 0;
  /// Applies the attributes that `transition` requires, and of the optional ones those in `optionalMask` (qpc
  /// opt_param_mask). `attributes` is the decoded context of the command. After kToReset returns no CQE of the queue
  /// pair is written any more. Refused as kBadQpState (kQpTransitionIllegal) from a state that it doesn't start from;
  /// the queue pair then stays as it was.
  virtual CommandResult modify(QpNumber number, QpTransition transition, std::uint32_t optionalMask,
                               const QpAttributes& attributes) = 0;
  virtual CommandResult query(QpNumber number, QpAttributes& attributes) const = 0;
  /// Of a receive queue of raw packets, from the next frame on.
  virtual CommandResult setFrameOptions(QpNumber number, bool stripVlan, bool scatterFcs) {
    (void)number;
    (void)stripVlan;
    (void)scatterFcs;
    return {CommandStatus::kBadOperation, Syndrome::kQpServiceUnsupported};
  }
  /// From now on frames that fit go to the queues of `rule.targets`, receive queues of raw packets
  /// (kQpServiceUnsupported of any other). `name` is what removes the rule. A queue with rules can't be destroyed
  /// (kQpHasFlows).
  virtual CommandResult addFlow(const FlowRule& rule, std::uint64_t& name) {
    (void)rule;
    (void)name;
    return {CommandStatus::kBadOperation, Syndrome::kQpServiceUnsupported};
  }
  virtual CommandResult removeFlow(std::uint64_t name) {
    (void)name;
    return {CommandStatus::kBadResource, Syndrome::kUnknownFlow};
  }
  /// Ends the connections of a target of dynamic connections and takes no more; an event follows when all is written.
  virtual CommandResult drainTarget(QpNumber number) {
    (void)number;
    return {CommandStatus::kBadOperation, Syndrome::kQpServiceUnsupported};
  }
  /// Of datagram queue pairs: what is sent to `group` is for it, too.
  virtual CommandResult attachMulticast(QpNumber number, const network::Gid& group) = 0;
  virtual CommandResult detachMulticast(QpNumber number, const network::Gid& group) = 0;

 protected:
  ~QpDirectory() = default;
};

}  // namespace hca::adapter
