// A connected queue pair between two threads, driven call by call.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tests/sim/driver/two_hosts.h"

namespace hca::test {

/// Blocking calls on a ThreadClient, for tests: each runs the simulation until the answer is there.
class BlockingThread {
 public:
  BlockingThread(TwoHosts& hosts, std::size_t host, std::size_t core = 0)
      : hosts_(hosts), host_(host), client_(hosts.addThread(host, core)) {
    EXPECT_EQ(await<driver::VerbsError>([&](auto done) { client_.open(done); }), driver::VerbsError::kNone);
    buffer_ = client_.allocate(kBuffer, 4096);
    region_ = registerBuffer(buffer_, kBuffer, kAllAccess);
    EXPECT_EQ(region_.error, driver::VerbsError::kNone);
  }

  static constexpr std::uint64_t kBuffer = 1U << 20;
  static constexpr std::uint32_t kAllAccess = 15;

  template <class Answer, class Start>
  Answer await(Start&& start) {
    return hosts_.await<Answer>(std::forward<Start>(start));
  }

  driver::MrRegistered registerBuffer(std::uint64_t address, std::uint64_t length, std::uint32_t access) {
    return await<driver::MrRegistered>([&](auto done) { client_.registerMemory(address, length, access, done); });
  }
  driver::CqCreated createCq(const driver::CqRequest& request) {
    return await<driver::CqCreated>([&](auto done) { client_.createCq(request, done); });
  }
  driver::CqCreated createCq(std::int32_t cqe, bool withChannel = true) {
    driver::CqRequest request;
    request.cqe = cqe;
    request.withChannel = withChannel;
    return createCq(request);
  }
  driver::VerbsError destroyCq(driver::CqHandle cq) {
    return await<driver::VerbsError>([&](auto done) { client_.destroyCq(cq, done); });
  }
  driver::QpCreated createQp(driver::CqHandle sends, driver::CqHandle receives, std::uint32_t depth = 64,
                             driver::QpType type = driver::QpType::kRc,
                             std::optional<driver::SrqHandle> srq = std::nullopt) {
    driver::QpRequest request;
    request.type = type;
    request.srq = srq;
    request.maxSendWr = depth;
    request.maxReceiveWr = depth;
    request.maxInline = 60;
    return await<driver::QpCreated>([&](auto done) { client_.createQp(request, sends, receives, done); });
  }
  driver::SrqCreated createSrq(std::uint32_t maxWr, std::uint32_t maxSge = 1) {
    return await<driver::SrqCreated>([&](auto done) { client_.createSrq({maxWr, maxSge}, done); });
  }
  driver::VerbsError modifySrq(driver::SrqHandle srq, std::uint32_t limit) {
    return await<driver::VerbsError>([&](auto done) { client_.modifySrq(srq, limit, done); });
  }
  driver::VerbsError destroySrq(driver::SrqHandle srq) {
    return await<driver::VerbsError>([&](auto done) { client_.destroySrq(srq, done); });
  }
  driver::PostResult postSrqReceive(driver::SrqHandle srq, std::uint64_t id, std::uint32_t length = 64) {
    driver::ReceiveWorkRequest request;
    request.workRequestId = id;
    request.scatterGather.push_back({buffer_, length, region_.localKey});
    return client_.postSrqReceive(srq, {request});
  }
  driver::VerbsError destroyQp(driver::QpHandle qp) {
    return await<driver::VerbsError>([&](auto done) { client_.destroyQp(qp, done); });
  }
  driver::VerbsError modifyToError(driver::QpHandle qp) {
    return await<driver::VerbsError>([&](auto done) { client_.modifyToError(qp, done); });
  }
  driver::VerbsError connect(driver::QpHandle qp, Lid lid, QpNumber remote,
                             const driver::ConnectionAttributes& attributes = {}) {
    driver::QpPeer peer;
    peer.lid = lid;
    peer.qp = remote;
    return await<driver::VerbsError>([&](auto done) { client_.connect(qp, peer, attributes, done); });
  }

  driver::PostResult postReceive(driver::QpHandle qp, std::uint64_t id, std::uint32_t length = 64) {
    driver::ReceiveWorkRequest request;
    request.workRequestId = id;
    request.scatterGather.push_back({buffer_, length, region_.localKey});
    return client_.postReceive(qp, {request});
  }
  /// A request that sends the buffer's first `length` bytes.
  [[nodiscard]] driver::SendWorkRequest request(driver::SendOpcode opcode, std::uint64_t id,
                                                std::uint32_t length = 64) const {
    driver::SendWorkRequest request;
    request.workRequestId = id;
    request.opcode = opcode;
    request.scatterGather.push_back({buffer_, length, region_.localKey});
    return request;
  }
  driver::PostResult post(driver::QpHandle qp, const driver::SendWorkRequest& request) {
    return client_.postSend(qp, {request});
  }
  std::vector<driver::WorkCompletion> poll(driver::CqHandle cq, std::size_t max = 1024) {
    std::vector<driver::WorkCompletion> completions;
    client_.poll(cq, max, completions);
    return completions;
  }
  /// From now on every event of the channel is taken and counted, without acknowledgement.
  void countEvents() {
    client_.waitForEvent([this](driver::CqHandle cq) {
      events_.push_back(cq);
      countEvents();
    });
  }
  [[nodiscard]] const std::vector<driver::CqHandle>& events() const { return events_; }

  [[nodiscard]] driver::ThreadClient& client() { return client_; }
  [[nodiscard]] std::uint64_t buffer() const { return buffer_; }
  [[nodiscard]] const driver::MrRegistered& region() const { return region_; }
  [[nodiscard]] TwoHosts& hosts() { return hosts_; }
  [[nodiscard]] std::size_t host() const { return host_; }

 private:
  TwoHosts& hosts_;
  std::size_t host_;
  driver::ThreadClient& client_;
  std::uint64_t buffer_ = 0;
  driver::MrRegistered region_;
  std::vector<driver::CqHandle> events_;
};

/// A queue pair from a thread of host 0 to one of host 1.
struct ConnectedPair {
  driver::QpCreated left, right;
};

inline void connectBoth(BlockingThread& left, BlockingThread& right, const ConnectedPair& pair,
                        const driver::ConnectionAttributes& attributes = {}) {
  EXPECT_EQ(pair.left.error, driver::VerbsError::kNone);
  EXPECT_EQ(pair.right.error, driver::VerbsError::kNone);
  EXPECT_EQ(right.connect(pair.right.handle, left.client().lid(), pair.left.number, attributes),
            driver::VerbsError::kNone);
  EXPECT_EQ(left.connect(pair.left.handle, right.client().lid(), pair.right.number, attributes),
            driver::VerbsError::kNone);
}

/// Connects a new queue pair; each side completes into the one queue given. The right one may receive from a shared
/// queue.
inline ConnectedPair connectPair(BlockingThread& left, driver::CqHandle leftCq, BlockingThread& right,
                                 driver::CqHandle rightCq, const driver::ConnectionAttributes& attributes = {},
                                 std::uint32_t depth = 64, driver::QpType type = driver::QpType::kRc,
                                 std::optional<driver::SrqHandle> rightSrq = std::nullopt) {
  ConnectedPair pair;
  pair.left = left.createQp(leftCq, leftCq, depth, type);
  pair.right = right.createQp(rightCq, rightCq, depth, type, rightSrq);
  connectBoth(left, right, pair, attributes);
  return pair;
}

/// The same with queue pairs as `request` says.
inline ConnectedPair connectPair(BlockingThread& left, driver::CqHandle leftCq, BlockingThread& right,
                                 driver::CqHandle rightCq, const driver::QpRequest& request) {
  const auto create = [&request](BlockingThread& thread, driver::CqHandle cq) {
    return thread.await<driver::QpCreated>([&](auto done) { thread.client().createQp(request, cq, cq, done); });
  };
  const ConnectedPair pair{create(left, leftCq), create(right, rightCq)};
  connectBoth(left, right, pair);
  return pair;
}

/// Two threads with a queue each and a queue pair between them, as most tests want it.
class VerbsPair {
 public:
  explicit VerbsPair(const std::function<void(config::Config&)>& change = {}, std::int32_t leftDepth = 255,
                     std::int32_t rightDepth = 255)
      : hosts(change),
        left(hosts, 0),
        right(hosts, 1),
        leftCq(left.createCq(leftDepth)),
        rightCq(right.createCq(rightDepth)),
        pair(connectPair(left, leftCq.handle, right, rightCq.handle)) {}

  /// Lets everything that is under way happen.
  void settle() { hosts.runFor(microseconds(50)); }
  /// One SEND of 64 bytes into a receive that is posted for it.
  void send(bool solicited = false) {
    right.postReceive(pair.right.handle, 0);
    driver::SendWorkRequest request = left.request(driver::SendOpcode::kSend, 0);
    request.solicited = solicited;
    left.post(pair.left.handle, request);
    settle();
  }
  [[nodiscard]] adapter::CqCounters counters(std::size_t host, CqNumber cq) {
    return hosts.system().host(host).adapter().hca().completion().find(cq)->counters;
  }

  TwoHosts hosts;
  BlockingThread left;
  BlockingThread right;
  driver::CqCreated leftCq;
  driver::CqCreated rightCq;
  ConnectedPair pair;
};

}  // namespace hca::test
