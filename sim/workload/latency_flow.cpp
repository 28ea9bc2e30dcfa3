#include "sim/workload/latency_flow.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/workload/payload_pattern.h"

namespace hca::sim {

LatencyFlow::LatencyFlow(std::string name, const FlowConfig& config, bool movesPayload, driver::VerbsClient& client,
                         driver::VerbsClient& server)
    : Flow(std::move(name), config, movesPayload),
      total_(config.iters != 0 ? std::uint64_t{config.warmup} + config.iters
                               : std::numeric_limits<std::uint64_t>::max()) {
  latencyKind_ = report::LatencyKind::kHalfRoundTrip;
  FlowEndpoint::Shape shape;
  shape.sendDepth = config.tx_depth;
  shape.receiveDepth = usesReceives() ? config.rx_depth : 1;
  shape.receives = usesReceives();
  shape.withChannel = config.events != EventOrder::kOff;
  makeEnds(client, server, shape, shape);
}

void LatencyFlow::begin() {
  clientSide_ = makeSide(clientEnd(), serverEnd(), true);
  serverSide_ = makeSide(serverEnd(), clientEnd(), false);
  next(*serverSide_);
  next(*clientSide_);
}

std::unique_ptr<LatencyFlow::Side> LatencyFlow::makeSide(FlowEndpoint& own, FlowEndpoint& other, bool starts) {
  const bool solicitedOnly = config().solicited && config().cq_mod > 1;
  auto side = std::make_unique<Side>(own, other, starts, CompletionWaiter::settingsOf(config(), solicitedOnly));
  side->request.push_back(requestTemplate(own, other));
  side->request.front().scatterGather.front().address = own.sendAddress(0, 0);
  side->request.front().remoteAddress = other.receiveAddress(0, 0);
  side->receive.push_back(receiveTemplate(own));
  side->receive.front().scatterGather.front().address = own.receiveAddress(0, 0);
  if (usesReceives()) postReceives(*side, own.shape().receiveDepth);
  return side;
}

void LatencyFlow::postReceives(Side& side, std::uint64_t count) {
  for (; count != 0; --count) side.end.postReceives(0, side.receive);
}

void LatencyFlow::next(Side& side) {
  const bool opens = side.begins && side.posted == 0;
  if (side.received < total_ && !opens) return waitForMessage(side);
  if (side.posted < total_) return post(side);
  finishSide(side);
}

void LatencyFlow::waitForMessage(Side& side) {
  if (usesReceives()) return waitForReceive(side);
  side.end.client().whenByte(side.end.receiveAddress(0, 0) + size() - 1, lastByte(side.received),
                             [this, &side] { onMessage(side); });
}

void LatencyFlow::waitForReceive(Side& side) {
  if (side.arrived > side.received) return onMessage(side);
  side.waiter.wait([this, &side] {
    takeCompletions(side);
    if (!finished()) waitForReceive(side);
  });
}

void LatencyFlow::onMessage(Side& side) {
  if (movesPayload() && size() > 0) {
    const std::uint8_t* content = received(side.end, 0, 0);
    const Side& from = side.begins ? *serverSide_ : *clientSide_;
    const bool intact = matchesPattern(content, size() - 1, seed(from, side.received)) &&
                        content[size() - 1] == lastByte(side.received);
    if (!intact) ++corrupted_;
  }
  if (side.begins) sample(side);
  ++side.received;
  if (usesReceives()) postReceives(side, 1);
  if (side.posted < total_) return post(side);
  next(side);
}

void LatencyFlow::sample(Side& side) {
  if (side.received < config().warmup) return;
  end_ = side.end.client().threadTime();
  latency_.add(Time((end_ - side.lastPost).count() / 2));
  ++measured_;
}

void LatencyFlow::post(Side& side) {
  driver::VerbsClient& client = side.end.client();
  side.lastPost = client.threadTime();
  if (side.begins) {
    if (side.posted == config().warmup) measureFrom(side.lastPost);
    const bool timed = total_ == std::numeric_limits<std::uint64_t>::max() && side.posted >= config().warmup;
    if (timed && side.lastPost - begin_ >= config().duration) total_ = side.posted + 1;
  }
  fillMessage(side);
  driver::SendWorkRequest& request = side.request.front();
  request.workRequestId = side.posted;
  request.signaled = (side.posted + 1) % config().cq_mod == 0 || side.posted + 1 == total_;
  const driver::PostResult result = client.postSend(side.end.qp(0), side.request);
  if (result.error != driver::VerbsError::kNone) return fail("a post was refused: the send queue is full");
  ++side.posted;
  side.lastSignaled = request.signaled;
  waitForSend(side);
}

void LatencyFlow::fillMessage(Side& side) {
  if (!movesPayload() || size() == 0) return;
  std::uint8_t* content = side.end.bytes(side.end.sendAddress(0, 0));
  fillPattern(content, size() - 1, seed(side, side.posted));
  content[size() - 1] = lastByte(side.posted);
}

void LatencyFlow::waitForSend(Side& side) {
  if (!side.lastSignaled || side.completed == side.posted) return next(side);
  side.waiter.wait([this, &side] {
    takeCompletions(side);
    if (!finished()) waitForSend(side);
  });
}

void LatencyFlow::takeCompletions(Side& side) {
  for (const driver::WorkCompletion& completion : side.waiter.completions()) {
    if (countError(completion)) return finish();
    if (completion.opcode >= driver::WcOpcode::kReceive) {
      ++side.arrived;
    } else {
      side.completed = completion.workRequestId + 1;
    }
  }
}

void LatencyFlow::finishSide(Side& side) {
  side.done = true;
  if (clientSide_->done && serverSide_->done) finish();
}

std::uint64_t LatencyFlow::seed(const Side& from, std::uint64_t message) const {
  return message * 2 + (from.begins ? 0 : 1);
}

}  // namespace hca::sim
