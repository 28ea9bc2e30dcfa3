#include "sim/observers/completion_recorder.h"

#include <gtest/gtest.h>

#include <sstream>

#include "sim/driver/verbs_types.h"
#include "tests/sim/observers/probe_events.h"

namespace hca::observers {
namespace {

constexpr const char* kHeader = "time_ns,flow,host,cqn,qpn,wr_id,opcode,status,bytes,posted_ns,latency_ns\n";

class CompletionRecorderTest : public testing::Test {
 protected:
  /// Of a request of host 0 and queue pair 65, as fireStage names them.
  void complete(std::int64_t ns, observe::WorkQueue queue, std::uint64_t index) {
    probes.completion.fire([&] {
      return observe::CompletionEvent{nanoseconds(ns),
                                      {HostIndex(0), kAdapter, QpNumber(65), queue, index},
                                      kCq,
                                      100 + index,
                                      static_cast<std::uint8_t>(driver::WcOpcode::kWrite),
                                      static_cast<std::uint8_t>(driver::WcStatus::kSuccess),
                                      64,
                                      QpNumber(65)};
    });
  }
  observe::Probes probes;
  std::ostringstream stream;
  CompletionRecorder recorder{probes, stream};
};

TEST_F(CompletionRecorderTest, TellsWhenTheRequestWasPosted) {
  recorder.describe(HostIndex(0), AdapterIndex(0), QpNumber(65), "flow");
  fireStage(probes, observe::Stage::kPosted, 1000, 0);
  fireStage(probes, observe::Stage::kPosted, 1500, 1);
  complete(2500, observe::WorkQueue::kSend, 1);
  EXPECT_EQ(stream.str(),
            std::string(kHeader) + "2500.000,flow,0,129,65,101,RDMA_WRITE,SUCCESS,64,1500.000,1000.000\n");
}

TEST_F(CompletionRecorderTest, AReceiveOrAnUnknownPostHasNone) {
  fireStage(probes, observe::Stage::kDoorbellArrived, 1000, 0);
  complete(2000, observe::WorkQueue::kSend, 0);
  fireStage(probes, observe::Stage::kPosted, 2500, 1);
  complete(3000, observe::WorkQueue::kReceive, 1);
  EXPECT_EQ(stream.str(), std::string(kHeader) + "2000.000,,0,129,65,100,RDMA_WRITE,SUCCESS,64,,\n" +
                              "3000.000,,0,129,65,101,RDMA_WRITE,SUCCESS,64,,\n");
}

// A queue pair that signals every second request: what was unsignaled is done with its successor.
TEST_F(CompletionRecorderTest, RetiresWhatIsUnsignaled) {
  fireStage(probes, observe::Stage::kPosted, 1000, 0);
  fireStage(probes, observe::Stage::kPosted, 1500, 1);
  complete(2500, observe::WorkQueue::kSend, 1);
  complete(3000, observe::WorkQueue::kSend, 0);
  EXPECT_EQ(stream.str().substr(stream.str().rfind("3000.000")), "3000.000,,0,129,65,100,RDMA_WRITE,SUCCESS,64,,\n");
}

TEST_F(CompletionRecorderTest, NamesTheQueuePairThatASharedReceiveServed) {
  recorder.describe(kHost, AdapterIndex(0), QpNumber(65), "mine");
  probes.completion.fire([] {
    return observe::CompletionEvent{nanoseconds(5),
                                    {kHost, kAdapter, QpNumber(2), observe::WorkQueue::kSharedReceive, 9},
                                    kCq,
                                    7,
                                    static_cast<std::uint8_t>(driver::WcOpcode::kReceive),
                                    static_cast<std::uint8_t>(driver::WcStatus::kSuccess),
                                    64,
                                    QpNumber(65)};
  });
  EXPECT_EQ(stream.str(), std::string(kHeader) + "5.000,mine,1,129,65,7,RECV,SUCCESS,64,,\n");
}

}  // namespace
}  // namespace hca::observers
