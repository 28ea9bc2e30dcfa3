#include "sim/workload/arm_race_flow.h"

#include <utility>

#include "sim/workload/payload_pattern.h"

namespace hca::sim {

ArmRaceFlow::ArmRaceFlow(std::string name, const FlowConfig& config, bool movesPayload, driver::VerbsClient& client,
                         driver::VerbsClient& server)
    : Flow(std::move(name), config, movesPayload) {
  FlowEndpoint::Shape clientShape;
  clientShape.sendDepth = config.tx_depth;
  FlowEndpoint::Shape serverShape;
  serverShape.receiveDepth = config.rx_depth;
  serverShape.receives = true;
  serverShape.withChannel = true;
  makeEnds(client, server, clientShape, serverShape);
}

void ArmRaceFlow::begin() {
  request_.push_back(requestTemplate(clientEnd(), serverEnd()));
  receive_.push_back(receiveTemplate(serverEnd()));
  clientWaiter_ =
      std::make_unique<CompletionWaiter>(clientEnd().client(), clientEnd().queues(), CompletionWaiter::Settings{});
  const auto settings = CompletionWaiter::settingsOf(config(), config().solicited);
  serverWaiter_ = std::make_unique<CompletionWaiter>(serverEnd().client(), serverEnd().queues(), settings);
  serverWaiter_->onGap = [this] { onGap(); };
  serverWaiter_->onSleep = [this] { onSleep(); };
  for (std::uint64_t slot = 0; slot < config().rx_depth; ++slot) postReceive(slot);
  serve();
}

void ArmRaceFlow::serve() {
  if (received_ == config().iters) return finishIfDone();
  serverWaiter_->wait([this] {
    takeReceives();
    if (!finished()) serve();
  });
}

void ArmRaceFlow::takeReceives() {
  for (const driver::WorkCompletion& completion : serverWaiter_->completions()) {
    if (countError(completion)) return finish();
    const std::uint64_t slot = completion.workRequestId;
    const std::uint8_t* content = serverEnd().bytes(serverEnd().receiveAddress(0, usesWrites() ? 0 : slot));
    if (movesPayload() && !matchesPattern(content, size(), received_)) ++corrupted_;
    end_ = serverEnd().client().threadTime();
    latency_.add(end_ - postTime_);
    ++received_;
    ++measured_;
    postReceive(slot);
  }
}

void ArmRaceFlow::postReceive(std::uint64_t slot) {
  receive_.front().workRequestId = slot;
  receive_.front().scatterGather.front().address = serverEnd().receiveAddress(0, slot);
  serverEnd().postReceives(0, receive_);
}

// Everything before was received, and the next message is one for this occasion.
bool ArmRaceFlow::mayPost(bool odd) const {
  return asked_ < config().iters && received_ == asked_ && (asked_ % 2 == 1) == odd;
}

void ArmRaceFlow::onGap() {
  if (!mayPost(false)) return;
  ask(Time());
}

void ArmRaceFlow::onSleep() {
  if (!mayPost(true)) return;
  ask(config().pause);
}

void ArmRaceFlow::ask(Time delay) {
  ++asked_;
  delay_ = delay;
  if (completed_ == posted_) clientEnd().client().sleepFor(delay, [this] { post(); });
}

void ArmRaceFlow::post() {
  driver::VerbsClient& client = clientEnd().client();
  driver::SendWorkRequest& request = request_.front();
  const std::uint64_t address = clientEnd().sendAddress(0, posted_);
  if (movesPayload()) fillPattern(clientEnd().bytes(address), size(), posted_);
  request.workRequestId = posted_;
  request.scatterGather.front().address = address;
  request.remoteAddress = serverEnd().receiveAddress(0, 0);
  postTime_ = client.threadTime();
  if (posted_ == 0) measureFrom(postTime_);
  if (client.postSend(clientEnd().qp(0), request_).error != driver::VerbsError::kNone) {
    return fail("a post was refused: the send queue is full");
  }
  ++posted_;
  clientWaiter_->wait([this] { takeSend(); });
}

void ArmRaceFlow::takeSend() {
  for (const driver::WorkCompletion& completion : clientWaiter_->completions()) {
    if (countError(completion)) return finish();
    ++completed_;
  }
  if (asked_ > posted_) return clientEnd().client().sleepFor(delay_, [this] { post(); });
  finishIfDone();
}

void ArmRaceFlow::finishIfDone() {
  if (received_ == config().iters && completed_ == config().iters) finish();
}

}  // namespace hca::sim
