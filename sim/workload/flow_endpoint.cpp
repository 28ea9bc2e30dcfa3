#include "sim/workload/flow_endpoint.h"

#include <algorithm>

namespace hca::sim {
namespace {

using driver::VerbsError;

constexpr std::uint64_t kLine = 64;
// More places than this are not worth their memory: messages then share them.
constexpr std::uint64_t kMaxBuffer = std::uint64_t{256} << 20;

driver::QpType typeOf(FlowTransport transport) {
  switch (transport) {
    case FlowTransport::kRc:
      break;
    case FlowTransport::kUc:
      return driver::QpType::kUc;
    case FlowTransport::kUd:
      return driver::QpType::kUd;
    case FlowTransport::kXrc:
      return driver::QpType::kXrcInitiator;
  }
  return driver::QpType::kRc;
}

std::uint32_t firstPsn(std::uint32_t index) { return (0x100 + index * 0x10) & 0xFFFFFF; }

}  // namespace

FlowEndpoint::FlowEndpoint(driver::VerbsClient& client, const FlowConfig& config, const Shape& shape)
    : client_(client), config_(config), shape_(shape) {
  const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(config.size.count(), 1)) + headerSize();
  stride_ = (size + kLine - 1) / kLine * kLine;
  const std::uint64_t wanted = std::max(shape.sendDepth, shape.receiveDepth);
  const std::uint64_t room = kMaxBuffer / shape.areas / (stride_ * rows());
  slots_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(room, 1, wanted));
}

void FlowEndpoint::setUp(Done done) {
  allocate();
  client_.open([this, done = std::move(done)](VerbsError error) {
    if (error != VerbsError::kNone) return done(error);
    constexpr auto kAccess = static_cast<std::uint32_t>(driver::MemoryAccess::kLocalWrite) |
                             static_cast<std::uint32_t>(driver::MemoryAccess::kRemoteWrite) |
                             static_cast<std::uint32_t>(driver::MemoryAccess::kRemoteRead) |
                             static_cast<std::uint32_t>(driver::MemoryAccess::kRemoteAtomic);
    client_.registerMemory(base_, areaSize_ * shape_.areas, kAccess, [this, done](const driver::MrRegistered& region) {
      if (region.error != VerbsError::kNone) return done(region.error);
      key_ = region.localKey;
      createQueues(done);
    });
  });
}

void FlowEndpoint::allocate() {
  areaSize_ = rows() * slots_ * stride_;
  const std::uint64_t length = areaSize_ * shape_.areas;
  // A large buffer lies in large pages.
  constexpr std::uint64_t kPage = 4096;
  constexpr std::uint64_t kLargePage = std::uint64_t{2} << 20;
  base_ = client_.allocate(length, length < kLargePage ? kPage : kLargePage);
  bytes_ = client_.bytes(base_, length);
}

driver::CqRequest FlowEndpoint::queueRequest() const {
  driver::CqRequest request;
  const std::uint64_t pairs = config_.shared_cq ? config_.qps : 1;
  const std::uint64_t queues = isXrc() ? rows() : pairs;
  const std::uint64_t depth = pairs * shape_.sendDepth + (shape_.receives ? queues * shape_.receiveDepth : 0);
  request.cqe = static_cast<std::int32_t>(config_.cqe != 0 ? config_.cqe : depth);
  request.comp_vector = config_.comp_vector;
  request.withChannel = shape_.withChannel;
  request.cqe_size = static_cast<std::uint32_t>(config_.cqe_size.count());
  request.padded = config_.cqe_pad;
  request.compression = {config_.cqe_compression, config_.mini_cqe};
  request.ignoreOverrun = config_.ignore_overrun;
  request.moderation = config_.moderation;
  request.cq_count = static_cast<std::uint16_t>(config_.cq_count);
  request.cq_period = static_cast<std::uint16_t>(config_.cq_period);
  return request;
}

void FlowEndpoint::createQueues(const Done& done) {
  const std::uint32_t wanted = config_.shared_cq ? 1 : config_.qps;
  if (queues_.size() == wanted) return isXrc() ? openDomain(done) : createSharedQueues(done);
  client_.createCq(queueRequest(), [this, done](const driver::CqCreated& created) {
    if (created.error != VerbsError::kNone) return done(created.error);
    queues_.push_back(created.handle);
    createQueues(done);
  });
}

void FlowEndpoint::openDomain(const Done& done) {
  client_.openXrcd(0, [this, done](const driver::XrcdOpened& opened) {
    if (opened.error != VerbsError::kNone) return done(opened.error);
    domain_ = opened.handle;
    createSharedQueues(done);
  });
}

void FlowEndpoint::createSharedQueues(const Done& done) {
  if (srqs_.size() == sharedQueuesWanted()) return createQueuePairs(done);
  driver::SrqRequest request;
  request.maxWr = shape_.receiveDepth;
  if (isXrc()) request.xrc = driver::XrcSrq{domain_, queues_.front()};
  client_.createSrq(request, [this, done](const driver::SrqCreated& created) {
    if (created.error != VerbsError::kNone) return done(created.error);
    srqs_.push_back(created);
    createSharedQueues(done);
  });
}

std::uint32_t FlowEndpoint::indexOf(QpNumber number) const {
  const std::vector<driver::QpCreated>& receivers = targets_.empty() ? qps_ : targets_;
  const auto found = std::find_if(receivers.begin(), receivers.end(),
                                  [number](const driver::QpCreated& pair) { return pair.number == number; });
  return static_cast<std::uint32_t>(found - receivers.begin());
}

void FlowEndpoint::postReceives(std::uint32_t index, const std::vector<driver::ReceiveWorkRequest>& list) const {
  if (sharesReceives()) {
    client_.postSrqReceive(srqs_[index].handle, list);
  } else {
    client_.postReceive(qp(index), list);
  }
}

driver::QpRequest FlowEndpoint::pairRequest() const {
  driver::QpRequest request;
  request.type = typeOf(config_.transport);
  request.maxSendWr = shape_.sendDepth;
  request.maxReceiveWr = shape_.receiveDepth;
  if (!isXrc() && sharesReceives()) request.srq = srqs_.front().handle;
  request.maxInline = static_cast<std::uint32_t>(config_.inline_size.count());
  request.scatterToCqe = config_.scatter_to_cqe;
  return request;
}

void FlowEndpoint::createQueuePairs(const Done& done) {
  if (qps_.size() == config_.qps) return isXrc() ? createTargets(done) : done(VerbsError::kNone);
  const driver::CqHandle queue = queues_[config_.shared_cq ? 0 : qps_.size()];
  client_.createQp(pairRequest(), queue, queue, [this, done](const driver::QpCreated& created) {
    if (created.error != VerbsError::kNone) return done(created.error);
    qps_.push_back(created);
    createQueuePairs(done);
  });
}

void FlowEndpoint::createTargets(const Done& done) {
  if (targets_.size() == config_.qps) return done(VerbsError::kNone);
  driver::QpRequest request;
  request.type = driver::QpType::kXrcTarget;
  request.domain = domain_;
  client_.createQp(request, queues_.front(), queues_.front(), [this, done](const driver::QpCreated& created) {
    if (created.error != VerbsError::kNone) return done(created.error);
    targets_.push_back(created);
    createTargets(done);
  });
}

driver::DatagramTarget FlowEndpoint::datagramTarget(std::uint32_t index) const {
  driver::DatagramTarget target;
  target.address = client_.address();
  target.qp = qpNumber(index);
  target.queueKey = driver::ConnectionAttributes{}.queueKey;
  return target;
}

void FlowEndpoint::connect(const FlowEndpoint& peer, Done done) { connectFrom(0, peer, done); }

// Packets come from the peer's initiator and go to its target.
void FlowEndpoint::connectFrom(std::uint32_t index, const FlowEndpoint& peer, const Done& done) {
  if (index == qps_.size()) return done(VerbsError::kNone);
  connectOne(qp(index), index, peer.receiverNumber(index), peer, [this, index, &peer, done](VerbsError error) {
    if (error != VerbsError::kNone) return done(error);
    if (!isXrc()) return connectFrom(index + 1, peer, done);
    connectOne(targets_[index].handle, index, peer.qpNumber(index), peer, [this, index, &peer, done](VerbsError wrong) {
      if (wrong != VerbsError::kNone) return done(wrong);
      connectFrom(index + 1, peer, done);
    });
  });
}

void FlowEndpoint::connectOne(driver::QpHandle pair, std::uint32_t index, QpNumber remoteQp, const FlowEndpoint& peer,
                              const Done& done) {
  driver::QpPeer remote;
  const driver::AddressHandle address = peer.client_.address();
  remote.lid = address.lid;
  if (address.globalRoute) remote.gid = address.remoteGid;
  remote.qp = remoteQp;
  remote.receivePsn = firstPsn(index);
  remote.sendPsn = firstPsn(index);
  driver::ConnectionAttributes attributes;
  attributes.mtu = static_cast<std::uint32_t>(config_.mtu.count());
  attributes.ackTimeout = static_cast<std::uint8_t>(config_.ack_timeout);
  attributes.retryCount = static_cast<std::uint8_t>(config_.retry_count);
  attributes.maxReads = static_cast<std::uint8_t>(config_.outs);
  attributes.rnrRetry = static_cast<std::uint8_t>(config_.rnr_retry);
  attributes.minRnrTimer = static_cast<std::uint8_t>(config_.min_rnr_timer);
  client_.connect(pair, remote, attributes, done);
}

}  // namespace hca::sim
