#include "sim/workload/bandwidth_flow.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hca::sim {
namespace {

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();
// wr_id: queue pair in the upper bits, message number in the lower.
constexpr unsigned kNumberBits = 40;

std::uint64_t requestId(std::uint32_t index, std::uint64_t number) {
  return std::uint64_t{index} << kNumberBits | number;
}
std::uint32_t indexOf(std::uint64_t id) { return static_cast<std::uint32_t>(id >> kNumberBits); }
std::uint64_t numberOf(std::uint64_t id) { return id & ((std::uint64_t{1} << kNumberBits) - 1); }

}  // namespace

BandwidthFlow::BandwidthFlow(std::string name, const FlowConfig& config, bool movesPayload, std::uint64_t seed,
                             driver::VerbsClient& client, driver::VerbsClient& server)
    : Flow(std::move(name), config, movesPayload),
      content_(config, seed, movesPayload),
      total_(config.iters != 0 ? std::uint64_t{config.warmup} + config.iters : kEndless),
      pairs_(config.qps) {
  FlowEndpoint::Shape clientShape;
  clientShape.sendDepth = config.tx_depth;
  clientShape.withChannel = config.events != EventOrder::kOff;
  FlowEndpoint::Shape serverShape;
  const MessageVerbs& verbs = content_.verbs();
  receives_ = verbs.any(usesReceive);
  serverShape.receiveDepth = receives_ ? config.rx_depth : 1;
  serverShape.receives = receives_;
  serverShape.withChannel = clientShape.withChannel;
  serverShape.sharedReceives = config.srq;
  // Writes land at the same places as they come from, and reads the other way round.
  if (!receives_ || verbs.isMixed() || verbs.any(isWrite)) {
    serverShape.receiveDepth = std::max(serverShape.receiveDepth, config.tx_depth);
  }
  clientShape.areas = serverShape.areas = content_.areas();
  if (config.arrival != ArrivalKind::kClosed) arrivals_.emplace(config, seed);
  makeEnds(client, server, clientShape, serverShape);
  postTimes_.resize(std::size_t{config.qps} * config.tx_depth);
  for (std::uint32_t index = 0; index < config.qps; ++index) noteRoom(index);
}

void BandwidthFlow::begin() {
  content_.start(clientEnd(), serverEnd());
  list_.assign(config().post_list, requestTemplate(clientEnd(), serverEnd()));
  receive_.assign(1, receiveTemplate(serverEnd()));
  const auto clientSettings = CompletionWaiter::settingsOf(config(), false);
  const auto serverSettings = CompletionWaiter::settingsOf(config(), config().solicited);
  clientWaiter_ = std::make_unique<CompletionWaiter>(clientEnd().client(), clientEnd().queues(), clientSettings);
  serverWaiter_ = std::make_unique<CompletionWaiter>(serverEnd().client(), serverEnd().queues(), serverSettings);
  clientResizer_ = std::make_unique<QueueResizer>(clientEnd().client(), clientEnd().queues(), config().resize_to,
                                                  config().resize_after);
  serverResizer_ = std::make_unique<QueueResizer>(serverEnd().client(), serverEnd().queues(), config().resize_to,
                                                  config().resize_after);
  if (receives_) {
    for (std::uint32_t index = 0; index < serverEnd().receiveQueues(); ++index) {
      for (std::uint64_t number = 0; number < config().rx_depth; ++number) postReceive(index, number);
    }
    serve();
  }
  if (arrivals_) {
    arrivals_->start(clientEnd().client().threadTime());
    return stepOpenLoop();
  }
  step();
}

// ---- client

void BandwidthFlow::stepOpenLoop() {
  driver::VerbsClient& client = clientEnd().client();
  while (!arrivalsOver() && arrivals_->next() <= client.threadTime()) {
    const auto index = static_cast<std::uint32_t>(arrivals_->count() % pairs_.size());
    const Pair& pair = pairs_[index];
    if (!pair.failed && pair.posted - pair.completed >= config().tx_depth) break;
    if (!pair.failed) post(index, arrivals_->next());
    if (finished()) return;
    arrivals_->advance();
  }
  const bool idle = busy_ == 0;
  if (arrivalsOver() && idle) {
    roomy_.clear();
    return step();
  }
  // A message that is due and has no room waits for a completion alone.
  const bool isDue = !arrivalsOver() && arrivals_->next() <= client.threadTime();
  const Time deadline = arrivalsOver() || isDue ? kForever : arrivals_->next();
  if (idle) return client.sleepFor(deadline - client.threadTime(), [this] { stepOpenLoop(); });
  clientWaiter_->waitUntil(deadline, [this] {
    takeSends();
    if (!finished()) stepOpenLoop();
  });
}

bool BandwidthFlow::arrivalsOver() const {
  if (total_ != kEndless) return arrivals_->count() >= total_ * pairs_.size();
  return timeIsUp_;
}

void BandwidthFlow::post(std::uint32_t index, Time due) {
  Pair& pair = pairs_[index];
  const std::uint64_t before = pair.posted;
  postList(index, 1);
  if (pair.posted != before) postTime(index, before) = due;
}

void BandwidthFlow::step() {
  std::sort(roomy_.begin(), roomy_.end());
  for (const std::uint32_t index : roomy_) {
    pairs_[index].isRoomy = false;
    postSome(index);
    if (finished()) return;
  }
  roomy_.clear();
  if (busy_ == 0) {  // one that had messages left would have posted
    clientFinished_ = true;
    finishIfDone();
    // What is not there by then was lost.
    constexpr Time kGrace = microseconds(100);
    if (!finished() && mayLose()) clientEnd().client().sleepFor(kGrace, [this] { finish(); });
    return;
  }
  if (clientResizer_->due()) return resize(*clientResizer_, [this] { waitForSends(); });
  waitForSends();
}

void BandwidthFlow::waitForSends() {
  clientWaiter_->wait([this] {
    clientResizer_->count(clientWaiter_->completions().size());
    takeSends();
    if (!finished()) step();
  });
}

void BandwidthFlow::resize(QueueResizer& resizer, const std::function<void()>& next) {
  resizer.run([this, next](driver::VerbsError error) {
    if (error != driver::VerbsError::kNone) return fail("a completion queue could not be resized");
    if (!finished()) next();
  });
}

bool BandwidthFlow::mayPost(const Pair& pair) const {
  if (pair.failed) return false;
  if (total_ != kEndless) return pair.posted < total_;
  // A signaled request must be the last one, or its predecessors would never be retired.
  return !timeIsUp_ || pair.posted % config().cq_mod != 0;
}

std::uint64_t BandwidthFlow::room(const Pair& pair) const {
  const std::uint64_t outstanding = pair.posted - pair.completed;
  const std::uint64_t free = config().tx_depth - outstanding;
  const std::uint64_t left = total_ == kEndless ? kEndless : total_ - pair.posted;
  return std::min<std::uint64_t>({free, left, config().post_list});
}

void BandwidthFlow::postSome(std::uint32_t index) {
  const Pair& pair = pairs_[index];
  while (mayPost(pair)) {
    const std::uint64_t count = room(pair);
    // A list is handed over whole, unless it is the last, or no completion is to come that would make more room.
    const bool last = total_ != kEndless && pair.posted + count == total_;
    const bool roomToCome = pair.posted / config().cq_mod * config().cq_mod > pair.completed;
    if (count == 0 || (count < config().post_list && !last && roomToCome)) return;
    if (!postList(index, count)) return;
  }
}

bool BandwidthFlow::postList(std::uint32_t index, std::uint64_t count) {
  Pair& pair = pairs_[index];
  list_.resize(count, list_.front());
  for (std::uint64_t i = 0; i < count; ++i) prepare(index, pair.posted + i, list_[i]);
  const Time now = clientEnd().client().threadTime();
  if (measured_ == 0 && begin_ == Time() && pair.posted + count > config().warmup) measureFrom(now);
  if (config().duration > Time() && total_ == kEndless && begin_ != Time()) {
    timeIsUp_ = now - begin_ >= config().duration;
  }
  const driver::PostResult result = clientEnd().client().postSend(clientEnd().qp(index), list_);
  for (std::size_t i = 0; i < result.accepted; ++i) postTime(index, pair.posted + i) = now;
  if (pair.completed == pair.posted && result.accepted != 0) ++busy_;
  for (std::size_t i = 0; i < result.accepted; ++i) {
    if (usesReceive(content_.verbs().of(index, pair.posted + i))) ++pair.toReceive;
  }
  pair.posted += result.accepted;
  if (result.error == driver::VerbsError::kNone) return true;
  fail("a post was refused: the send queue is full");
  return false;
}

void BandwidthFlow::prepare(std::uint32_t index, std::uint64_t message, driver::SendWorkRequest& request) {
  content_.prepare(index, message, request);
  request.workRequestId = requestId(index, message);
  request.datagram.qp = serverEnd().qpNumber(index);
  request.remoteSrq = serverEnd().srqNumber(message % config().xrc_srqs);
  request.signaled = (message + 1) % config().cq_mod == 0 || message + 1 == total_;
  request.solicited = config().solicited && ((message + 1) % config().solicited_every == 0 || message + 1 == total_);
}

void BandwidthFlow::takeSends() {
  for (const driver::WorkCompletion& completion : clientWaiter_->completions()) takeSend(completion);
}

void BandwidthFlow::takeSend(const driver::WorkCompletion& completion) {
  const std::uint32_t index = indexOf(completion.workRequestId);
  Pair& pair = pairs_[index];
  const std::uint64_t number = numberOf(completion.workRequestId);
  if (countError(completion)) {
    pair.failed = true;
    return setCompleted(index, number + 1);
  }
  corrupted_ += content_.checkResponses(index, pair.completed, number, completion.byteLength);
  const Time now = clientEnd().client().threadTime();
  if (number >= config().warmup) {
    latency_.add(now - postTime(index, number));
    const std::uint64_t first = std::max<std::uint64_t>(pair.completed, config().warmup);
    measured_ += number + 1 - first;
    for (std::uint64_t each = first; each <= number; ++each) measuredBytes_ += content_.length(index, each);
    end_ = now;
  }
  setCompleted(index, number + 1);
}

void BandwidthFlow::setCompleted(std::uint32_t index, std::uint64_t count) {
  Pair& pair = pairs_[index];
  if (pair.completed != pair.posted && count == pair.posted) --busy_;
  pair.completed = count;
  noteRoom(index);
}

void BandwidthFlow::noteRoom(std::uint32_t index) {
  if (!std::exchange(pairs_[index].isRoomy, true)) roomy_.push_back(index);
}

// ---- server

void BandwidthFlow::serve() {
  if (served_ == pairs_.size()) return;
  if (serverResizer_->due()) return resize(*serverResizer_, [this] { waitForReceives(); });
  waitForReceives();
}

void BandwidthFlow::waitForReceives() {
  serverWaiter_->wait([this] {
    serverResizer_->count(serverWaiter_->completions().size());
    takeReceives();
    finishIfDone();
    if (!finished()) serve();
  });
}

void BandwidthFlow::takeReceives() {
  for (const driver::WorkCompletion& completion : serverWaiter_->completions()) {
    const std::uint32_t place = indexOf(completion.workRequestId);
    const std::uint64_t slot = numberOf(completion.workRequestId);
    // A receive of a shared queue doesn't know whose message it gets.
    const std::uint32_t index = serverEnd().sharesReceives() ? serverEnd().indexOf(completion.qp) : place;
    Pair& pair = pairs_[index];
    if (countError(completion)) {
      pair.failed = true;
      continue;
    }
    corrupted_ += content_.checkReceived(index, pair.posted, received(serverEnd(), place, slot), completion);
    if (++pair.received == total_) ++served_;
    postReceive(place, slot);
  }
}

void BandwidthFlow::postReceive(std::uint32_t index, std::uint64_t number) {
  driver::ReceiveWorkRequest& request = receive_.front();
  request.workRequestId = requestId(index, number);
  request.scatterGather.front().address = serverEnd().receiveAddress(index, number);
  serverEnd().postReceives(index, receive_);
}

bool BandwidthFlow::serverDone() const {
  return std::all_of(pairs_.begin(), pairs_.end(),
                     [](const Pair& pair) { return pair.failed || pair.received == pair.toReceive; });
}

void BandwidthFlow::finishIfDone() {
  if (clientFinished_ && serverDone()) finish();
}

bool BandwidthFlow::mayLose() const { return !isReliable(config().transport) && receives_; }

void BandwidthFlow::checkRemainder() {
  for (std::uint32_t index = 0; index < pairs_.size(); ++index) {
    const Pair& pair = pairs_[index];
    if (!pair.failed) corrupted_ += content_.checkRemainder(index, pair.completed, pair.completed == pair.posted);
  }
}

}  // namespace hca::sim
