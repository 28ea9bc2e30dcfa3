// Multicast, and a queue pair's own adapter as its peer, as a program uses them.
#include <gtest/gtest.h>

#include <cstring>

#include "models/network/fabric_identity.h"
#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using driver::QpType;
using driver::SendOpcode;
using driver::SendWorkRequest;
using driver::VerbsError;

network::Gid groupOf(std::uint8_t last) {
  network::Gid group{0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF};
  group[15] = last;
  return group;
}

/// A thread with a datagram queue pair.
struct Member {
  Member(TwoHosts& hosts, std::size_t host, std::size_t core = 0)
      : thread(hosts, host, core), cq(thread.createCq(64)), qp(thread.createQp(cq.handle, cq.handle, 16, QpType::kUd)) {
    EXPECT_EQ(thread.connect(qp.handle, Lid(0), QpNumber(0)), VerbsError::kNone);
    EXPECT_EQ(thread.postReceive(qp.handle, 9, 104).error, VerbsError::kNone);
  }
  VerbsError attach(const network::Gid& group) {
    return thread.await<VerbsError>([&](auto done) { thread.client().attachMulticast(qp.handle, group, done); });
  }
  VerbsError detach(const network::Gid& group) {
    return thread.await<VerbsError>([&](auto done) { thread.client().detachMulticast(qp.handle, group, done); });
  }
  void send(const network::Gid& group) {
    SendWorkRequest request = thread.request(SendOpcode::kSend, 1);
    request.datagram.address.lid = network::multicastLid(group);
    request.datagram.address.globalRoute = true;
    request.datagram.address.remoteGid = group;
    request.datagram.address.remoteMac = network::macOf(group);
    request.datagram.qp = QpNumber(0xFFFFFF);
    request.datagram.queueKey = driver::ConnectionAttributes{}.queueKey;
    EXPECT_EQ(thread.post(qp.handle, request).error, VerbsError::kNone);
    thread.hosts().runFor(microseconds(50));
  }
  /// Completions of receives.
  std::size_t received() {
    std::size_t count = 0;
    for (const auto& completion : thread.poll(cq.handle)) {
      if (completion.opcode != driver::WcOpcode::kReceive) continue;
      EXPECT_TRUE(completion.hasGlobalRoute);
      EXPECT_EQ(completion.byteLength, 104U);
      ++count;
    }
    return count;
  }

  BlockingThread thread;
  driver::CqCreated cq;
  driver::QpCreated qp;
};

class MulticastLayers : public testing::TestWithParam<network::LinkLayer> {};

TEST_P(MulticastLayers, ReachesMembersOnEveryHostAndNobodyElse) {
  TwoHosts hosts([](config::Config& config) {
    config.host.count = 3;
    config.link.layer = GetParam();
  });
  ASSERT_EQ(hosts.problem(), "");
  Member sender(hosts, 0), first(hosts, 1), second(hosts, 1, 1), far(hosts, 2), stranger(hosts, 2, 1);
  for (Member* member : {&first, &second, &far}) EXPECT_EQ(member->attach(groupOf(7)), VerbsError::kNone);
  EXPECT_EQ(stranger.attach(groupOf(8)), VerbsError::kNone);
  sender.send(groupOf(7));
  EXPECT_EQ(first.received(), 1U);
  EXPECT_EQ(second.received(), 1U);
  EXPECT_EQ(far.received(), 1U);
  EXPECT_EQ(stranger.received(), 0U);
  EXPECT_EQ(sender.received(), 0U);
  EXPECT_EQ(first.detach(groupOf(7)), VerbsError::kNone);
  first.thread.postReceive(first.qp.handle, 1, 104);
  sender.send(groupOf(7));
  EXPECT_EQ(first.received(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Multicast, MulticastLayers,
                         testing::Values(network::LinkLayer::kInfiniBand, network::LinkLayer::kRoceV2),
                         [](const auto& each) {
                           return each.param == network::LinkLayer::kInfiniBand ? "InfiniBand" : "RoceV2";
                         });

TEST(Multicast, AttachedQueuePairCantBeDestroyed) {
  TwoHosts hosts;
  Member member(hosts, 0);
  EXPECT_EQ(member.attach(groupOf(1)), VerbsError::kNone);
  EXPECT_EQ(member.attach(groupOf(1)), VerbsError::kNone) << "a member is one once";
  EXPECT_EQ(member.thread.destroyQp(member.qp.handle), VerbsError::kBusy);
  EXPECT_EQ(member.detach(groupOf(2)), VerbsError::kInvalid);
  EXPECT_EQ(member.detach(groupOf(1)), VerbsError::kNone);
  EXPECT_EQ(member.thread.destroyQp(member.qp.handle), VerbsError::kNone);
}

TEST(Multicast, IsRefusedToOthersThanDatagramQueuePairsAndGroups) {
  VerbsPair verbs;
  driver::ThreadClient& client = verbs.left.client();
  const auto attach = [&](driver::QpHandle qp, const network::Gid& group) {
    return verbs.left.await<VerbsError>([&](auto done) { client.attachMulticast(qp, group, done); });
  };
  EXPECT_EQ(attach(verbs.pair.left.handle, groupOf(1)), VerbsError::kInvalid);
  EXPECT_EQ(attach(driver::QpHandle(77), groupOf(1)), VerbsError::kInvalid);
  const driver::QpCreated datagrams = verbs.left.createQp(verbs.leftCq.handle, verbs.leftCq.handle, 16, QpType::kUd);
  EXPECT_EQ(attach(datagrams.handle, network::Gid{0xFE, 0x80}), VerbsError::kInvalid);
}

TEST(OwnAdapter, TwoThreadsOfAHostAreConnectedWithoutTheLink) {
  TwoHosts hosts;
  BlockingThread left(hosts, 0), right(hosts, 0, 1);
  const driver::CqCreated leftCq = left.createCq(64), rightCq = right.createCq(64);
  const ConnectedPair pair = connectPair(left, leftCq.handle, right, rightCq.handle);
  right.postReceive(pair.right.handle, 3);
  std::memset(left.client().bytes(left.buffer(), 64), 0x5C, 64);
  left.post(pair.left.handle, left.request(SendOpcode::kSend, 1));
  hosts.runFor(microseconds(50));
  ASSERT_EQ(left.poll(leftCq.handle).size(), 1U);
  const auto received = right.poll(rightCq.handle);
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].workRequestId, 3U);
  EXPECT_EQ(*right.client().bytes(right.buffer() + 63, 1), 0x5C);
  EXPECT_EQ(hosts.system().cabling().sent(0).packets, 0U);
  EXPECT_EQ(hosts.system().host(0).adapter().hca().loopback().packets(), 2U) << "message and acknowledgement";
}

}  // namespace
}  // namespace hca::test
