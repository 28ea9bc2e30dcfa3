// Raw packets through the driver role.
#include <gtest/gtest.h>

#include "sim/driver/raw_queue_pair.h"
#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using adapter::QpTransition;
using driver::Answer;
using driver::EthernetObject;
using driver::ObjectKind;
using driver::RawQueuePair;
using wire::WorkQueueState;

class Listener final : public driver::DriverClient {
 public:
  void onCompletionEvent(CqNumber, host::Core&) override {}
  void onAsyncEvent(std::uint8_t, std::uint8_t, std::uint32_t, std::uint8_t) override {}
};

void makeRoce(config::Config& config) { config.link.layer = network::LinkLayer::kRoceV2; }

class RawPacketDriver : public testing::Test {
 protected:
  RawPacketDriver()
      : owner(driver().addClient(listener, "raw")),
        memory(hosts.system().host(0).adapter().environment().space, "raw") {
    EXPECT_EQ(hosts.problem(), "");
    domain = take<adapter::TransportDomainNumber>(
        [&](auto done) { driver().ethernet()->allocateTransportDomain(owner, done); });
    queue.pd = take<PdNumber>([&](auto done) { driver().allocatePd(owner, done); });
    queue.uar = take<UarIndex>([&](auto done) { driver().allocateUar(owner, done); });
    const driver::DmaBuffer ring = memory.allocate(4096), record = memory.allocate(64);
    adapter::CqAttributes cq;
    cq.logSize = 4;
    cq.uar = queue.uar;
    cq.ring.pages = {ring.bus};
    cq.doorbellRecord = record.bus;
    queue.sendCq = queue.receiveCq = take<CqNumber>([&](auto done) { driver().createCq(owner, cq, 0, done); });
    queue.logSendQueueSize = queue.logReceiveQueueSize = 4;
    queue.logReceiveStride = 4;
    queue.buffer.pages = {memory.allocate(4096).bus};
    queue.doorbellRecord = record.bus;
  }
  driver::KernelDriver& driver() { return hosts.driver(0); }
  template <class Value, class Start>
  Answer<Value> ask(Start&& start) {
    return hosts.await<Answer<Value>>(std::forward<Start>(start));
  }
  template <class Value, class Start>
  Value take(Start&& start) {
    const Answer<Value> answer = ask<Value>(std::forward<Start>(start));
    EXPECT_TRUE(answer.ok());
    return answer.value;
  }
  RawQueuePair createPair() {
    driver::RawQueuePairAttributes wanted;
    wanted.domain = domain;
    wanted.sendQueue = wanted.receiveQueue = queue;
    return take<RawQueuePair>(
        [&](auto done) { driver::createRawQueuePair(*driver().ethernet(), owner, wanted, done); });
  }
  bool modify(RawQueuePair& pair, QpTransition transition) {
    return ask<int>([&](auto done) { driver::modifyRawQueuePair(*driver().ethernet(), owner, pair, transition, done); })
        .ok();
  }
  WorkQueueState stateOf(EthernetObject kind, QpNumber number) {
    return take<WorkQueueState>([&](auto done) { driver().ethernet()->queryWorkQueue(owner, kind, number, done); });
  }
  Answer<std::uint32_t> createFlow(std::uint32_t receiver, std::uint32_t priority, bool continues = false) {
    driver::FlowAttributes flow;
    flow.priority = priority;
    flow.receivers = {receiver};
    flow.continues = continues;
    return ask<std::uint32_t>([&](auto done) { driver().ethernet()->createFlow(owner, flow, done); });
  }
  Answer<int> destroy(EthernetObject kind, std::uint32_t number) {
    return ask<int>([&](auto done) { driver().ethernet()->destroyEthernet(owner, kind, number, done); });
  }

  TwoHosts hosts{makeRoce};
  Listener listener;
  OwnerId owner;
  driver::DmaMemory memory;
  adapter::TransportDomainNumber domain;
  adapter::QpAttributes queue;
};

TEST_F(RawPacketDriver, KnowsWhatTheAdapterOffers) {
  const driver::RawPacketCapabilities& offered = driver().capabilities().ethernet;
  EXPECT_TRUE(offered.offered && offered.checksums && offered.vlanStrip && offered.scatterFcs);
  EXPECT_EQ(offered.logMaxSpread, 9u);
}

TEST_F(RawPacketDriver, StatesAreThoseOfTheStockDriver) {
  RawQueuePair pair = createPair();
  EXPECT_EQ(pair.number(), *pair.sendQueue);
  const auto sends = [&] { return stateOf(EthernetObject::kSendQueue, *pair.sendQueue); };
  const auto receives = [&] { return stateOf(EthernetObject::kReceiveQueue, *pair.receiveQueue); };
  ASSERT_TRUE(modify(pair, QpTransition::kResetToInit));
  EXPECT_EQ(sends(), WorkQueueState::kReset);
  EXPECT_EQ(receives(), WorkQueueState::kReady);
  ASSERT_TRUE(modify(pair, QpTransition::kInitToReadyToReceive));
  EXPECT_EQ(sends(), WorkQueueState::kReset);
  ASSERT_TRUE(modify(pair, QpTransition::kReadyToReceiveToReadyToSend));
  EXPECT_EQ(sends(), WorkQueueState::kReady);
  ASSERT_TRUE(modify(pair, QpTransition::kToError));
  EXPECT_EQ(sends(), WorkQueueState::kError);
  EXPECT_EQ(receives(), WorkQueueState::kError);
  ASSERT_TRUE(modify(pair, QpTransition::kToReset));
  EXPECT_EQ(receives(), WorkQueueState::kReset);
}

TEST_F(RawPacketDriver, AFailureLeavesNothing) {
  driver::RawQueuePairAttributes wanted;
  wanted.domain = domain;
  wanted.sendQueue = wanted.receiveQueue = queue;
  wanted.receiveQueue->receiveCq = CqNumber(0x999);
  EXPECT_FALSE(ask<RawQueuePair>([&](auto done) {
                 driver::createRawQueuePair(*driver().ethernet(), owner, wanted, done);
               }).ok());
  for (const ObjectKind kind : {ObjectKind::kSendQueue, ObjectKind::kReceiveQueue, ObjectKind::kSendInterface}) {
    EXPECT_EQ(driver().objects(kind), 0u);
  }
}

TEST_F(RawPacketDriver, RulesKeepTheirQueuePair) {
  const RawQueuePair pair = createPair();
  const std::uint32_t first = createFlow(pair.receiver, 0).value;
  const std::uint32_t second = createFlow(pair.receiver, 0, true).value;
  const std::uint32_t third = createFlow(pair.receiver, 5).value;
  EXPECT_EQ(driver().objects(ObjectKind::kFlow), 3u);
  const auto destroyPair = [&] {
    return ask<int>([&](auto done) { driver::destroyRawQueuePair(*driver().ethernet(), owner, pair, done); });
  };
  EXPECT_EQ(destroyPair().result.status, adapter::CommandStatus::kResourceBusy);
  for (const std::uint32_t flow : {second, first, third}) EXPECT_TRUE(destroy(EthernetObject::kFlow, flow).ok());
  EXPECT_FALSE(destroy(EthernetObject::kFlow, first).ok());
  EXPECT_TRUE(destroyPair().ok());
  EXPECT_EQ(driver().objects(ObjectKind::kReceiver), 0u);
}

TEST_F(RawPacketDriver, RulesThatMatchTheSameAreOneEntry) {
  const RawQueuePair one = createPair(), other = createPair();
  const std::uint32_t first = createFlow(one.receiver, 0).value, second = createFlow(other.receiver, 0).value;
  EXPECT_NE(first, second);
  EXPECT_TRUE(destroy(EthernetObject::kFlow, first).ok());
  EXPECT_TRUE(destroy(EthernetObject::kReceiver, one.receiver).ok()) << "nothing leads to it any more";
  EXPECT_EQ(destroy(EthernetObject::kReceiver, other.receiver).result.status, adapter::CommandStatus::kResourceBusy);
  driver::FlowAttributes flow;
  flow.receivers = {other.receiver};
  flow.flowTag = 1;
  const auto conflict = ask<std::uint32_t>([&](auto done) { driver().ethernet()->createFlow(owner, flow, done); });
  EXPECT_EQ(conflict.result.syndrome, adapter::Syndrome::kFlowConflict);
  EXPECT_TRUE(destroy(EthernetObject::kFlow, second).ok());
  EXPECT_TRUE(destroy(EthernetObject::kReceiver, other.receiver).ok());
}

TEST_F(RawPacketDriver, ObjectsOfOthersAreNobodysBusiness) {
  const RawQueuePair pair = createPair();
  Listener stranger;
  const OwnerId own = owner;
  owner = driver().addClient(stranger, "stranger");
  EXPECT_FALSE(createFlow(pair.receiver, 0).ok());
  EXPECT_FALSE(destroy(EthernetObject::kReceiveQueue, pair.receiveQueue->value()).ok());
  const auto spread = [&] {
    return ask<std::uint32_t>([&](auto done) { driver().ethernet()->createSpread(owner, {*pair.receiveQueue}, done); });
  };
  EXPECT_FALSE(spread().ok());
  owner = own;
  EXPECT_TRUE(spread().ok());
}

TEST_F(RawPacketDriver, AClientThatLeavesTakesItsObjectsAlong) {
  const RawQueuePair pair = createPair();
  EXPECT_TRUE(createFlow(pair.receiver, 3, true).ok());
  const std::uint32_t spread =
      take<std::uint32_t>([&](auto done) { driver().ethernet()->createSpread(owner, {*pair.receiveQueue}, done); });
  driver::ReceiverAttributes receiver;
  receiver.spread = spread;
  receiver.domain = domain;
  EXPECT_TRUE(
      createFlow(take<std::uint32_t>([&](auto done) { driver().ethernet()->createReceiver(owner, receiver, done); }), 4)
          .ok());
  hosts.await<bool>([&](auto done) { driver().releaseOwner(owner, [done] { done(true); }); });
  for (auto kind = 0U; kind < static_cast<unsigned>(ObjectKind::kCount); ++kind) {
    EXPECT_EQ(driver().objects(static_cast<ObjectKind>(kind)), 0u) << kind;
  }
  EXPECT_TRUE(hosts.await<adapter::CommandResult>([&](auto done) { driver().stop(done); }).ok())
      << "with its flow tables";
  EXPECT_EQ(driver().pagesGiven(), 0u);
}

TEST(RawPacketDriverOfInfiniBand, HasNone) {
  TwoHosts hosts;
  EXPECT_EQ(hosts.driver(0).ethernet(), nullptr);
}

}  // namespace
}  // namespace hca::test
