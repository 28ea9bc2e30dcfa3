// The inputs of the commands that the driver sends.
#pragma once

#include <cstdint>
#include <vector>

#include "models/adapter/completion/cq_attributes.h"
#include "models/adapter/event/eq_attributes.h"
#include "models/adapter/memory/mkey_attributes.h"
#include "models/adapter/receive_queue/srq_attributes.h"
#include "models/adapter/transport/qp_attributes.h"
#include "models/adapter/transport/qp_directory.h"
#include "models/wire/opcode.h"
#include "sim/driver/ethernet_driver.h"

namespace hca::driver {

using CommandBytes = std::vector<std::uint8_t>;

/// Zeroes with opcode and modifier.
[[nodiscard]] CommandBytes plainCommand(wire::CommandOpcode opcode, std::size_t size = 16, std::uint32_t modifier = 0);
/// Of the commands whose only field is an object's number. Event queues have theirs at the same place.
[[nodiscard]] CommandBytes objectCommand(wire::CommandOpcode opcode, std::uint32_t number);

[[nodiscard]] CommandBytes createEqCommand(const adapter::EqAttributes& attributes);
[[nodiscard]] CommandBytes createCqCommand(const adapter::CqAttributes& attributes);
/// Period in microseconds, count in entries.
[[nodiscard]] CommandBytes modifyModerationCommand(CqNumber cq, std::uint16_t count, std::uint16_t period);
/// Stride, logSize and ring of `attributes` count.
[[nodiscard]] CommandBytes resizeCqCommand(CqNumber cq, const adapter::CqAttributes& attributes);
/// A shared receive queue as the stock driver makes it under ISSI 1 (Linux drivers/infiniband/hw/mlx5/srq_cmd.c).
[[nodiscard]] CommandBytes createRmpCommand(const adapter::SrqAttributes& attributes);
[[nodiscard]] CommandBytes createXrcSrqCommand(const adapter::SrqAttributes& attributes);
[[nodiscard]] CommandBytes createXrqCommand(const adapter::SrqAttributes& attributes);
[[nodiscard]] CommandBytes armXrqCommand(SrqNumber srq, std::uint16_t limit);
[[nodiscard]] CommandBytes armXrcSrqCommand(SrqNumber srq, std::uint16_t limit);
[[nodiscard]] CommandBytes armRmpCommand(SrqNumber srq, std::uint16_t limit);
[[nodiscard]] CommandBytes createQpCommand(const adapter::QpAttributes& attributes);
[[nodiscard]] CommandBytes modifyQpCommand(QpNumber qp, adapter::QpTransition transition, std::uint32_t optionalMask,
                                           const adapter::QpAttributes& attributes);
[[nodiscard]] CommandBytes createDctCommand(const adapter::QpAttributes& attributes);
/// ATTACH_TO_MCG or DETACH_FROM_MCG.
[[nodiscard]] CommandBytes multicastCommand(wire::CommandOpcode opcode, QpNumber qp, const network::Gid& group);
[[nodiscard]] CommandBytes createTisCommand(adapter::TransportDomainNumber domain);
[[nodiscard]] CommandBytes createSqCommand(const adapter::QpAttributes& attributes, std::uint32_t sendInterface);
[[nodiscard]] CommandBytes createRqCommand(const adapter::QpAttributes& attributes);
/// MODIFY_SQ or MODIFY_RQ.
[[nodiscard]] CommandBytes modifyWorkQueueCommand(wire::CommandOpcode opcode, QpNumber queue,
                                                  const WorkQueueChange& change);
[[nodiscard]] CommandBytes createRqtCommand(const std::vector<QpNumber>& queues);
[[nodiscard]] CommandBytes createTirCommand(const ReceiverAttributes& attributes);
[[nodiscard]] CommandBytes createMkeyCommand(const adapter::MkeyAttributes& attributes);
/// `place`: offset in BAR0 of `room` bytes, within which `length` are to be had.
[[nodiscard]] CommandBytes allocateDeviceMemoryCommand(std::uint64_t place, std::uint32_t room, std::uint32_t length,
                                                       unsigned logAlignment);
[[nodiscard]] CommandBytes deallocateDeviceMemoryCommand(std::uint64_t start, std::uint32_t length);
/// Gives `pages` to `function`.
[[nodiscard]] CommandBytes givePagesCommand(std::uint32_t function, const std::vector<BusAddress>& pages);
/// Asks `function` for `count` pages back.
[[nodiscard]] CommandBytes takePagesCommand(std::uint32_t function, std::uint32_t count);

}  // namespace hca::driver
