#include "sim/driver/kernel_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/adapter/command/context_codec.h"
#include "models/wire/mmio_map.h"
#include "models/wire/queue_commands.h"
#include "sim/driver/device_registers.h"

namespace hca::driver {
namespace {

using adapter::CommandResult;
using adapter::CommandStatus;
using wire::CommandOpcode;

CommandOpcode destroyOpcode(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kQp:
      return CommandOpcode::kDestroyQp;
    case ObjectKind::kDct:
      return CommandOpcode::kDestroyDct;
    case ObjectKind::kReceiver:
      return CommandOpcode::kDestroyTir;
    case ObjectKind::kSpread:
      return CommandOpcode::kDestroyRqt;
    case ObjectKind::kSendQueue:
      return CommandOpcode::kDestroySq;
    case ObjectKind::kReceiveQueue:
      return CommandOpcode::kDestroyRq;
    case ObjectKind::kSendInterface:
      return CommandOpcode::kDestroyTis;
    case ObjectKind::kTransportDomain:
      return CommandOpcode::kDeallocTransportDomain;
    case ObjectKind::kSrq:
      return CommandOpcode::kDestroyRmp;
    case ObjectKind::kXrcSrq:
      return CommandOpcode::kDestroyXrcSrq;
    case ObjectKind::kXrq:
      return CommandOpcode::kDestroyXrq;
    case ObjectKind::kCq:
      return CommandOpcode::kDestroyCq;
    case ObjectKind::kMemoryWindow:
    case ObjectKind::kMemoryKey:
      return CommandOpcode::kDestroyMemoryKey;
    case ObjectKind::kDeviceMemory:
      return CommandOpcode::kDeallocDeviceMemory;
    case ObjectKind::kPd:
      return CommandOpcode::kDeallocPd;
    case ObjectKind::kUar:
      return CommandOpcode::kDeallocUar;
    case ObjectKind::kFlow:  // several commands: FlowTables
    case ObjectKind::kCount:
      break;
  }
  return CommandOpcode::kNop;
}

// What the adapter would say of a number that doesn't exist: another owner's objects are none of a client's business.
constexpr CommandResult kNotUp{CommandStatus::kBadSystemState, adapter::Syndrome::kNone};
constexpr CommandResult kNoSuchVector{CommandStatus::kBadParameter, adapter::Syndrome::kCqEqUnknown};

constexpr std::size_t kPlainOutput = 16;

adapter::SrqAttributes decodeAnswer(ObjectKind kind, ByteView output) {
  if (kind == ObjectKind::kXrq) return adapter::decodeXrqContext(wire::QueryXrqOutput::Context::view(output));
  if (kind == ObjectKind::kSrq) return adapter::decodeRmpContext(wire::QueryRmpOutput::Context::view(output));
  adapter::SrqAttributes srq = adapter::decodeSrqContext(wire::QuerySrqOutput::Context::view(output));
  srq.kind = adapter::SrqKind::kXrc;
  return srq;
}

// A device that failed is asked nothing any more: what gives back succeeds, so that programs can end, and all else
// fails (Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c, mlx5_internal_err_ret_value).
CommandResult answerOfFailed(const CommandBytes& input) {
  switch (wire::CommandInput::opcode(input)) {
    case CommandOpcode::kDestroyQp:
    case CommandOpcode::kDestroyRmp:
    case CommandOpcode::kDestroyXrcSrq:
    case CommandOpcode::kDestroyXrq:
    case CommandOpcode::kDestroyDct:
    case CommandOpcode::kDestroyTir:
    case CommandOpcode::kDestroyRqt:
    case CommandOpcode::kDestroySq:
    case CommandOpcode::kDestroyRq:
    case CommandOpcode::kDestroyTis:
    case CommandOpcode::kDeallocTransportDomain:
    case CommandOpcode::kDeleteFlowTableEntry:
    case CommandOpcode::kDestroyFlowGroup:
    case CommandOpcode::kDestroyFlowTable:
    case CommandOpcode::kDeallocDeviceMemory:
    case CommandOpcode::kDestroyCq:
    case CommandOpcode::kDestroyMemoryKey:
    case CommandOpcode::kDeallocPd:
    case CommandOpcode::kDeallocUar:
    case CommandOpcode::kDeallocXrcd:
    case CommandOpcode::kDetachFromMulticast:
    case CommandOpcode::kToError:
    case CommandOpcode::kToReset:
      return {};
    default:
      return {CommandStatus::kInternalError, adapter::Syndrome::kNone};
  }
}

}  // namespace

KernelDriver::KernelDriver(const DriverEnvironment& environment, const DriverConfig& config)
    : environment_(environment),
      config_(config),
      memory_(environment.space, "driver"),
      life_(environment_, config_, memory_, *this, log_),
      health_(environment_, log_, config_.health_poll, [this] { onFatal(); }),
      xrcResources_(*this, memory_),
      keyUpdater_(*this, memory_),
      flowTables_([this](CommandBytes input, std::size_t outputLength, CommandQueue::Done done) {
        execute(std::move(input), outputLength, std::move(done));
      }) {}

void KernelDriver::start(std::function<void(CommandResult)> ready) {
  life_.up([this, ready = std::move(ready)](CommandResult result) {
    deviceMemory_.reset(capabilities().deviceMemory.size);
    ready(result);
  });
}

void KernelDriver::stop(std::function<void(CommandResult)> done) {
  releaseAll([this, done = std::move(done)] { life_.down(done); });
}

void KernelDriver::releaseAll(std::function<void()> done) {
  for (const OwnerId owner : owners_.owners()) {
    if (owner == xrcResources_.owner() || owner == keyUpdater_.owner()) continue;
    return releaseOwner(owner, [this, done = std::move(done)] { releaseAll(done); });
  }
  flowTables_.release(
      [this, done = std::move(done)] { xrcResources_.release([this, done] { keyUpdater_.release(done); }); });
}

OwnerId KernelDriver::addClient(DriverClient& client, const char* name) { return owners_.addClient(client, name); }

void KernelDriver::releaseOwner(OwnerId owner, std::function<void()> done) {
  owners_.silence(owner);
  const auto object = owners_.firstOf(owner);
  if (!object) return releaseDomains(owner, std::move(done));
  // An object that the adapter refuses to destroy is not tried again: it is the adapter's from now on.
  destroy(owner, object->kind, object->number,
          [this, owner, object = *object, done = std::move(done)](const Answer<int>& answer) {
            if (!answer.ok()) forget(object.kind, object.number);
            releaseOwner(owner, done);
          });
}

void KernelDriver::releaseDomains(OwnerId owner, std::function<void()> done) {
  const auto domain = domains_.firstOf(owner);
  if (!domain) {
    owners_.removeClient(owner);
    return done();
  }
  closeXrcd(owner, *domain, [this, owner, domain = *domain, done = std::move(done)](const Answer<int>& answer) {
    if (!answer.ok()) domains_.drop(owner, domain);
    releaseDomains(owner, done);
  });
}

void KernelDriver::execute(CommandBytes input, std::size_t outputLength, CommandQueue::Done done) {
  if (life_.commands() == nullptr) return done(CommandReply{kNotUp, wire::DeliveryStatus::kOk, {}});
  if (hasFailed_) return done(CommandReply{answerOfFailed(input), wire::DeliveryStatus::kOk, {}});
  life_.commands()->execute(std::move(input), outputLength, std::move(done));
}

void KernelDriver::create(OwnerId owner, ObjectKind kind, CommandBytes input,
                          std::function<void(CommandResult, std::uint32_t)> done) {
  execute(std::move(input), wire::ObjectCommand::kSize,
          [this, owner, kind, done = std::move(done)](const CommandReply& reply) {
            if (!reply.result.ok()) return done(reply.result, 0);
            const std::uint32_t number = wire::ObjectCommand::Number::get(reply.output);
            if (owners_.client(owner) == nullptr) {  // released while the command was under way
              execute(objectCommand(destroyOpcode(kind), number), kPlainOutput, [](const CommandReply&) {});
              return done(kNotYours, 0);
            }
            owners_.add(owner, kind, number);
            done(reply.result, number);
          });
}

void KernelDriver::destroy(OwnerId owner, ObjectKind kind, std::uint32_t number, Done<int> done) {
  if (!owners_.owns(owner, kind, number)) return done({kNotYours});
  if (kind == ObjectKind::kQp && isShared(number)) return closeQp(owner, QpNumber(number), std::move(done));
  if (kind == ObjectKind::kDct) return drainDct(number, std::move(done));
  if (kind == ObjectKind::kFlow) {
    return flowTables_.remove(number, [this, number, done = std::move(done)](const Answer<int>& answer) {
      if (answer.ok()) owners_.remove(ObjectKind::kFlow, number);
      done(answer);
    });
  }
  destroyAtOnce(kind, number, std::move(done));
}

void KernelDriver::destroyAtOnce(ObjectKind kind, std::uint32_t number, Done<int> done) {
  execute(destroyCommand(kind, number), kPlainOutput,
          [this, kind, number, done = std::move(done)](const CommandReply& reply) {
            if (reply.result.ok()) forget(kind, number);
            done({reply.result});
          });
}

CommandBytes KernelDriver::destroyCommand(ObjectKind kind, std::uint32_t number) const {
  if (kind != ObjectKind::kDeviceMemory) return objectCommand(destroyOpcode(kind), number);
  const DeviceMemoryPages::Piece& piece = deviceMemory_.at(number);
  return deallocateDeviceMemoryCommand(piece.start, piece.length);
}

void KernelDriver::forget(ObjectKind kind, std::uint32_t number) {
  owners_.remove(kind, number);
  domains_.removeObject(kind, number);
  if (kind == ObjectKind::kDeviceMemory) deviceMemory_.remove(number);
}

void KernelDriver::allocatePd(OwnerId owner, Done<PdNumber> done) {
  create(owner, ObjectKind::kPd, plainCommand(CommandOpcode::kAllocPd),
         [done = std::move(done)](CommandResult result, std::uint32_t number) {
           done({result, PdNumber(number)});
         });
}
void KernelDriver::deallocatePd(OwnerId owner, PdNumber pd, Done<int> done) {
  destroy(owner, ObjectKind::kPd, pd.value(), std::move(done));
}

void KernelDriver::allocateUar(OwnerId owner, Done<UarIndex> done) {
  create(owner, ObjectKind::kUar, plainCommand(CommandOpcode::kAllocUar),
         [done = std::move(done)](CommandResult result, std::uint32_t number) {
           done({result, UarIndex(number)});
         });
}
void KernelDriver::deallocateUar(OwnerId owner, UarIndex uar, Done<int> done) {
  destroy(owner, ObjectKind::kUar, uar.value(), std::move(done));
}

void KernelDriver::createMkey(OwnerId owner, const adapter::MkeyAttributes& attributes, Done<MemoryKey> done) {
  create(owner, ObjectKind::kMemoryKey, createMkeyCommand(attributes),
         [done = std::move(done), variant = attributes.variant](CommandResult result, std::uint32_t number) {
           done({result, MemoryKey(number << 8 | variant)});
         });
}
void KernelDriver::destroyMkey(OwnerId owner, MemoryKey key, Done<int> done) {
  destroy(owner, ObjectKind::kMemoryKey, key.value() >> 8, std::move(done));
}

void KernelDriver::updateMkey(OwnerId owner, MemoryKey key, std::uint64_t mask,
                              const adapter::MkeyAttributes& attributes, Done<int> done) {
  if (!owners_.owns(owner, ObjectKind::kMemoryKey, key.value() >> 8)) return done({kNotYours});
  keyUpdater_.update(life_.uar(), {key, mask, attributes, std::move(done)});
}

// Linux drivers/infiniband/hw/mlx5/mr.c, mlx5_ib_alloc_mw.
void KernelDriver::allocateMw(OwnerId owner, PdNumber pd, WindowType type, Done<MemoryKey> done) {
  constexpr std::uint32_t kOnePiecePadded = 4;  // 16-byte units; libraries write whole 64-byte blocks
  adapter::MkeyAttributes window;
  window.free = true;
  window.mode = adapter::MkeyMode::kIndirect;
  window.updatable = true;
  window.remoteInvalidate = type == WindowType::kType2;
  window.rights.localRead = true;
  window.pd = pd;
  window.translationOctwords = kOnePiecePadded;
  create(owner, ObjectKind::kMemoryWindow, createMkeyCommand(window),
         [done = std::move(done)](CommandResult result, std::uint32_t number) {
           done({result, MemoryKey(number << 8)});
         });
}
void KernelDriver::deallocateMw(OwnerId owner, MemoryKey key, Done<int> done) {
  destroy(owner, ObjectKind::kMemoryWindow, key.value() >> 8, std::move(done));
}

void KernelDriver::createCq(OwnerId owner, const adapter::CqAttributes& attributes, std::uint32_t vector,
                            Done<CqNumber> done) {
  if (vector >= completionVectors()) return done({kNoSuchVector});
  adapter::CqAttributes complete = attributes;
  complete.eq = life_.completionEq(vector);
  create(owner, ObjectKind::kCq, createCqCommand(complete),
         [done = std::move(done)](CommandResult result, std::uint32_t number) {
           done({result, CqNumber(number)});
         });
}
void KernelDriver::destroyCq(OwnerId owner, CqNumber cq, Done<int> done) {
  destroy(owner, ObjectKind::kCq, cq.value(), std::move(done));
}

void KernelDriver::modifyCqModeration(OwnerId owner, CqNumber cq, std::uint16_t count, std::uint16_t period,
                                      Done<int> done) {
  if (!owners_.owns(owner, ObjectKind::kCq, cq.value())) return done({kNotYours});
  execute(modifyModerationCommand(cq, count, period), kPlainOutput,
          [done = std::move(done)](const CommandReply& reply) { done({reply.result}); });
}

void KernelDriver::resizeCq(OwnerId owner, CqNumber cq, const adapter::CqAttributes& ring, Done<int> done) {
  if (!owners_.owns(owner, ObjectKind::kCq, cq.value())) return done({kNotYours});
  execute(resizeCqCommand(cq, ring), kPlainOutput,
          [done = std::move(done)](const CommandReply& reply) { done({reply.result}); });
}

void KernelDriver::queryCq(OwnerId owner, CqNumber cq, Done<adapter::CqAttributes> done) {
  if (!owners_.owns(owner, ObjectKind::kCq, cq.value())) return done({kNotYours});
  execute(objectCommand(CommandOpcode::kQueryCq, cq.value()), wire::QueryCqOutput::kSize,
          [done = std::move(done)](const CommandReply& reply) {
            if (!reply.result.ok()) return done({reply.result});
            done({reply.result, adapter::decodeCqContext(wire::QueryCqOutput::Context::view(reply.output))});
          });
}

// Numbers of shared queues of all kinds come from one table.
ObjectKind KernelDriver::srqKindOf(OwnerId owner, SrqNumber srq) const {
  for (const ObjectKind kind : {ObjectKind::kXrcSrq, ObjectKind::kXrq}) {
    if (owners_.owns(owner, kind, srq.value())) return kind;
  }
  return ObjectKind::kSrq;
}

void KernelDriver::createSrq(OwnerId owner, const adapter::SrqAttributes& attributes, Done<SrqNumber> done) {
  if (attributes.kind == adapter::SrqKind::kXrc) return createXrcSrq(owner, attributes, std::move(done));
  const bool matches = attributes.kind == adapter::SrqKind::kTagMatching;
  create(owner, matches ? ObjectKind::kXrq : ObjectKind::kSrq,
         matches ? createXrqCommand(attributes) : createRmpCommand(attributes),
         [done = std::move(done)](CommandResult result, std::uint32_t number) {
           done({result, SrqNumber(number)});
         });
}

void KernelDriver::armSrq(OwnerId owner, SrqNumber srq, std::uint16_t limit, Done<int> done) {
  const ObjectKind kind = srqKindOf(owner, srq);
  if (!owners_.owns(owner, kind, srq.value())) return done({kNotYours});
  CommandBytes command = armRmpCommand(srq, limit);
  if (kind == ObjectKind::kXrcSrq) command = armXrcSrqCommand(srq, limit);
  if (kind == ObjectKind::kXrq) command = armXrqCommand(srq, limit);
  execute(std::move(command), kPlainOutput,
          [done = std::move(done)](const CommandReply& reply) { done({reply.result}); });
}

void KernelDriver::querySrq(OwnerId owner, SrqNumber srq, Done<adapter::SrqAttributes> done) {
  const ObjectKind kind = srqKindOf(owner, srq);
  if (!owners_.owns(owner, kind, srq.value())) return done({kNotYours});
  CommandOpcode opcode = CommandOpcode::kQueryRmp;
  std::size_t output = wire::QueryRmpOutput::kSize;
  if (kind == ObjectKind::kXrcSrq) {
    opcode = CommandOpcode::kQueryXrcSrq;
    output = wire::QuerySrqOutput::kSize;
  } else if (kind == ObjectKind::kXrq) {
    opcode = CommandOpcode::kQueryXrq;
    output = wire::QueryXrqOutput::kSize;
  }
  execute(objectCommand(opcode, srq.value()), output, [kind, done = std::move(done)](const CommandReply& reply) {
    if (!reply.result.ok()) return done({reply.result});
    done({reply.result, decodeAnswer(kind, reply.output)});
  });
}

void KernelDriver::destroySrq(OwnerId owner, SrqNumber srq, Done<int> done) {
  destroy(owner, srqKindOf(owner, srq), srq.value(), std::move(done));
}

void KernelDriver::createQp(OwnerId owner, const adapter::QpAttributes& attributes, Done<QpNumber> done) {
  if (attributes.service == adapter::QpService::kXrc) return createXrcQp(owner, attributes, std::move(done));
  create(owner, ObjectKind::kQp, createQpCommand(attributes),
         [done = std::move(done)](CommandResult result, std::uint32_t number) {
           done({result, QpNumber(number)});
         });
}

void KernelDriver::modifyQp(OwnerId owner, QpNumber qp, adapter::QpTransition transition, std::uint32_t optionalMask,
                            const adapter::QpAttributes& attributes, Done<int> done) {
  if (!owners_.owns(owner, ObjectKind::kQp, qp.value())) return done({kNotYours});
  execute(modifyQpCommand(qp, transition, optionalMask, attributes), kPlainOutput,
          [done = std::move(done)](const CommandReply& reply) { done({reply.result}); });
}

void KernelDriver::queryQp(OwnerId owner, QpNumber qp, Done<adapter::QpAttributes> done) {
  if (!owners_.owns(owner, ObjectKind::kQp, qp.value())) return done({kNotYours});
  execute(objectCommand(CommandOpcode::kQueryQp, qp.value()), wire::QueryQpOutput::kSize,
          [done = std::move(done)](const CommandReply& reply) {
            if (!reply.result.ok()) return done({reply.result});
            done({reply.result, adapter::decodeQpContext(wire::QueryQpOutput::Context::view(reply.output))});
          });
}

void KernelDriver::destroyQp(OwnerId owner, QpNumber qp, Done<int> done) {
  destroy(owner, ObjectKind::kQp, qp.value(), std::move(done));
}

void KernelDriver::attachMulticast(OwnerId owner, QpNumber qp, const network::Gid& group, Done<int> done) {
  changeGroup(CommandOpcode::kAttachToMulticast, owner, qp, group, std::move(done));
}

void KernelDriver::detachMulticast(OwnerId owner, QpNumber qp, const network::Gid& group, Done<int> done) {
  changeGroup(CommandOpcode::kDetachFromMulticast, owner, qp, group, std::move(done));
}

void KernelDriver::changeGroup(CommandOpcode opcode, OwnerId owner, QpNumber qp, const network::Gid& group,
                               Done<int> done) {
  if (!owners_.owns(owner, ObjectKind::kQp, qp.value())) return done({kNotYours});
  execute(multicastCommand(opcode, qp, group), kPlainOutput,
          [done = std::move(done)](const CommandReply& reply) { done({reply.result}); });
}

void KernelDriver::ringDoorbell(UarIndex uar, std::uint32_t offset, ByteView bytes) {
  constexpr std::size_t kLine = 64;
  const std::uint64_t base = wire::uarOffset(uar.value()) + offset;
  for (std::size_t at = 0; at < bytes.size(); at += kLine) {
    environment_.function.barWrite(0, base + at, bytes.subview(at, std::min(kLine, bytes.size() - at)));
  }
}

void KernelDriver::readBack(std::function<void()> done) {
  readRegister(environment_.function, wire::InitSegment::kInternalTimerLow,
               [done = std::move(done)](std::uint32_t) { done(); });
}

void KernelDriver::onCompletionEntry(CqNumber cq, host::Core& core) {
  if (DriverClient* client = owners_.clientOfCq(cq)) {
    client->onCompletionEvent(cq, core);
  } else {
    ++strayEvents_;
  }
}

void KernelDriver::onCommandEntry(std::uint32_t slots) { life_.commands()->onEvent(slots); }

void KernelDriver::onPageRequestEntry(std::uint16_t function, std::int32_t pages) {
  life_.onPageRequest(function, pages);
}

void KernelDriver::onAsyncEntry(const wire::Eqe& eqe) {
  const auto type = static_cast<wire::EventType>(eqe.type);
  const auto tellAll = [this, eqe](std::uint32_t port) {
    for (DriverClient* client : owners_.clients()) client->onAsyncEvent(eqe.type, eqe.subType, port, 0);
  };
  if (type == wire::EventType::kPortChange) {
    const std::uint32_t port = wire::PortEvent::Port::get(wire::eventData<wire::PortEvent>(eqe).port);
    return life_.onPortChange(port, eqe.subType, [this, tellAll, port] {
      if (portListener_) portListener_(static_cast<std::uint8_t>(port));
      tellAll(port);
    });
  }
  if (type == wire::EventType::kInternalError) return onFatal();
  if (type == wire::EventType::kDctDrained) {
    return onDctDrained(wire::eventData<wire::QueueEvent>(eqe).number.host() & 0xFFFFFF);
  }
  ObjectKind kind = ObjectKind::kQp;
  std::uint32_t number = 0;
  std::uint8_t syndrome = 0;
  if (type == wire::EventType::kCqError) {
    const auto event = wire::eventData<wire::CqErrorEvent>(eqe);
    kind = ObjectKind::kCq;
    number = event.cq.host() & 0xFFFFFF;
    syndrome = event.syndrome;
    log_.say([&] { return fmt::format("CQ error on CQN {:#x}, syndrome {:#x}", number, syndrome); });
  } else {
    if (type == wire::EventType::kSrqCatastrophicError || type == wire::EventType::kSrqLimit) kind = ObjectKind::kSrq;
    number = wire::eventData<wire::QueueEvent>(eqe).number.host() & 0xFFFFFF;
  }
  std::vector<DriverClient*> clients = owners_.clientsOf(kind, number);
  // Numbers of shared queues of all kinds come from one table.
  for (const ObjectKind other : {ObjectKind::kXrcSrq, ObjectKind::kXrq}) {
    if (clients.empty() && kind == ObjectKind::kSrq) clients = owners_.clientsOf(other, number);
  }
  // So do those of queue pairs, of targets of dynamic connections and of queues of raw packets.
  for (const ObjectKind other : {ObjectKind::kDct, ObjectKind::kSendQueue, ObjectKind::kReceiveQueue}) {
    if (clients.empty() && kind == ObjectKind::kQp) clients = owners_.clientsOf(other, number);
  }
  for (DriverClient* client : clients) client->onAsyncEvent(eqe.type, eqe.subType, number, syndrome);
  if (clients.empty()) ++strayEvents_;
}

}  // namespace hca::driver
