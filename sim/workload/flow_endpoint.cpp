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
  const std::uint64_t room = kMaxBuffer / shape.areas / (stride_ * config.qps);
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
  areaSize_ = std::uint64_t{config_.qps} * slots_ * stride_;
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
  const std::uint64_t perPair = shape_.sendDepth + (shape_.receives ? shape_.receiveDepth : 0);
  request.cqe = static_cast<std::int32_t>(config_.cqe != 0 ? config_.cqe : pairs * perPair);
  request.comp_vector = config_.comp_vector;
  request.withChannel = shape_.withChannel;
  request.cqe_size = static_cast<std::uint32_t>(config_.cqe_size.count());
  request.ignoreOverrun = config_.ignore_overrun;
  request.moderation = config_.moderation;
  request.cq_count = static_cast<std::uint16_t>(config_.cq_count);
  request.cq_period = static_cast<std::uint16_t>(config_.cq_period);
  return request;
}

void FlowEndpoint::createQueues(const Done& done) {
  const std::uint32_t wanted = config_.shared_cq ? 1 : config_.qps;
  if (queues_.size() == wanted) return createSharedQueue(done);
  client_.createCq(queueRequest(), [this, done](const driver::CqCreated& created) {
    if (created.error != VerbsError::kNone) return done(created.error);
    queues_.push_back(created.handle);
    createQueues(done);
  });
}

void FlowEndpoint::createSharedQueue(const Done& done) {
  if (!shape_.sharedReceives) return createQueuePairs(done);
  client_.createSrq({shape_.receiveDepth, 1}, [this, done](const driver::SrqCreated& created) {
    if (created.error != VerbsError::kNone) return done(created.error);
    srq_ = created.handle;
    createQueuePairs(done);
  });
}

std::uint32_t FlowEndpoint::indexOf(QpNumber number) const {
  const auto found =
      std::find_if(qps_.begin(), qps_.end(), [number](const driver::QpCreated& pair) { return pair.number == number; });
  return static_cast<std::uint32_t>(found - qps_.begin());
}

void FlowEndpoint::postReceives(std::uint32_t index, const std::vector<driver::ReceiveWorkRequest>& list) const {
  if (srq_) {
    client_.postSrqReceive(*srq_, list);
  } else {
    client_.postReceive(qp(index), list);
  }
}

driver::QpRequest FlowEndpoint::pairRequest() const {
  driver::QpRequest request;
  request.type = typeOf(config_.transport);
  request.maxSendWr = shape_.sendDepth;
  request.maxReceiveWr = shape_.receiveDepth;
  request.srq = srq_;
  request.maxInline = static_cast<std::uint32_t>(config_.inline_size.count());
  return request;
}

void FlowEndpoint::createQueuePairs(const Done& done) {
  if (qps_.size() == config_.qps) return done(VerbsError::kNone);
  const driver::CqHandle queue = queues_[config_.shared_cq ? 0 : qps_.size()];
  client_.createQp(pairRequest(), queue, queue, [this, done](const driver::QpCreated& created) {
    if (created.error != VerbsError::kNone) return done(created.error);
    qps_.push_back(created);
    createQueuePairs(done);
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

void FlowEndpoint::connectFrom(std::uint32_t index, const FlowEndpoint& peer, const Done& done) {
  if (index == qps_.size()) return done(VerbsError::kNone);
  driver::QpPeer remote;
  const driver::AddressHandle address = peer.client_.address();
  remote.lid = address.lid;
  if (address.globalRoute) remote.gid = address.remoteGid;
  remote.qp = peer.qpNumber(index);
  remote.receivePsn = firstPsn(index);
  remote.sendPsn = firstPsn(index);
  driver::ConnectionAttributes attributes;
  attributes.mtu = static_cast<std::uint32_t>(config_.mtu.count());
  attributes.ackTimeout = static_cast<std::uint8_t>(config_.ack_timeout);
  attributes.retryCount = static_cast<std::uint8_t>(config_.retry_count);
  attributes.maxReads = static_cast<std::uint8_t>(config_.outs);
  attributes.rnrRetry = static_cast<std::uint8_t>(config_.rnr_retry);
  attributes.minRnrTimer = static_cast<std::uint8_t>(config_.min_rnr_timer);
  client_.connect(qp(index), remote, attributes, [this, index, &peer, done](VerbsError error) {
    if (error != VerbsError::kNone) return done(error);
    connectFrom(index + 1, peer, done);
  });
}

}  // namespace hca::sim
