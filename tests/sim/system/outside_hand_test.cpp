// What the configuration lets happen to ports and adapters from outside, through the driver.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "models/wire/eqe.h"
#include "sim/system/system.h"

namespace hca::sim {
namespace {

config::Config plainHosts() {
  config::Config config;
  config.host.count = 2;
  config.hosts.resize(2);
  return config;
}

/// A program that writes down what it is told, and when.
struct Listener final : driver::DriverClient {
  explicit Listener(System& on, std::size_t host = 0)
      : system(on), driver(on.host(host).adapter().driver()), owner(driver.addClient(*this, "listener")) {}
  void onCompletionEvent(CqNumber, host::Core&) override {}
  void onAsyncEvent(std::uint8_t type, std::uint8_t subType, std::uint32_t object, std::uint8_t) override {
    types.push_back(type);
    subTypes.push_back(subType);
    objects.push_back(object);
    if (look) look();
  }
  System& system;
  driver::KernelDriver& driver;
  OwnerId owner;
  std::vector<unsigned> types, subTypes;
  std::vector<std::uint32_t> objects;
  std::function<void()> look;  // from within an event
};

void runTo(System& system, Time when) { system.run(when); }

TEST(OutsideHand, ACablePulledAndPluggedInIsToldAtBothEnds) {
  config::Config config = plainHosts();
  config.hosts[1].port.downAt = milliseconds(20);
  config.hosts[1].port.upAt = milliseconds(30);
  System system(config);
  ASSERT_EQ(system.bringUp(), "");
  Listener left(system, 0), right(system, 1);
  runTo(system, milliseconds(20) - Time(1));
  EXPECT_TRUE(left.types.empty());
  runTo(system, milliseconds(21));
  EXPECT_FALSE(left.driver.capabilities().port(1).active);
  runTo(system, milliseconds(31));
  for (const Listener* each : {&left, &right}) {
    EXPECT_EQ(each->types, (std::vector<unsigned>{9, 9}));
    EXPECT_EQ(each->subTypes, (std::vector<unsigned>{1, 4}));
    EXPECT_EQ(each->objects, (std::vector<std::uint32_t>{1, 1}));
    EXPECT_TRUE(each->driver.capabilities().port(1).active);
  }
}

TEST(OutsideHand, WhatASubnetManagerChangesIsKnownWhenClientsAreTold) {
  config::Config config = plainHosts();
  config.fabricSwitch.always = true;
  adapter::PortConfig& port = config.hosts[0].port;
  port.lidAt = milliseconds(20);
  port.newLid = 0x40;
  port.partitionKeysAt = milliseconds(30);
  port.newPartitionKeys = "0xffff, 0x8001";
  port.guidAt = milliseconds(40);
  port.newGuid = "0x0200c0ffee000001";
  port.reregisterAt = milliseconds(50);
  System system(config);
  ASSERT_EQ(system.bringUp(), "");
  Listener listener(system), other(system, 1);
  std::vector<Lid> lids;
  std::vector<std::size_t> keys;
  std::vector<std::uint64_t> guids;
  listener.look = [&] {
    const driver::DevicePort& now = listener.driver.capabilities().port(1);
    lids.push_back(now.lid);
    keys.push_back(now.partitionKeys.size());
    guids.push_back(now.guid);
  };
  const std::uint64_t guid = listener.driver.capabilities().port(1).guid;
  runTo(system, milliseconds(60));
  EXPECT_EQ(listener.subTypes, (std::vector<unsigned>{6, 7, 8, 9}));
  EXPECT_EQ(lids, (std::vector<Lid>(4, Lid(0x40))));
  EXPECT_EQ(keys, (std::vector<std::size_t>{0, 128, 128, 128}));
  EXPECT_EQ(guids, (std::vector<std::uint64_t>{guid, guid, 0x0200C0FFEE000001, 0x0200C0FFEE000001}));
  EXPECT_EQ(listener.driver.capabilities().port(1).partitionKeys[1], 0x8001);
  EXPECT_EQ(listener.driver.capabilities().port(1).gids[0][15], 1);
  EXPECT_TRUE(other.types.empty()) << "the other adapter's ports stayed as they were";
}

TEST(OutsideHand, PacketsForTheNewLidArriveAndThoseForTheOldOneDoNot) {
  config::Config config = plainHosts();
  config.fabricSwitch.always = true;
  System system(config);
  ASSERT_EQ(system.bringUp(), "");
  system.cabling().changeLid(1, 1, Lid(0x40));
  network::Link& link = system.cabling().plug(0, 1).link;
  network::Packet packet;
  for (const Lid lid : {Lid(2), Lid(0x40)}) {
    packet.route.destinationLid = lid;
    link.sender(0).transmit(packet.clone());
  }
  system.run(system.calendar().now() + milliseconds(1));
  EXPECT_EQ(system.cabling().switchPort(0).droppedDestination, 1U);
  EXPECT_EQ(system.host(1).adapter().hca().dispatcher().drops().unknownQp, 1U) << "there is no queue pair, but it came";
}

TEST(OutsideHand, ADeviceThatFailsTellsEveryClientAndAnswersNothingAnyMore) {
  config::Config config = plainHosts();
  config.hosts[0].adapter.device.fatalAt = milliseconds(20);
  config.hosts[0].adapter.device.fatalSyndrome = 8;
  System system(config);
  ASSERT_EQ(system.bringUp(), "");
  Listener one(system), two(system), other(system, 1);
  PdNumber domain;
  one.driver.allocatePd(one.owner, [&](const driver::Answer<PdNumber>& answer) { domain = answer.value; });
  runTo(system, milliseconds(19));
  EXPECT_FALSE(one.driver.hasFailed());
  runTo(system, milliseconds(21));
  EXPECT_TRUE(one.driver.hasFailed());
  EXPECT_EQ(one.types, std::vector<unsigned>{8});
  EXPECT_EQ(two.types, std::vector<unsigned>{8});
  EXPECT_TRUE(other.types.empty());
  std::vector<adapter::CommandStatus> answers;
  one.driver.allocatePd(one.owner,
                        [&](const driver::Answer<PdNumber>& answer) { answers.push_back(answer.result.status); });
  one.driver.deallocatePd(one.owner, domain,
                          [&](const driver::Answer<int>& answer) { answers.push_back(answer.result.status); });
  EXPECT_EQ(answers, (std::vector{adapter::CommandStatus::kInternalError, adapter::CommandStatus::kOk}));
}

}  // namespace
}  // namespace hca::sim
