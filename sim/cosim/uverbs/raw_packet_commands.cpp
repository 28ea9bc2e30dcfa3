// Raw packet queue pairs. Linux drivers/infiniband/hw/mlx5/qp.c: create_raw_packet_qp and what belongs to it.
#include <rdma/mlx5-abi.h>

#include <utility>

#include "sim/cosim/uverbs/command_errors.h"
#include "sim/cosim/uverbs/raw_packets.h"

namespace hca::cosim {
namespace {

using adapter::TransportDomainNumber;
using driver::EthernetObject;
using wire::WorkQueueState;

// The state of a queue pair whose queues are in these states, as far as they tell it (sqrq_state_to_qp_state).
VerbsState stateOf(const UserQp& qp, WorkQueueState sends, WorkQueueState receives) {
  const driver::RawQueuePair& raw = *qp.raw;
  if (raw.receiveQueue && receives == WorkQueueState::kError) return VerbsState::kError;
  if (!raw.receiveQueue && sends == WorkQueueState::kError) return VerbsState::kError;
  if (raw.sendQueue && sends == WorkQueueState::kError) return VerbsState::kSendError;
  return qp.rawState;
}

}  // namespace

void withTransportDomain(UverbsContext& context, const Call& call, std::function<void(TransportDomainNumber)> next) {
  if (context.transportDomain) return next(*context.transportDomain);
  context.driver.ethernet()->allocateTransportDomain(
      context.owner, [&context, call, next = std::move(next)](const driver::Answer<TransportDomainNumber>& answer) {
        if (!answer.ok()) return call->finish(errnoOf(answer.result));
        // A second one, of two commands at the same time, is kept and not used.
        if (!context.transportDomain) context.transportDomain = answer.value;
        next(*context.transportDomain);
      });
}

void createRawPacketQp(UverbsContext& context, const Call& call, const std::shared_ptr<UserQp>& qp,
                       std::function<void()> done, std::function<void()> failed) {
  const auto own = call->driver<mlx5_ib_create_qp>();
  withTransportDomain(
      context, call,
      [&context, call, qp, own, done = std::move(done), failed = std::move(failed)](TransportDomainNumber domain) {
        driver::RawQueuePairAttributes wanted;
        wanted.domain = domain;
        wanted.takesOwnUnicast = (own.flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_UC) != 0;
        wanted.takesOwnMulticast = (own.flags & MLX5_QP_FLAG_TIR_ALLOW_SELF_LB_MC) != 0;
        if (qp->attributes.hasSendQueue) {
          wanted.sendQueue = qp->attributes;
          wanted.sendQueue->buffer = qp->sendBuffer->pages();
        }
        if (qp->attributes.receiveQueueType == adapter::RqType::kOwn) wanted.receiveQueue = qp->attributes;
        driver::createRawQueuePair(*context.driver.ethernet(), context.owner, wanted,
                                   [call, qp, done, failed](const driver::Answer<driver::RawQueuePair>& answer) {
                                     if (!answer.ok()) {
                                       failed();
                                       return call->finish(errnoOf(answer.result));
                                     }
                                     qp->raw = std::make_shared<driver::RawQueuePair>(answer.value);
                                     qp->number = answer.value.number();
                                     done();
                                   });
      });
}

void queryRawPacketState(UverbsContext& context, const std::shared_ptr<UserQp>& qp,
                         std::function<void(int error, VerbsState state)> done) {
  driver::EthernetDriver& driver = *context.driver.ethernet();
  const auto withSends = [&context, &driver, qp, done](WorkQueueState sends) {
    if (!qp->raw->receiveQueue) return done(0, stateOf(*qp, sends, sends));
    driver.queryWorkQueue(context.owner, EthernetObject::kReceiveQueue, *qp->raw->receiveQueue,
                          [qp, sends, done](const driver::Answer<WorkQueueState>& answer) {
                            done(errnoOf(answer.result), stateOf(*qp, sends, answer.value));
                          });
  };
  if (!qp->raw->sendQueue) return withSends(WorkQueueState::kReset);
  driver.queryWorkQueue(context.owner, EthernetObject::kSendQueue, *qp->raw->sendQueue,
                        [withSends, done](const driver::Answer<WorkQueueState>& answer) {
                          if (!answer.ok()) return done(errnoOf(answer.result), VerbsState::kError);
                          withSends(answer.value);
                        });
}

// What the queues are in, before they are brought to the next state: a send queue may have failed by itself.
void modifyRawPacketQp(UverbsContext& context, const std::shared_ptr<UserQp>& qp, adapter::QpTransition transition,
                       std::function<void(int error)> done) {
  queryRawPacketState(context, qp, [&context, qp, transition, done = std::move(done)](int error, VerbsState state) {
    if (error != 0) return done(error);
    if (state == VerbsState::kSendError || state == VerbsState::kError) qp->raw->sendState = WorkQueueState::kError;
    if (state == VerbsState::kError) qp->raw->receiveState = WorkQueueState::kError;
    driver::modifyRawQueuePair(*context.driver.ethernet(), context.owner, *qp->raw, transition,
                               [qp, done](const driver::Answer<int>& answer) { done(errnoOf(answer.result)); });
  });
}

void destroyRawPacketQp(UverbsContext& context, const std::shared_ptr<UserQp>& qp,
                        std::function<void(int error)> done) {
  driver::EthernetDriver& driver = *context.driver.ethernet();
  const auto end = [done = std::move(done)](const driver::Answer<int>& answer) { done(errnoOf(answer.result)); };
  // The first goes of many receivers, then the next; the last answer counts.
  if (qp->spread == nullptr) return driver::destroyRawQueuePair(driver, context.owner, *qp->raw, end);
  driver.destroyEthernet(context.owner, EthernetObject::kReceiver, qp->raw->receiver, end);
}

}  // namespace hca::cosim
