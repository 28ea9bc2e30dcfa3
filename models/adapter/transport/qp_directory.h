// Queue pairs, as the command interface sees them.
#pragma once

#include <cstdint>

#include "models/adapter/command/command_result.h"
#include "models/adapter/transport/qp_attributes.h"

namespace hca::adapter {

/// MODIFY_QP commands by their opcodes.
enum class QpTransition : std::uint16_t {
  kResetToInit = 0x502,
  kInitToReadyToReceive = 0x503,
  kReadyToReceiveToReadyToSend = 0x504,
  kReadyToSendToReadyToSend = 0x505,
  kSendQueueErrorToReadyToSend = 0x506,
  kToError = 0x507,
  kToReset = 0x50A,
  kInitToInit = 0x50E,
};

class QpDirectory {
 public:
  /// Creates in reset. Checks sizes and that both completion queues exist; `number` is set on success.
  virtual CommandResult create(const QpAttributes& attributes, QpNumber& number) = 0;
  virtual CommandResult destroy(QpNumber number) = 0;
  /// Applies the attributes that `transition` requires, and of the optional ones those in `optionalMask` (qpc
  /// opt_param_mask). `attributes` is the decoded context of the command. After kToReset returns no CQE of the queue
  /// pair is written any more.
  virtual CommandResult modify(QpNumber number, QpTransition transition, std::uint32_t optionalMask,
                               const QpAttributes& attributes) = 0;
  virtual CommandResult query(QpNumber number, QpAttributes& attributes) const = 0;
  /// Of datagram queue pairs: what is sent to `group` is for it, too.
  virtual CommandResult attachMulticast(QpNumber number, const network::Gid& group) = 0;
  virtual CommandResult detachMulticast(QpNumber number, const network::Gid& group) = 0;

 protected:
  ~QpDirectory() = default;
};

}  // namespace hca::adapter
