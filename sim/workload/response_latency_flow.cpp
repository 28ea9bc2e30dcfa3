#include "sim/workload/response_latency_flow.h"

#include <utility>

#include "sim/workload/message_verbs.h"
#include "sim/workload/payload_pattern.h"

namespace hca::sim {
namespace {

constexpr std::uint64_t kSeed = 1;

}  // namespace

ResponseLatencyFlow::ResponseLatencyFlow(std::string name, const FlowConfig& config, bool movesPayload,
                                         driver::VerbsClient& client, driver::VerbsClient& server)
    : Flow(std::move(name), config, movesPayload) {
  latencyKind_ = report::LatencyKind::kPostToCompletion;
  FlowEndpoint::Shape shape;
  shape.sendDepth = config.tx_depth;
  shape.withChannel = config.events != EventOrder::kOff;
  makeEnds(client, server, shape, FlowEndpoint::Shape{});
}

void ResponseLatencyFlow::begin() {
  waiter_ = std::make_unique<CompletionWaiter>(clientEnd().client(), clientEnd().queues(),
                                               CompletionWaiter::settingsOf(config(), false));
  request_.push_back(requestTemplate(clientEnd(), serverEnd()));
  request_.front().scatterGather.front().address = clientEnd().sendAddress(0, 0);
  request_.front().remoteAddress = serverEnd().receiveAddress(0, 0);
  if (movesPayload() && !isAtomic(config().verb)) {
    fillPattern(serverEnd().bytes(serverEnd().receiveAddress(0, 0)), size(), kSeed);
  }
  post();
}

bool ResponseLatencyFlow::isOver() const {
  if (!isTimed()) return completed_ == std::uint64_t{config().warmup} + config().iters;
  return measured_ != 0 && end_ - begin_ >= config().duration;
}

void ResponseLatencyFlow::post() {
  driver::VerbsClient& client = clientEnd().client();
  postTime_ = client.threadTime();
  if (posted_ == config().warmup) measureFrom(postTime_);
  // Nothing may lie there that could be taken for the response.
  if (movesPayload()) std::memset(place(), static_cast<int>(~posted_ & 0xFF), size());
  driver::SendWorkRequest& request = request_.front();
  request.workRequestId = posted_;
  setOperands(config().verb, posted_, request);
  if (client.postSend(clientEnd().qp(0), request_).error != driver::VerbsError::kNone) {
    return fail("a post was refused: the send queue is full");
  }
  ++posted_;
  waiter_->wait([this] { takeCompletion(); });
}

void ResponseLatencyFlow::takeCompletion() {
  const driver::WorkCompletion& completion = waiter_->completions().front();
  if (countError(completion)) return finish();
  checkResponse(completion);
  if (completed_ >= config().warmup) {
    end_ = clientEnd().client().threadTime();
    latency_.add(end_ - postTime_);
    ++measured_;
  }
  ++completed_;
  if (isOver()) return finish();
  post();
}

void ResponseLatencyFlow::checkResponse(const driver::WorkCompletion& completion) {
  if (completion.byteLength != size()) ++corrupted_;
  if (!movesPayload()) return;
  const bool intact = isAtomic(config().verb) ? wordAt(place()) == completed_ : matchesPattern(place(), size(), kSeed);
  if (!intact) ++corrupted_;
}

// Each atomic added one to the server's word.
void ResponseLatencyFlow::checkRemainder() {
  if (!movesPayload() || !isAtomic(config().verb) || errors_ != 0) return;
  if (wordAt(serverEnd().bytes(serverEnd().receiveAddress(0, 0))) != completed_) ++corrupted_;
}

}  // namespace hca::sim
