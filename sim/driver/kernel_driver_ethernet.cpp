// Raw packets: queues, what leads to them, rules.
#include <utility>

#include "models/wire/queue_commands.h"
#include "sim/driver/kernel_driver.h"

namespace hca::driver {
namespace {

using adapter::CommandResult;
using wire::CommandOpcode;

ObjectKind kindOf(EthernetObject kind) {
  switch (kind) {
    case EthernetObject::kFlow:
      return ObjectKind::kFlow;
    case EthernetObject::kReceiver:
      return ObjectKind::kReceiver;
    case EthernetObject::kSpread:
      return ObjectKind::kSpread;
    case EthernetObject::kSendQueue:
      return ObjectKind::kSendQueue;
    case EthernetObject::kReceiveQueue:
      return ObjectKind::kReceiveQueue;
    case EthernetObject::kSendInterface:
      return ObjectKind::kSendInterface;
    case EthernetObject::kTransportDomain:
      break;
  }
  return ObjectKind::kTransportDomain;
}

std::function<void(CommandResult, std::uint32_t)> numbered(Done<std::uint32_t> done) {
  return [done = std::move(done)](CommandResult result, std::uint32_t number) { done({result, number}); };
}

std::function<void(CommandResult, std::uint32_t)> queueNumbered(Done<QpNumber> done) {
  return [done = std::move(done)](CommandResult result, std::uint32_t number) { done({result, QpNumber(number)}); };
}

}  // namespace

EthernetDriver* KernelDriver::ethernet() { return life_.capabilities().ethernet.offered ? this : nullptr; }

void KernelDriver::allocateTransportDomain(OwnerId owner, Done<adapter::TransportDomainNumber> done) {
  create(owner, ObjectKind::kTransportDomain, plainCommand(CommandOpcode::kAllocTransportDomain),
         [done = std::move(done)](CommandResult result, std::uint32_t number) {
           done({result, adapter::TransportDomainNumber(number)});
         });
}

void KernelDriver::createSendInterface(OwnerId owner, adapter::TransportDomainNumber domain, Done<std::uint32_t> done) {
  if (!owners_.owns(owner, ObjectKind::kTransportDomain, domain.value())) return done({kNotYours});
  create(owner, ObjectKind::kSendInterface, createTisCommand(domain), numbered(std::move(done)));
}

void KernelDriver::createSendQueue(OwnerId owner, const adapter::QpAttributes& attributes, std::uint32_t sendInterface,
                                   Done<QpNumber> done) {
  if (!owners_.owns(owner, ObjectKind::kSendInterface, sendInterface)) return done({kNotYours});
  create(owner, ObjectKind::kSendQueue, createSqCommand(attributes, sendInterface), queueNumbered(std::move(done)));
}

void KernelDriver::createReceiveQueue(OwnerId owner, const adapter::QpAttributes& attributes, Done<QpNumber> done) {
  create(owner, ObjectKind::kReceiveQueue, createRqCommand(attributes), queueNumbered(std::move(done)));
}

void KernelDriver::modifyWorkQueue(OwnerId owner, EthernetObject kind, QpNumber queue, const WorkQueueChange& change,
                                   Done<int> done) {
  if (!owners_.owns(owner, kindOf(kind), queue.value())) return done({kNotYours});
  const auto opcode = kind == EthernetObject::kSendQueue ? CommandOpcode::kModifySq : CommandOpcode::kModifyRq;
  execute(modifyWorkQueueCommand(opcode, queue, change), wire::ObjectCommand::kSize,
          [done = std::move(done)](const CommandReply& reply) { done({reply.result}); });
}

void KernelDriver::queryWorkQueue(OwnerId owner, EthernetObject kind, QpNumber queue, Done<wire::WorkQueueState> done) {
  if (!owners_.owns(owner, kindOf(kind), queue.value())) return done({kNotYours});
  const auto opcode = kind == EthernetObject::kSendQueue ? CommandOpcode::kQuerySq : CommandOpcode::kQueryRq;
  using Output = wire::QueryEthernetQueueOutput;
  execute(objectCommand(opcode, queue.value()), Output::kSize, [done = std::move(done)](const CommandReply& reply) {
    if (!reply.result.ok()) return done({reply.result});
    const std::uint32_t state = wire::EthernetQueueContext::State::get(Output::Context::view(reply.output));
    done({reply.result, static_cast<wire::WorkQueueState>(state)});
  });
}

void KernelDriver::createSpread(OwnerId owner, const std::vector<QpNumber>& queues, Done<std::uint32_t> done) {
  for (const QpNumber queue : queues) {
    if (!owners_.owns(owner, ObjectKind::kReceiveQueue, queue.value())) return done({kNotYours});
  }
  create(owner, ObjectKind::kSpread, createRqtCommand(queues), numbered(std::move(done)));
}

void KernelDriver::createReceiver(OwnerId owner, const ReceiverAttributes& attributes, Done<std::uint32_t> done) {
  const bool isYours = attributes.spread != 0
                           ? owners_.owns(owner, ObjectKind::kSpread, attributes.spread)
                           : owners_.owns(owner, ObjectKind::kReceiveQueue, attributes.queue.value());
  if (!isYours || !owners_.owns(owner, ObjectKind::kTransportDomain, attributes.domain.value())) {
    return done({kNotYours});
  }
  create(owner, ObjectKind::kReceiver, createTirCommand(attributes), numbered(std::move(done)));
}

void KernelDriver::createFlow(OwnerId owner, const FlowAttributes& attributes, Done<std::uint32_t> done) {
  for (const std::uint32_t receiver : attributes.receivers) {
    if (!owners_.owns(owner, ObjectKind::kReceiver, receiver)) return done({kNotYours});
  }
  flowTables_.add(attributes, [this, owner, done = std::move(done)](const Answer<std::uint32_t>& answer) {
    if (!answer.ok()) return done(answer);
    if (owners_.client(owner) == nullptr) {  // released while the commands were under way
      flowTables_.remove(answer.value, [](const Answer<int>&) {});
      return done({kNotYours});
    }
    owners_.add(owner, ObjectKind::kFlow, answer.value);
    done(answer);
  });
}

void KernelDriver::destroyEthernet(OwnerId owner, EthernetObject kind, std::uint32_t number, Done<int> done) {
  destroy(owner, kindOf(kind), number, std::move(done));
}

}  // namespace hca::driver
