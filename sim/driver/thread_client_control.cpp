// The control path of ThreadClient: memory regions and queue pairs.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "models/network/fabric_identity.h"
#include "models/wire/doorbell.h"
#include "models/wire/queue_commands.h"
#include "models/wire/wqe.h"
#include "sim/driver/client_tables.h"
#include "sim/driver/completion_parser.h"
#include "sim/driver/memory_pages.h"
#include "sim/driver/page_list_of.h"
#include "sim/driver/sequence.h"
#include "sim/driver/thread_client.h"

namespace hca::driver {
namespace {

using adapter::CommandResult;
using adapter::QpTransition;

bool offers(const DeviceCapabilities& device, QpType type) {
  if (type == QpType::kUc) return device.uc;
  if (type == QpType::kUd) return device.ud;
  return type == QpType::kRc || device.xrc;
}

// Linux drivers/infiniband/hw/mlx5/mlx5_ib.h: MLX5_REQ_SCAT_DATA32_CQE and its sisters.
constexpr std::uint8_t kRequester32 = 0x11, kRequester64 = 0x22, kResponder32 = 1, kResponder64 = 2;

/// qpc.cs_req and cs_res that fit the entries of a queue.
std::uint8_t requesterScatter(const ClientCq& cq) {
  if (cq.stride == adapter::CqeStride::k32) return 0;
  return cq.stride == adapter::CqeStride::k64 ? kRequester32 : kRequester64;
}
std::uint8_t responderScatter(const ClientCq& cq) {
  if (cq.stride == adapter::CqeStride::k32) return 0;
  return cq.stride == adapter::CqeStride::k64 ? kResponder32 : kResponder64;
}

adapter::QpService serviceOf(QpType type) {
  switch (type) {
    case QpType::kRc:
      break;
    case QpType::kUc:
      return adapter::QpService::kUc;
    case QpType::kUd:
      return adapter::QpService::kUd;
    case QpType::kXrcInitiator:
    case QpType::kXrcTarget:
      return adapter::QpService::kXrc;
  }
  return adapter::QpService::kRc;
}

}  // namespace

void ThreadClient::open(std::function<void(VerbsError)> done) {
  driver_.allocateUar(owner_, [this, done = std::move(done)](const Answer<UarIndex>& uar) {
    if (!uar.ok()) return done(errorOf(uar.result));
    uar_ = uar.value;
    driver_.allocatePd(owner_, [this, done](const Answer<PdNumber>& pd) {
      pd_ = pd.value;
      done(errorOf(pd.result));
    });
  });
}

// A remote peer may not write where the program itself may not (ibv_reg_mr(3)).
bool ThreadClient::memoryRequestValid(std::uint64_t address, std::uint64_t length, std::uint32_t access) {
  const bool remoteWrites = has(access, MemoryAccess::kRemoteWrite) || has(access, MemoryAccess::kRemoteAtomic);
  if (remoteWrites && !has(access, MemoryAccess::kLocalWrite)) return false;
  return length != 0 && bytes(address, length) != nullptr;
}

adapter::MkeyAttributes ThreadClient::mkeyAttributes(const ClientMr& mr, std::uint32_t access) {
  adapter::MkeyAttributes key;
  key.rights.localRead = true;
  key.rights.localWrite = has(access, MemoryAccess::kLocalWrite);
  key.rights.remoteRead = has(access, MemoryAccess::kRemoteRead);
  key.rights.remoteWrite = has(access, MemoryAccess::kRemoteWrite);
  key.rights.atomic = has(access, MemoryAccess::kRemoteAtomic);
  key.variant = nextKeyVariant_++;
  key.pd = pd_;
  setMemory(key, mr.address, mr.length, mr.bus, largestLogPage_);
  return key;
}

void ThreadClient::registerMemory(std::uint64_t address, std::uint64_t length, std::uint32_t access,
                                  std::function<void(MrRegistered)> done) {
  MrRegistered refused;
  refused.error = VerbsError::kInvalid;
  if (!memoryRequestValid(address, length, access)) return done(refused);
  ClientMr mr;
  mr.address = address;
  mr.length = length;
  mr.access = access;
  mr.bus = memory_.space().map(memory_.owner(), address, length);
  driver_.createMkey(owner_, mkeyAttributes(mr, access),
                     [this, mr, done = std::move(done)](const Answer<MemoryKey>& answer) mutable {
                       MrRegistered registered;
                       registered.error = errorOf(answer.result);
                       if (!answer.ok()) {
                         memory_.space().unmap(mr.bus, mr.length);
                         return done(registered);
                       }
                       mr.key = answer.value;
                       mr.handle = handOut<ClientMr, MrHandle>(mrs_);
                       mrs_.back() = std::make_unique<ClientMr>(mr);
                       registered.handle = mr.handle;
                       registered.localKey = registered.remoteKey = mr.key;
                       done(registered);
                     });
}

void ThreadClient::deregisterMemory(MrHandle handle, std::function<void(VerbsError)> done) {
  const ClientMr* mr = find(mrs_, handle);
  if (mr == nullptr) return done(VerbsError::kInvalid);
  driver_.destroyMkey(owner_, mr->key, [this, handle, done = std::move(done)](const Answer<int>& answer) {
    if (answer.ok()) {
      const ClientMr gone = *mrs_[handle.value()];
      memory_.space().unmap(gone.bus, gone.length);
      mrs_[handle.value()].reset();
    }
    done(errorOf(answer.result));
  });
}

// Which queues a queue pair has, by its type and what was asked for.
VerbsError ThreadClient::prepareQp(const QpRequest& request, CqHandle sendCq, CqHandle receiveCq, ClientQp& qp) const {
  const bool sends = request.type != QpType::kXrcTarget;
  const bool receives = sends && request.type != QpType::kXrcInitiator;
  const QueueLimits& limits = driver_.capabilities().limits;
  const auto sendSize = sends ? sendQueueSize(request, limits) : SendQueueSize{};
  const auto receiveSize = receives && !request.srq ? receiveQueueSize(request, limits) : ReceiveQueueSize{};
  const ClientCq* sendQueue = find(cqs_, sendCq);
  const ClientCq* receiveQueue = find(cqs_, receiveCq);
  const ClientSrq* shared = request.srq ? find(srqs_, *request.srq) : nullptr;
  const ClientXrcd* domain = find(xrcds_, request.domain);
  if (!sendSize || !receiveSize || (sends && sendQueue == nullptr) || (receives && receiveQueue == nullptr)) {
    return VerbsError::kInvalid;
  }
  if (request.srq && (!receives || shared == nullptr || shared->xrc)) return VerbsError::kInvalid;
  if (!sends && domain == nullptr) return VerbsError::kInvalid;
  if (sends && !receives && sendSize->blocks == 0) return VerbsError::kInvalid;
  if (!offers(driver_.capabilities(), request.type)) return VerbsError::kNotSupported;
  qp.type = request.type;
  qp.sendSize = *sendSize;
  qp.receiveSize = *receiveSize;
  if (request.scatterToCqe && !driver_.capabilities().inlineScatter) return VerbsError::kNotSupported;
  if (sends) {
    qp.sendCq = sendCq;
    qp.sendCqNumber = sendQueue->number;
    if (request.scatterToCqe) qp.requesterInlineScatter = requesterScatter(*sendQueue);
  } else {
    qp.domain = domain->number;
  }
  if (receives) {
    qp.receiveCq = receiveCq;
    qp.receiveCqNumber = receiveQueue->number;
    if (request.scatterToCqe) qp.responderInlineScatter = responderScatter(*receiveQueue);
  }
  if (shared != nullptr) {
    qp.srq = request.srq;
    qp.srqNumber = shared->number;
  }
  return VerbsError::kNone;
}

void ThreadClient::createQp(const QpRequest& request, CqHandle sendCq, CqHandle receiveCq,
                            std::function<void(QpCreated)> done) {
  auto qp = std::make_shared<ClientQp>();
  QpCreated refused;
  refused.error = prepareQp(request, sendCq, receiveCq, *qp);
  if (refused.error != VerbsError::kNone) return done(refused);
  const std::uint64_t length = qp->sendOffset() + std::uint64_t{qp->sendSize.blocks} * wire::kSendBlockSize;
  qp->buffer = memory_.allocate(std::max<std::uint64_t>(length, wire::kSendBlockSize));
  qp->record = records_.allocate();
  qp->handle = QpHandle(nextQp_++);
  driver_.createQp(owner_, qpAttributes(*qp), [this, qp, done = std::move(done)](const Answer<QpNumber>& answer) {
    finishCreateQp(*qp, answer, done);
  });
}

void ThreadClient::finishCreateQp(ClientQp& qp, const Answer<QpNumber>& answer,
                                  const std::function<void(QpCreated)>& done) {
  QpCreated created;
  created.error = errorOf(answer.result);
  if (!answer.ok()) {
    disposeQp(qp);
    return done(created);
  }
  qp.number = answer.value;
  std::uint8_t* record = qp.record.bytes;
  if (qp.sendSize.blocks != 0) {
    qp.send.emplace(qp.buffer.bytes + qp.sendOffset(), record + offsetof(wire::QpDoorbellRecord, sendCounter),
                    qp.sendSize, qp.number, qp.type);
  }
  if (qp.receiveSize.entries != 0) {
    qp.receive.emplace(qp.buffer.bytes, record + offsetof(wire::QpDoorbellRecord, receiveCounter), qp.receiveSize);
  }
  created.handle = qp.handle;
  created.number = qp.number;
  created.maxSendWr = qp.sendSize.maxPosted;
  created.maxReceiveWr = qp.receiveSize.maxPosted;
  created.maxInline = qp.sendSize.maxInline;
  qps_.emplace(qp.handle.value(), std::move(qp));
  done(created);
}

void ThreadClient::disposeQp(ClientQp& qp) {
  memory_.free(qp.buffer);
  records_.free(qp.record);
}

adapter::QpAttributes ThreadClient::qpAttributes(const ClientQp& qp) const {
  adapter::QpAttributes attributes;
  attributes.service = serviceOf(qp.type);
  attributes.pd = pd_;
  attributes.uar = uar_;
  attributes.userIndex = qp.handle.value();
  attributes.hasSendQueue = qp.sendSize.blocks != 0;
  attributes.logSendQueueSize = static_cast<std::uint8_t>(logOf(qp.sendSize.blocks));
  attributes.receiveQueueType = qp.receiveSize.entries != 0 ? adapter::RqType::kOwn : adapter::RqType::kNone;
  if (qp.srq) attributes.receiveQueueType = adapter::RqType::kSrq;
  attributes.srq = qp.srqNumber;
  attributes.logReceiveQueueSize = static_cast<std::uint8_t>(logOf(qp.receiveSize.entries));
  attributes.logReceiveStride = static_cast<std::uint8_t>(std::max(qp.receiveSize.logStride, 4U));
  attributes.buffer = pageListOf(qp.buffer, qp.buffer.length);
  attributes.doorbellRecord = qp.record.bus;
  attributes.sendCq = qp.sendCqNumber;
  attributes.receiveCq = qp.receiveCqNumber;
  attributes.domain = qp.domain;
  attributes.requesterInlineScatter = qp.requesterInlineScatter;
  attributes.responderInlineScatter = qp.responderInlineScatter;
  return attributes;
}

AddressHandle ThreadClient::address() const {
  AddressHandle address;
  address.lid = devicePort().lid;
  address.globalRoute = driver_.capabilities().roce;
  if (!address.globalRoute) return address;
  address.remoteGid = devicePort().gid();
  address.remoteMac = network::macOf(devicePort().gid());
  return address;
}

// With RoCE the kernel looks up the neighbour's Ethernet address.
void ThreadClient::setPath(const QpPeer& peer, adapter::AddressPath& path) const {
  path.port = port_;
  path.remoteLid = peer.lid;
  if (!peer.gid) return;
  path.globalRoute = true;
  path.sourceGidIndex = devicePort().gidIndex;
  path.hopLimit = kHopLimit;
  path.remoteGid = *peer.gid;
  if (driver_.capabilities().roce) path.remoteMac = network::macOf(*peer.gid);
}

void ThreadClient::connect(QpHandle handle, const QpPeer& peer, const ConnectionAttributes& connection,
                           std::function<void(VerbsError)> done) {
  const ClientQp* qp = qps_.find(handle.value());
  if (qp == nullptr) return done(VerbsError::kInvalid);
  adapter::QpAttributes attributes = qpAttributes(*qp);
  attributes.mtu = connection.mtu;
  attributes.remoteQp = peer.qp;
  attributes.nextSendPsn = peer.sendPsn;
  attributes.nextReceivePsn = peer.receivePsn;
  attributes.retryCount = connection.retryCount;
  attributes.rnrRetry = connection.rnrRetry;
  attributes.minRnrNak = connection.minRnrTimer;
  attributes.logMaxOutstandingReads = static_cast<std::uint8_t>(logOf(connection.maxReads));
  attributes.logMaxResponderReads = attributes.logMaxOutstandingReads;
  attributes.remoteRead = connection.remoteRead;
  attributes.remoteWrite = connection.remoteWrite;
  attributes.remoteAtomic = connection.remoteAtomic;
  setPath(peer, attributes.path);
  attributes.path.ackTimeout = connection.ackTimeout;
  attributes.queueKey = connection.queueKey;

  using Optional = wire::QpOptional;
  constexpr std::uint32_t kRights = Optional::kRemoteRead | Optional::kRemoteWrite | Optional::kRemoteAtomic;
  const auto modify = [this, number = qp->number, attributes](QpTransition transition, std::uint32_t mask) {
    return Sequence::Step([this, number, attributes, transition, mask](const Sequence::Next& next) {
      driver_.modifyQp(owner_, number, transition, mask, attributes,
                       [next](const Answer<int>& answer) { next(answer.result); });
    });
  };
  Sequence::run({modify(QpTransition::kResetToInit,
                        kRights | Optional::kPkeyIndex | Optional::kQueueKey | Optional::kPrimaryPort),
                 modify(QpTransition::kInitToReadyToReceive, kRights),
                 modify(QpTransition::kReadyToReceiveToReadyToSend, kRights | Optional::kRnrTimeout)},
                [done = std::move(done)](CommandResult result) { done(errorOf(result)); });
}

// Entries of a shared queue whose completions nobody polled are free again (libmlx5: mlx5_cq_clean).
void ThreadClient::dropCompletions(const ClientQp& qp, CqHandle cq) {
  cqOf(cq).ring.clean(qp.handle.value(), [this, &qp](const wire::Cqe& cqe) {
    if (!qp.srq || completedQueue(wire::OpOwn::Opcode::get(cqe.opOwn)) != CompletedQueue::kReceive) return;
    srqs_[qp.srq->value()]->ring.retire(cqe.wqeCounter.host());
  });
}

void ThreadClient::modifyToError(QpHandle handle, std::function<void(VerbsError)> done) {
  const ClientQp* qp = qps_.find(handle.value());
  if (qp == nullptr) return done(VerbsError::kInvalid);
  driver_.modifyQp(owner_, qp->number, QpTransition::kToError, 0, qpAttributes(*qp),
                   [done = std::move(done)](const Answer<int>& answer) { done(errorOf(answer.result)); });
}

// The kernel resets the queue pair first, so that no completion of it is written any more; then the library drops those
// that nobody polled.
void ThreadClient::destroyQp(QpHandle handle, std::function<void(VerbsError)> done) {
  const ClientQp* qp = qps_.find(handle.value());
  if (qp == nullptr) return done(VerbsError::kInvalid);
  if (!qp->groups.empty()) return done(VerbsError::kBusy);
  const auto reset = [this, number = qp->number, attributes = qpAttributes(*qp)](const Sequence::Next& next) {
    driver_.modifyQp(owner_, number, QpTransition::kToReset, 0, attributes,
                     [next](const Answer<int>& answer) { next(answer.result); });
  };
  const auto destroy = [this, number = qp->number](const Sequence::Next& next) {
    driver_.destroyQp(owner_, number, [next](const Answer<int>& answer) { next(answer.result); });
  };
  Sequence::run({reset, destroy}, [this, handle, done = std::move(done)](CommandResult result) {
    if (result.ok()) {
      ClientQp& gone = qpOf(handle);
      const bool isXrc = gone.type == QpType::kXrcInitiator || gone.type == QpType::kXrcTarget;
      if (gone.type != QpType::kXrcTarget) dropCompletions(gone, gone.sendCq);
      if (!isXrc && gone.receiveCq != gone.sendCq) dropCompletions(gone, gone.receiveCq);
      disposeQp(gone);
      qps_.erase(handle.value());
    }
    done(errorOf(result));
  });
}

void ThreadClient::attachMulticast(QpHandle handle, const network::Gid& group, std::function<void(VerbsError)> done) {
  const ClientQp* qp = qps_.find(handle.value());
  if (qp == nullptr) return done(VerbsError::kInvalid);
  driver_.attachMulticast(owner_, qp->number, group,
                          [this, handle, group, done = std::move(done)](const Answer<int>& answer) {
                            std::vector<network::Gid>& groups = qpOf(handle).groups;
                            const bool isNew = std::find(groups.begin(), groups.end(), group) == groups.end();
                            if (answer.ok() && isNew) groups.push_back(group);
                            done(errorOf(answer.result));
                          });
}

void ThreadClient::detachMulticast(QpHandle handle, const network::Gid& group, std::function<void(VerbsError)> done) {
  const ClientQp* qp = qps_.find(handle.value());
  if (qp == nullptr) return done(VerbsError::kInvalid);
  driver_.detachMulticast(owner_, qp->number, group,
                          [this, handle, group, done = std::move(done)](const Answer<int>& answer) {
                            std::vector<network::Gid>& groups = qpOf(handle).groups;
                            if (answer.ok())
                              groups.erase(std::remove(groups.begin(), groups.end(), group), groups.end());
                            done(errorOf(answer.result));
                          });
}

}  // namespace hca::driver
