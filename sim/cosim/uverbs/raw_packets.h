// Raw packet queue pairs among the verbs commands.
#pragma once

#include <functional>

#include "sim/cosim/uverbs/command_call.h"
#include "sim/cosim/uverbs/qp_state_rules.h"
#include "sim/cosim/uverbs/user_objects.h"
#include "sim/cosim/uverbs/uverbs_context.h"
#include "sim/driver/ethernet_driver.h"

namespace hca::cosim {

/// enum ib_uverbs_qp_type
constexpr std::uint8_t kRawPacketType = 8;

/// Flags of queue pairs and work queues: enum ib_uverbs_qp_create_flags, ib_uverbs_wq_flags.
struct RawFlags {
  static constexpr std::uint32_t kQpScatterFcs = 1U << 8;
  static constexpr std::uint32_t kQpStripVlan = 1U << 9;
  static constexpr std::uint32_t kWqStripVlan = 1U << 0;
  static constexpr std::uint32_t kWqScatterFcs = 1U << 1;
};

/// Calls `next` with the transport domain of the open device, which its first raw packet object makes.
void withTransportDomain(UverbsContext& context, const Call& call,
                         std::function<void(adapter::TransportDomainNumber)> next);

/// Rest of creation: `qp` has its references, queue sizes and memory. `done` runs on success; a failure ends `call`.
void createRawPacketQp(UverbsContext& context, const Call& call, const std::shared_ptr<UserQp>& qp,
                       std::function<void()> done, std::function<void()> failed);
/// Of a work queue or queue pair: whether `state` (as queried) is what its owner wanted, or error.
void queryRawPacketState(UverbsContext& context, const std::shared_ptr<UserQp>& qp,
                         std::function<void(int error, VerbsState state)> done);
void modifyRawPacketQp(UverbsContext& context, const std::shared_ptr<UserQp>& qp, adapter::QpTransition transition,
                       std::function<void(int error)> done);
void destroyRawPacketQp(UverbsContext& context, const std::shared_ptr<UserQp>& qp, std::function<void(int error)> done);

/// A queue pair that only receives, spread over the work queues of an indirection table: `own` is its hash.
void createSpreadQp(UverbsContext& context, const Call& call, const ib_uverbs_ex_create_qp& wanted,
                    std::function<void(const ib_uverbs_create_qp_resp&)> answered);

}  // namespace hca::cosim
