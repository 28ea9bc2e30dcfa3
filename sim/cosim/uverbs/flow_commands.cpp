// Flow rules. Linux drivers/infiniband/core/uverbs_cmd.c, ib_uverbs_ex_create_flow; drivers/infiniband/hw/mlx5/fs.c.
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include <utility>

#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/command_handlers.h"
#include "sim/cosim/uverbs/flow_specs.h"
#include "sim/cosim/uverbs/raw_packets.h"

namespace hca::cosim {
namespace {

using driver::EthernetObject;
using driver::FlowAttributes;

// enum ib_flow_attr_type, ib_flow_flags
constexpr std::uint32_t kNormal = 0, kAllDefault = 1, kMulticastDefault = 2, kSniffer = 3;
constexpr std::uint32_t kDontTrap = 1U << 1, kEgress = 1U << 2;

// The stock driver has 16 priorities for programs, each of two levels; behind them those of groups and of what nobody
// else wants (MLX5_IB_FLOW_MCAST_PRIO, the namespace of left-overs).
constexpr std::uint32_t kLastUserPriority = 15, kGroupPriority = 40, kLeftOverPriority = 41;
constexpr std::uint32_t levelOf(std::uint32_t priority, bool dontTrap) { return 2 * priority + (dontTrap ? 0 : 1); }

void putDestinationBit(FlowAttributes& flow, bool group) {
  constexpr std::uint32_t kGroupBit = 0x01000000;  // of the address's first byte
  wire::FlowMatch::DestinationHigh::set({flow.mask.data(), flow.mask.size()}, kGroupBit);
  wire::FlowMatch::DestinationHigh::set({flow.value.data(), flow.value.size()}, group ? kGroupBit : 0);
}

// What a program asks for, in rules of the driver. 0, or the errno.
int readFlow(const Call& call, const ib_uverbs_create_flow& in, std::uint32_t receiver,
             std::vector<FlowAttributes>& rules) {
  constexpr std::size_t kMostSpecs = 10;
  const ib_uverbs_flow_attr& attr = in.flow_attr;
  const ByteView all = call->coreBytes();
  if (attr.num_of_specs > kMostSpecs || all.size() < sizeof in || all.size() - sizeof in < attr.size) return EINVAL;
  ParsedFlow parsed;
  const int error = parseFlowSpecs(all.subview(sizeof in, attr.size), attr.num_of_specs, parsed);
  if (error != 0) return error;
  const bool dontTrap = (attr.flags & kDontTrap) != 0;
  FlowAttributes flow;
  flow.mask = parsed.mask;
  flow.value = parsed.value;
  flow.flowTag = parsed.flowTag;
  if (!parsed.drops) flow.receivers = {receiver};
  flow.continues = dontTrap && !parsed.drops;
  flow.priority = parsed.isGroupAlone && !dontTrap ? kGroupPriority : levelOf(attr.priority, dontTrap);
  if (attr.type == kNormal) {
    rules.push_back(flow);
    return 0;
  }
  if (attr.num_of_specs != 0) return EINVAL;
  flow.priority = kLeftOverPriority;
  putDestinationBit(flow, true);
  rules.push_back(flow);
  if (attr.type == kMulticastDefault) return 0;
  putDestinationBit(flow, false);
  rules.push_back(flow);
  return 0;
}

// What the kernel says to a flow before it looks at its specifications. 0, or the errno.
int check(const UverbsContext& context, const ib_uverbs_create_flow& in) {
  const ib_uverbs_flow_attr& attr = in.flow_attr;
  if (in.comp_mask != 0) return EINVAL;
  if (context.driver.ethernet() == nullptr) return EOPNOTSUPP;
  if ((attr.flags & kDontTrap) != 0 && (attr.type == kAllDefault || attr.type == kMulticastDefault)) return EINVAL;
  if (attr.priority > kLastUserPriority) return ENOSPC;
  if (attr.port == 0 || attr.port > context.device.ports.size() || (attr.flags & ~(kDontTrap | kEgress)) != 0) {
    return EINVAL;
  }
  if (attr.type > kSniffer) return EINVAL;
  return attr.type == kSniffer || (attr.flags & kEgress) != 0 || attr.port != 1 ? EOPNOTSUPP : 0;
}

// 0: none.
std::uint32_t receiverOf(const std::shared_ptr<UserQp>& qp) {
  return qp == nullptr || qp->raw == nullptr ? 0 : qp->raw->receiver;
}

void removeRules(UverbsContext& context, const std::shared_ptr<UserFlow>& flow, std::function<void(int)> done) {
  if (flow->numbers.empty()) return done(0);
  context.driver.ethernet()->destroyEthernet(
      context.owner, EthernetObject::kFlow, flow->numbers.back(),
      [&context, flow, done = std::move(done)](const driver::Answer<int>& answer) {
        if (!answer.ok()) return done(errnoOf(answer.result));
        flow->numbers.pop_back();
        removeRules(context, flow, done);
      });
}

// Each behind the other; all or none.
void addRules(UverbsContext& context, const std::shared_ptr<UserFlow>& flow, std::vector<FlowAttributes> rules,
              std::function<void(int)> done) {
  if (rules.empty()) return done(0);
  const FlowAttributes first = rules.front();
  rules.erase(rules.begin());
  context.driver.ethernet()->createFlow(context.owner, first,
                                        [&context, flow, rules = std::move(rules),
                                         done = std::move(done)](const driver::Answer<std::uint32_t>& answer) mutable {
                                          if (!answer.ok()) {
                                            const bool exists =
                                                answer.result.syndrome == adapter::Syndrome::kFlowConflict;
                                            const int error = exists ? EEXIST : errnoOf(answer.result);
                                            return removeRules(context, flow, [error, done](int) { done(error); });
                                          }
                                          flow->numbers.push_back(answer.value);
                                          addRules(context, flow, std::move(rules), std::move(done));
                                        });
}

void create(UverbsContext& context, const Call& call, const std::shared_ptr<UserFlow>& flow,
            std::vector<FlowAttributes> rules, std::function<void(std::uint32_t handle)> answered) {
  addRules(context, flow, std::move(rules), [&context, call, flow, answered = std::move(answered)](int error) {
    if (error != 0) return call->finish(error);
    if (flow->qp != nullptr) ++flow->qp->flows;
    if (flow->matcher != nullptr) ++flow->matcher->users;
    const std::uint32_t handle = context.flows.add(flow);
    call->noteAnswer("flow_handle", handle);
    answered(handle);
    call->finish(0);
  });
}

// What lies behind the parts that are looked at must not be asked for. 0, or the errno.
int readKey(const std::vector<std::uint8_t>& bytes, adapter::FlowKey& key) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i < key.size()) {
      key[i] = bytes[i];
    } else if (bytes[i] != 0) {
      return EOPNOTSUPP;
    }
  }
  return 0;
}

}  // namespace

void createFlow(UverbsContext& context, const Call& call) {
  const auto in = call->core<ib_uverbs_create_flow>();
  call->note("qp_handle", in.qp_handle);
  call->note("type", in.flow_attr.type);
  call->note("priority", in.flow_attr.priority);
  call->note("num_of_specs", in.flow_attr.num_of_specs);
  if (const int error = check(context, in); error != 0) return call->finish(error);
  const auto flow = std::make_shared<UserFlow>();
  flow->qp = context.qps.find(in.qp_handle);
  std::vector<FlowAttributes> rules;
  if (receiverOf(flow->qp) == 0) return call->finish(EINVAL);
  if (const int error = readFlow(call, in, receiverOf(flow->qp), rules); error != 0) return call->finish(error);
  create(context, call, flow, std::move(rules), [call](std::uint32_t handle) {
    ib_uverbs_create_flow_resp out{};
    out.flow_handle = handle;
    call->answerCore(out);
  });
}

void destroyFlow(UverbsContext& context, const Call& call) {
  const std::uint32_t handle = call->core<ib_uverbs_destroy_flow>().flow_handle;
  call->note("flow_handle", handle);
  const auto flow = context.flows.find(handle);
  if (flow == nullptr) return call->finish(EINVAL);
  removeRules(context, flow, [&context, call, flow, handle](int error) {
    if (error == 0) {
      if (flow->qp != nullptr) --flow->qp->flows;
      if (flow->matcher != nullptr) --flow->matcher->users;
      context.flows.remove(handle);
    }
    call->finish(error);
  });
}

void createFlowMatcher(UverbsContext& context, const Call& call) {
  const IoctlRequest& in = call->ioctl;
  const auto criteria = in.number(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_CRITERIA).value_or(0);
  const auto priority = in.number(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_TYPE).value_or(0);
  call->note("match_criteria", criteria);
  call->note("priority", priority);
  const auto matcher = std::make_shared<UserFlowMatcher>();
  if (context.driver.ethernet() == nullptr) return call->finish(EOPNOTSUPP);
  if (in.number(MLX5_IB_ATTR_FLOW_MATCHER_FT_TYPE).value_or(0) != MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX ||
      in.number(MLX5_IB_ATTR_FLOW_MATCHER_FLOW_FLAGS).value_or(0) != 0) {
    return call->finish(EOPNOTSUPP);
  }
  const int error = readKey(in.bytes(MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK), matcher->mask);
  if (error != 0) return call->finish(error);
  const adapter::FlowKey& known = adapter::knownFlowFields();
  constexpr std::size_t kPart = 0x40;
  for (std::size_t i = 0; i < known.size(); ++i) {
    // Parts that the criteria leave out don't count.
    const auto part = i < kPart ? wire::FlowMatch::kOuterHeaders : wire::FlowMatch::kMiscellaneous;
    if ((criteria & part) == 0) matcher->mask[i] = 0;
    if ((matcher->mask[i] & ~known[i]) != 0) return call->finish(EOPNOTSUPP);
  }
  matcher->priority = levelOf(static_cast<std::uint32_t>(std::min<std::uint64_t>(priority, kLastUserPriority)), false);
  const std::uint32_t handle = context.flowMatchers.add(matcher);
  call->noteAnswer("handle", handle);
  call->finish(call->ioctl.answerInline(MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE, handle) ? 0 : EFAULT);
}

void destroyFlowMatcher(UverbsContext& context, const Call& call) {
  const auto handle = call->ioctl.number(MLX5_IB_ATTR_FLOW_MATCHER_DESTROY_HANDLE).value_or(0);
  const auto matcher = context.flowMatchers.find(handle);
  if (matcher == nullptr) return call->finish(EINVAL);
  if (matcher->users != 0) return call->finish(EBUSY);
  context.flowMatchers.remove(static_cast<std::uint32_t>(handle));
  call->finish(0);
}

void createFlowNative(UverbsContext& context, const Call& call) {
  const IoctlRequest& in = call->ioctl;
  const auto flow = std::make_shared<UserFlow>();
  flow->matcher = context.flowMatchers.find(in.number(MLX5_IB_ATTR_CREATE_FLOW_MATCHER).value_or(0));
  const auto qp = in.number(MLX5_IB_ATTR_CREATE_FLOW_DEST_QP);
  const auto flags = in.number(MLX5_IB_ATTR_CREATE_FLOW_FLAGS).value_or(0);
  const bool drops = (flags & MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP) != 0;
  if (flow->matcher == nullptr || drops == qp.has_value()) return call->finish(EINVAL);
  if ((flags & ~std::uint64_t{MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP}) != 0) return call->finish(EOPNOTSUPP);
  FlowAttributes rule;
  rule.priority = flow->matcher->priority;
  rule.mask = flow->matcher->mask;
  if (const int error = readKey(in.bytes(MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE), rule.value); error != 0) {
    return call->finish(error);
  }
  constexpr std::uint64_t kTagEnd = 1U << 24;
  const auto tag = in.number(MLX5_IB_ATTR_CREATE_FLOW_TAG).value_or(0);
  if (tag >= kTagEnd) return call->finish(EINVAL);
  rule.flowTag = static_cast<std::uint32_t>(tag);
  if (qp) {
    flow->qp = context.qps.find(*qp);
    if (receiverOf(flow->qp) == 0) return call->finish(EINVAL);
    rule.receivers = {receiverOf(flow->qp)};
  }
  create(context, call, flow, {rule},
         [call](std::uint32_t handle) { (void)call->ioctl.answerInline(MLX5_IB_ATTR_CREATE_FLOW_HANDLE, handle); });
}

}  // namespace hca::cosim
