// Memory windows, as a program uses them.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/sim/driver/verbs_pair.h"

namespace hca::test {
namespace {

using driver::MemoryAccess;
using driver::MwAllocated;
using driver::MwBinding;
using driver::ObjectKind;
using driver::QpType;
using driver::SendOpcode;
using driver::SendWorkRequest;
using driver::VerbsError;
using driver::WcOpcode;
using driver::WcStatus;
using driver::WindowType;

constexpr std::uint32_t kRemoteWrite = 2, kRemoteRead = 4, kZeroBased = 32;
constexpr std::uint64_t kRegion = 16384;

/// The right side has a region that windows may be bound to, and a window; the left side uses it.
struct WindowPair : VerbsPair {
  explicit WindowPair(WindowType type) : address(right.client().allocate(kRegion, 4096)) {
    region = right.registerBuffer(address, kRegion, BlockingThread::kAllAccess | 16);
    window = allocate(type);
  }
  MwAllocated allocate(WindowType type) {
    return right.await<MwAllocated>([&](auto done) { right.client().allocateMw(type, done); });
  }
  /// Binds a window of type 2 by a work request of the right side.
  SendWorkRequest bindRequest(std::uint64_t at, std::uint64_t length, std::uint32_t access = kRemoteWrite) const {
    SendWorkRequest request;
    request.workRequestId = 70;
    request.opcode = SendOpcode::kBindWindow;
    request.bind.window = window.key;
    request.bind.newKey = MemoryKey(window.key.value() + 1);
    request.bind.region = region.localKey;
    request.bind.address = at;
    request.bind.length = length;
    request.bind.access = access;
    return request;
  }
  MwBinding binding(std::uint64_t at, std::uint64_t length, std::uint32_t access = kRemoteWrite) const {
    MwBinding binding;
    binding.workRequestId = 70;
    binding.region = region.handle;
    binding.address = at;
    binding.length = length;
    binding.access = access;
    return binding;
  }
  driver::WorkCompletion completionOf(BlockingThread& thread, driver::CqHandle cq) {
    settle();
    const auto completions = thread.poll(cq);
    EXPECT_EQ(completions.size(), 1U);
    return completions.empty() ? driver::WorkCompletion{} : completions[0];
  }
  driver::WorkCompletion rightCompletion() { return completionOf(right, rightCq.handle); }
  /// How a write of 64 bytes by `key` ends.
  WcStatus write(driver::QpHandle qp, MemoryKey key, std::uint64_t at) {
    SendWorkRequest request = left.request(SendOpcode::kWrite, 5);
    request.remoteAddress = at;
    request.remoteKey = key;
    left.post(qp, request);
    return completionOf(left, leftCq.handle).status;
  }
  WcStatus write(MemoryKey key, std::uint64_t at) { return write(pair.left.handle, key, at); }

  std::uint64_t address;
  driver::MrRegistered region;
  MwAllocated window;
};

TEST(MemoryWindow, Type1ServesEveryQueuePairOfItsDomain) {
  WindowPair verbs(WindowType::kType1);
  ASSERT_EQ(verbs.window.error, VerbsError::kNone);
  const ConnectedPair second = connectPair(verbs.left, verbs.leftCq.handle, verbs.right, verbs.rightCq.handle);
  ASSERT_EQ(verbs.right.client()
                .bindMw(verbs.pair.right.handle, verbs.window.handle, verbs.binding(verbs.address + 100, 4096))
                .error,
            VerbsError::kNone);
  const MemoryKey key = verbs.right.client().windowKey(verbs.window.handle);
  EXPECT_EQ(key.value(), verbs.window.key.value() + 1);
  const driver::WorkCompletion bound = verbs.rightCompletion();
  EXPECT_EQ(bound.status, WcStatus::kSuccess);
  EXPECT_EQ(bound.opcode, WcOpcode::kBindWindow);
  EXPECT_EQ(bound.workRequestId, 70U);
  std::memset(verbs.left.client().bytes(verbs.left.buffer(), 64), 0xA5, 64);
  EXPECT_EQ(verbs.write(key, verbs.address + 100), WcStatus::kSuccess);
  EXPECT_EQ(*verbs.right.client().bytes(verbs.address + 163, 1), 0xA5);
  EXPECT_EQ(*verbs.right.client().bytes(verbs.address + 164, 1), 0);
  EXPECT_EQ(verbs.write(second.left.handle, key, verbs.address + 100 + 4096 - 64), WcStatus::kSuccess);
  EXPECT_EQ(verbs.write(second.left.handle, key, verbs.address + 100 + 4096 - 63), WcStatus::kRemoteAccess);
}

TEST(MemoryWindow, Type1IsBoundAnewAndUnboundByItsNextKey) {
  WindowPair verbs(WindowType::kType1);
  driver::ThreadClient& owner = verbs.right.client();
  owner.bindMw(verbs.pair.right.handle, verbs.window.handle, verbs.binding(verbs.address, 64));
  owner.bindMw(verbs.pair.right.handle, verbs.window.handle, verbs.binding(verbs.address + 64, 64));
  verbs.settle();
  EXPECT_EQ(verbs.right.poll(verbs.rightCq.handle).size(), 2U);
  EXPECT_EQ(verbs.write(owner.windowKey(verbs.window.handle), verbs.address + 64), WcStatus::kSuccess);
  EXPECT_EQ(verbs.right.await<VerbsError>([&](auto done) { owner.deregisterMemory(verbs.region.handle, done); }),
            VerbsError::kBusy);
  owner.bindMw(verbs.pair.right.handle, verbs.window.handle, verbs.binding(0, 0));
  EXPECT_EQ(verbs.rightCompletion().status, WcStatus::kSuccess);
  EXPECT_EQ(verbs.write(owner.windowKey(verbs.window.handle), verbs.address + 64), WcStatus::kRemoteAccess);
  EXPECT_EQ(verbs.right.await<VerbsError>([&](auto done) { owner.deregisterMemory(verbs.region.handle, done); }),
            VerbsError::kNone);
  EXPECT_EQ(verbs.right.await<VerbsError>([&](auto done) { owner.deallocateMw(verbs.window.handle, done); }),
            VerbsError::kNone);
  EXPECT_EQ(verbs.right.await<VerbsError>([&](auto done) { owner.deallocateMw(verbs.window.handle, done); }),
            VerbsError::kInvalid);
}

TEST(MemoryWindow, Type2ServesTheQueuePairThatBoundItAlone) {
  WindowPair verbs(WindowType::kType2);
  const ConnectedPair second = connectPair(verbs.left, verbs.leftCq.handle, verbs.right, verbs.rightCq.handle);
  verbs.right.post(verbs.pair.right.handle, verbs.bindRequest(verbs.address, 4096, kRemoteWrite | kZeroBased));
  const driver::WorkCompletion bound = verbs.rightCompletion();
  EXPECT_EQ(bound.status, WcStatus::kSuccess);
  EXPECT_EQ(bound.opcode, WcOpcode::kBindWindow);
  const MemoryKey key(verbs.window.key.value() + 1);
  EXPECT_EQ(verbs.write(key, 128), WcStatus::kSuccess) << "its addresses start at 0";
  EXPECT_EQ(verbs.write(second.left.handle, key, 128), WcStatus::kRemoteAccess);
}

TEST(MemoryWindow, SendWithInvalidateGivesType2Back) {
  WindowPair verbs(WindowType::kType2);
  verbs.right.post(verbs.pair.right.handle, verbs.bindRequest(verbs.address, 4096));
  verbs.settle();
  verbs.right.poll(verbs.rightCq.handle);
  const MemoryKey key(verbs.window.key.value() + 1);
  EXPECT_EQ(verbs.write(key, verbs.address), WcStatus::kSuccess);
  verbs.right.postReceive(verbs.pair.right.handle, 9);
  SendWorkRequest last = verbs.left.request(SendOpcode::kSendInvalidate, 6);
  last.immediateOrKey = key.value();
  verbs.left.post(verbs.pair.left.handle, last);
  const driver::WorkCompletion received = verbs.rightCompletion();
  EXPECT_EQ(received.opcode, WcOpcode::kReceive);
  EXPECT_TRUE(received.hasInvalidatedKey);
  EXPECT_FALSE(received.hasImmediate);
  EXPECT_EQ(received.immediateOrKey, key.value());
  const driver::WorkCompletion sent = verbs.completionOf(verbs.left, verbs.leftCq.handle);
  EXPECT_EQ(sent.status, WcStatus::kSuccess);
  EXPECT_EQ(sent.opcode, WcOpcode::kSend);
  EXPECT_EQ(verbs.write(key, verbs.address), WcStatus::kRemoteAccess);
}

TEST(MemoryWindow, LocalInvalidateTakesType2BackForAnotherBind) {
  WindowPair verbs(WindowType::kType2);
  SendWorkRequest bind = verbs.bindRequest(verbs.address, 4096);
  SendWorkRequest invalidate;
  invalidate.opcode = SendOpcode::kLocalInvalidate;
  invalidate.immediateOrKey = bind.bind.newKey.value();
  verbs.right.client().postSend(verbs.pair.right.handle, {bind, invalidate});
  bind.bind.window = bind.bind.newKey;
  bind.bind.newKey = MemoryKey(bind.bind.newKey.value() + 1);
  verbs.right.post(verbs.pair.right.handle, bind);
  verbs.settle();
  const auto completions = verbs.right.poll(verbs.rightCq.handle);
  ASSERT_EQ(completions.size(), 3U);
  EXPECT_EQ(completions[1].opcode, WcOpcode::kLocalInvalidate);
  for (const auto& completion : completions) EXPECT_EQ(completion.status, WcStatus::kSuccess);
  EXPECT_EQ(verbs.write(bind.bind.newKey, verbs.address), WcStatus::kSuccess);
  EXPECT_EQ(verbs.write(MemoryKey(bind.bind.newKey.value() - 1), verbs.address), WcStatus::kRemoteAccess);
}

struct RefusedBind {
  const char* name;
  WcStatus status;  // of the completion; kSuccess: the library refuses
  void (*change)(WindowPair&, SendWorkRequest&);
};
class RefusedBinds : public testing::TestWithParam<RefusedBind> {};

TEST_P(RefusedBinds, EndWithTheirStatusOrAreNotPosted) {
  WindowPair verbs(WindowType::kType2);
  SendWorkRequest request = verbs.bindRequest(verbs.address, 4096);
  GetParam().change(verbs, request);
  verbs.right.postReceive(verbs.pair.right.handle, 1);
  const driver::PostResult posted = verbs.right.post(verbs.pair.right.handle, request);
  EXPECT_EQ(posted.error == VerbsError::kNone, GetParam().status != WcStatus::kSuccess);
  if (posted.error != VerbsError::kNone) return;
  verbs.settle();
  const auto completions = verbs.right.poll(verbs.rightCq.handle);
  ASSERT_EQ(completions.size(), 2U);
  EXPECT_EQ(completions[0].status, GetParam().status);
  EXPECT_EQ(completions[1].status, WcStatus::kFlushed) << "the queue pair is in error";
}

INSTANTIATE_TEST_SUITE_P(
    MemoryWindow, RefusedBinds,
    testing::Values(RefusedBind{"OutsideTheRegion", WcStatus::kWindowBind,
                                [](WindowPair& v, SendWorkRequest& r) { r.bind.address = v.address + kRegion - 4095; }},
                    RefusedBind{"UnknownRegion", WcStatus::kWindowBind,
                                [](WindowPair&, SendWorkRequest& r) { r.bind.region = MemoryKey(0xABCD00); }},
                    RefusedBind{"UnknownWindow", WcStatus::kWindowBind,
                                [](WindowPair&, SendWorkRequest& r) { r.bind.window = MemoryKey(0xABCD00); }},
                    RefusedBind{"WriteToWhatIsReadOnly", WcStatus::kWindowBind,
                                [](WindowPair& v, SendWorkRequest& r) {
                                  r.bind.region = v.right.registerBuffer(v.address, kRegion, kRemoteRead | 16).localKey;
                                }},
                    RefusedBind{"InvalidationOfNothing", WcStatus::kWindowBind,
                                [](WindowPair& v, SendWorkRequest& r) {
                                  r.opcode = SendOpcode::kLocalInvalidate;
                                  r.immediateOrKey = v.window.key.value();
                                }},
                    RefusedBind{"RegionWithoutTheRight", WcStatus::kSuccess,
                                [](WindowPair& v, SendWorkRequest& r) { r.bind.region = v.right.region().localKey; }},
                    RefusedBind{"LocalRight", WcStatus::kSuccess,
                                [](WindowPair&, SendWorkRequest& r) { r.bind.access |= 1; }},
                    RefusedBind{"TooLong", WcStatus::kSuccess,
                                [](WindowPair&, SendWorkRequest& r) { r.bind.length = (std::uint64_t{1} << 31) + 1; }}),
    [](const auto& each) { return each.param.name; });

TEST(MemoryWindow, ProgramThatEndsLeavesNeitherWindowsNorRegions) {
  WindowPair verbs(WindowType::kType2);
  verbs.right.post(verbs.pair.right.handle, verbs.bindRequest(verbs.address, 4096));
  verbs.settle();
  driver::KernelDriver& kernel = verbs.hosts.driver(1);
  EXPECT_EQ(kernel.objects(ObjectKind::kMemoryWindow), 1U);
  kernel.releaseOwner(verbs.right.client().owner(), [] {});
  verbs.settle();
  verbs.hosts.runFor(microseconds(1000));
  EXPECT_EQ(kernel.objects(ObjectKind::kMemoryWindow), 0U);
  EXPECT_EQ(kernel.objects(ObjectKind::kMemoryKey), 0U);
  EXPECT_EQ(verbs.hosts.system().host(1).adapter().hca().memoryKeys().size(), 0U);
}

}  // namespace
}  // namespace hca::test
