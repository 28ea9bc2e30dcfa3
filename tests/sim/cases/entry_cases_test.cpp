// What users of verbs and of simulators have met, about the entries themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "models/wire/describe.h"
#include "tests/sim/cases/case_helpers.h"

namespace hca::test {
namespace {

using driver::CqRequest;
using driver::SendOpcode;
using driver::SendWorkRequest;
using driver::VerbsError;
using driver::WcStatus;
using driver::WorkCompletion;

// Completions and bytes of one kind of entries.
std::vector<std::uint8_t> transcript(const CqRequest& entries, bool scatterToCqe) {
  TwoHosts hosts;
  BlockingThread left(hosts, 0), right(hosts, 1);
  CqRequest request = entries;
  request.cqe = 100;
  const driver::CqCreated leftCq = left.createCq(request), rightCq = right.createCq(request);
  driver::QpRequest pairRequest;
  pairRequest.maxSendWr = pairRequest.maxReceiveWr = 16;
  pairRequest.scatterToCqe = scatterToCqe;
  const ConnectedPair pair = connectPair(left, leftCq.handle, right, rightCq.handle, pairRequest);
  std::vector<std::uint8_t> result;
  const auto take = [&](BlockingThread& thread, driver::CqHandle cq, std::uint32_t length) {
    for (const WorkCompletion& completion : thread.poll(cq)) {
      for (const std::uint64_t word : {completion.workRequestId, std::uint64_t(completion.status),
                                       std::uint64_t(completion.opcode), std::uint64_t(completion.byteLength)}) {
        result.push_back(static_cast<std::uint8_t>(word));
      }
    }
    const std::uint8_t* bytes = thread.client().bytes(thread.buffer(), length);
    result.insert(result.end(), bytes, bytes + length);
  };
  const std::uint8_t sizes[] = {16, 32, 33, 64, 65};
  for (const std::uint8_t size : sizes) {
    std::memset(right.client().bytes(right.buffer(), size), size, size);
    left.post(pair.left.handle, remote(right, left.request(SendOpcode::kRead, size, size)));
    hosts.runFor(microseconds(50));
    take(left, leftCq.handle, size);
    std::memset(left.client().bytes(left.buffer(), size), size + 1, size);
    right.postReceive(pair.right.handle, size, 100);
    left.post(pair.left.handle, left.request(SendOpcode::kSend, size, size));
    hosts.runFor(microseconds(50));
    take(left, leftCq.handle, size);
    take(right, rightCq.handle, size);
  }
  SendWorkRequest wrong = remote(right, left.request(SendOpcode::kRead, 99));
  wrong.remoteKey = badKey(right);
  left.post(pair.left.handle, wrong);
  hosts.runFor(microseconds(50));
  take(left, leftCq.handle, 64);
  return result;
}

// One system a process: the transcript of the narrow entries is written out.
std::vector<std::uint8_t> expectedTranscript() {
  std::vector<std::uint8_t> expected;
  for (const std::uint8_t size : {16, 32, 33, 64, 65}) {
    const auto add = [&](driver::WcOpcode opcode, std::uint8_t length, std::uint8_t content) {
      expected.insert(expected.end(), {size, 0, static_cast<std::uint8_t>(opcode), length});
      expected.insert(expected.end(), size, content);
    };
    add(driver::WcOpcode::kRead, size, size);
    add(driver::WcOpcode::kSend, 0, static_cast<std::uint8_t>(size + 1));
    add(driver::WcOpcode::kReceive, size, static_cast<std::uint8_t>(size + 1));
  }
  expected.insert(expected.end(), {99, static_cast<std::uint8_t>(WcStatus::kRemoteAccess), 0, 0});
  expected.insert(expected.end(), 64, 66);
  return expected;
}

CqRequest entriesOf(std::uint32_t bytes, bool padded = false) {
  CqRequest request;
  request.cqe_size = bytes;
  request.padded = padded;
  return request;
}

// Two reads, of 32 and of 33 bytes, and one that fails, as the ring has them.
TEST(Cases, C28_WideEntriesHaveTheDescriptorInTheUpperHalf) {
  TwoHosts hosts;
  BlockingThread left(hosts, 0), right(hosts, 1);
  CqRequest request = entriesOf(128);
  request.cqe = 100;
  const driver::CqCreated leftCq = left.createCq(request), rightCq = right.createCq(request);
  driver::QpRequest pairRequest;
  pairRequest.maxSendWr = pairRequest.maxReceiveWr = 16;
  pairRequest.scatterToCqe = true;
  const ConnectedPair pair = connectPair(left, leftCq.handle, right, rightCq.handle, pairRequest);
  std::memset(right.client().bytes(right.buffer(), 64), 0xA5, 64);
  for (const std::uint32_t size : {32U, 33U, 64U}) {
    SendWorkRequest read = remote(right, left.request(SendOpcode::kRead, size, size));
    if (size == 64) read.remoteKey = badKey(right);
    left.post(pair.left.handle, read);
  }
  hosts.runFor(microseconds(50));
  const auto& queue = *hosts.system().host(0).adapter().hca().completion().find(leftCq.number);
  std::uint8_t ring[3 * 128];
  ASSERT_EQ(hosts.system().host(0).memory().read(queue.attributes.ring.address(0), {ring, sizeof ring}),
            host::DmaStatus::kOk);
  const auto count = [&ring](std::size_t from, std::size_t to) { return std::count(ring + from, ring + to, 0xA5); };
  EXPECT_EQ(ring[127] & 0x0C, 0x04) << "32 bytes at the start of the descriptor";
  EXPECT_EQ(count(0, 64), 0);
  EXPECT_EQ(count(64, 96), 32);
  EXPECT_EQ(ring[128 + 127] & 0x0C, 0x08) << "more: in the lower half";
  EXPECT_EQ(count(128, 128 + 33), 33);
  EXPECT_EQ(count(128 + 64, 256), 0);
  const wire::Cqe error = structFrom<wire::Cqe>({ring + 256 + 64, 64});
  EXPECT_EQ(wire::OpOwn::Opcode::get(error.opOwn), wire::CqeOpcode::kRequesterError);
  EXPECT_NE(wire::describe(error).find("syndrome"), std::string::npos) << wire::describe(error);
  EXPECT_EQ(structFrom<wire::ErrorCqe>(bytesOf(error)).syndrome, 0x13) << "what a dump of the upper half shows";
  EXPECT_EQ(ring[256 + 63], 0) << "nothing was written to the lower half";
}

TEST(Cases, C28_NarrowEntriesTellAndBringBytes) { EXPECT_EQ(transcript(entriesOf(64), false), expectedTranscript()); }
TEST(Cases, C28_WideEntriesTellTheSameAndBringTheSameBytes) {
  EXPECT_EQ(transcript(entriesOf(128), false), expectedTranscript());
}
TEST(Cases, C28_PaddedEntriesTellTheSameAndBringTheSameBytes) {
  EXPECT_EQ(transcript(entriesOf(128, true), false), expectedTranscript());
}
TEST(Cases, C28_DataInNarrowEntriesAreTheSameBytes) {
  EXPECT_EQ(transcript(entriesOf(64), true), expectedTranscript());
}
TEST(Cases, C28_DataInWideEntriesAreTheSameBytes) { EXPECT_EQ(transcript(entriesOf(128), true), expectedTranscript()); }
TEST(Cases, C28_DataInPaddedEntriesAreTheSameBytes) {
  EXPECT_EQ(transcript(entriesOf(128, true), true), expectedTranscript());
}

}  // namespace
}  // namespace hca::test
