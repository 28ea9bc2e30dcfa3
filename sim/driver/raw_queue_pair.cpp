#include "sim/driver/raw_queue_pair.h"

#include <memory>
#include <utility>
#include <vector>

#include "sim/driver/sequence.h"

namespace hca::driver {
namespace {

using adapter::QpTransition;
using wire::WorkQueueState;
using Next = Sequence::Next;

void destroyPart(EthernetDriver& driver, OwnerId owner, EthernetObject kind, std::uint32_t number, const Next& next) {
  driver.destroyEthernet(owner, kind, number, [next](const Answer<int>& answer) { next(answer.result); });
}

std::vector<Sequence::Step> endOf(EthernetDriver& driver, OwnerId owner, const RawQueuePair& pair) {
  std::vector<Sequence::Step> steps;
  const auto add = [&](EthernetObject kind, std::uint32_t number) {
    steps.emplace_back(
        [&driver, owner, kind, number](const Next& next) { destroyPart(driver, owner, kind, number, next); });
  };
  if (pair.receiver != 0) add(EthernetObject::kReceiver, pair.receiver);
  if (pair.receiveQueue) add(EthernetObject::kReceiveQueue, pair.receiveQueue->value());
  if (pair.sendQueue) add(EthernetObject::kSendQueue, pair.sendQueue->value());
  if (pair.sendInterface != 0) add(EthernetObject::kSendInterface, pair.sendInterface);
  return steps;
}

/// Under construction.
struct Making {
  EthernetDriver& driver;
  OwnerId owner;
  RawQueuePairAttributes attributes;
  RawQueuePair pair;
};

void addSendSteps(std::vector<Sequence::Step>& steps, const std::shared_ptr<Making>& made) {
  steps.emplace_back([made](const Next& next) {
    made->driver.createSendInterface(made->owner, made->attributes.domain,
                                     [made, next](const Answer<std::uint32_t>& answer) {
                                       made->pair.sendInterface = answer.value;
                                       next(answer.result);
                                     });
  });
  steps.emplace_back([made](const Next& next) {
    made->driver.createSendQueue(made->owner, *made->attributes.sendQueue, made->pair.sendInterface,
                                 [made, next](const Answer<QpNumber>& answer) {
                                   if (answer.ok()) made->pair.sendQueue = answer.value;
                                   next(answer.result);
                                 });
  });
}

void addReceiveSteps(std::vector<Sequence::Step>& steps, const std::shared_ptr<Making>& made) {
  steps.emplace_back([made](const Next& next) {
    made->driver.createReceiveQueue(made->owner, *made->attributes.receiveQueue,
                                    [made, next](const Answer<QpNumber>& answer) {
                                      if (answer.ok()) made->pair.receiveQueue = answer.value;
                                      next(answer.result);
                                    });
  });
  steps.emplace_back([made](const Next& next) {
    ReceiverAttributes receiver;
    receiver.domain = made->attributes.domain;
    receiver.queue = *made->pair.receiveQueue;
    receiver.takesOwnUnicast = made->attributes.takesOwnUnicast;
    receiver.takesOwnMulticast = made->attributes.takesOwnMulticast;
    made->driver.createReceiver(made->owner, receiver, [made, next](const Answer<std::uint32_t>& answer) {
      made->pair.receiver = answer.value;
      next(answer.result);
    });
  });
}

// What the stock driver brings the queues to; nothing: it stays.
struct Targets {
  std::optional<WorkQueueState> send, receive;
};

Targets targetsOf(QpTransition transition) {
  switch (transition) {
    case QpTransition::kResetToInit:
      return {std::nullopt, WorkQueueState::kReady};
    case QpTransition::kReadyToReceiveToReadyToSend:
    case QpTransition::kReadyToSendToReadyToSend:
    case QpTransition::kSendQueueErrorToReadyToSend:
      return {WorkQueueState::kReady, std::nullopt};
    case QpTransition::kToError:
      return {WorkQueueState::kError, WorkQueueState::kError};
    case QpTransition::kToReset:
      return {WorkQueueState::kReset, WorkQueueState::kReset};
    default:
      return {};
  }
}

void addChange(std::vector<Sequence::Step>& steps, EthernetDriver& driver, OwnerId owner, EthernetObject kind,
               const std::optional<QpNumber>& queue, WorkQueueState& state, std::optional<WorkQueueState> wanted) {
  if (!queue || !wanted || *wanted == state) return;
  WorkQueueChange change;
  change.from = state;
  change.to = *wanted;
  steps.emplace_back([&driver, owner, kind, queue, &state, change](const Next& next) {
    driver.modifyWorkQueue(owner, kind, *queue, change, [&state, change, next](const Answer<int>& answer) {
      if (answer.ok()) state = change.to;
      next(answer.result);
    });
  });
}

}  // namespace

void createRawQueuePair(EthernetDriver& driver, OwnerId owner, const RawQueuePairAttributes& attributes,
                        Done<RawQueuePair> done) {
  const auto made = std::make_shared<Making>(Making{driver, owner, attributes, {}});
  std::vector<Sequence::Step> steps;
  if (attributes.sendQueue) addSendSteps(steps, made);
  if (attributes.receiveQueue) addReceiveSteps(steps, made);
  Sequence::run(std::move(steps), [made, done = std::move(done)](adapter::CommandResult result) {
    if (result.ok()) return done({result, made->pair});
    Sequence::run(endOf(made->driver, made->owner, made->pair),
                  [result, done](adapter::CommandResult) { done({result}); });
  });
}

void modifyRawQueuePair(EthernetDriver& driver, OwnerId owner, RawQueuePair& pair, QpTransition transition,
                        Done<int> done) {
  const Targets targets = targetsOf(transition);
  std::vector<Sequence::Step> steps;
  addChange(steps, driver, owner, EthernetObject::kReceiveQueue, pair.receiveQueue, pair.receiveState, targets.receive);
  addChange(steps, driver, owner, EthernetObject::kSendQueue, pair.sendQueue, pair.sendState, targets.send);
  Sequence::run(std::move(steps), [done = std::move(done)](adapter::CommandResult result) { done({result}); });
}

void destroyRawQueuePair(EthernetDriver& driver, OwnerId owner, const RawQueuePair& pair, Done<int> done) {
  Sequence::run(endOf(driver, owner, pair),
                [done = std::move(done)](adapter::CommandResult result) { done({result}); });
}

}  // namespace hca::driver
