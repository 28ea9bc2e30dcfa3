#include "sim/workload/bandwidth_flow.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "sim/workload/payload_pattern.h"

namespace hca::sim {
namespace {

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();
// wr_id: queue pair in the upper bits, message number in the lower.
constexpr unsigned kNumberBits = 40;

std::uint64_t requestId(std::uint32_t index, std::uint64_t number) {
  return std::uint64_t{index} << kNumberBits | number;
}
std::uint64_t wordAt(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}
std::uint32_t indexOf(std::uint64_t id) { return static_cast<std::uint32_t>(id >> kNumberBits); }
std::uint64_t numberOf(std::uint64_t id) { return id & ((std::uint64_t{1} << kNumberBits) - 1); }

}  // namespace

BandwidthFlow::BandwidthFlow(std::string name, const FlowConfig& config, bool movesPayload, driver::VerbsClient& client,
                             driver::VerbsClient& server)
    : Flow(std::move(name), config, movesPayload),
      total_(config.iters != 0 ? std::uint64_t{config.warmup} + config.iters : kEndless),
      pairs_(config.qps) {
  FlowEndpoint::Shape clientShape;
  clientShape.sendDepth = config.tx_depth;
  clientShape.withChannel = config.events != EventOrder::kOff;
  FlowEndpoint::Shape serverShape;
  serverShape.receiveDepth = usesReceives() ? config.rx_depth : 1;
  serverShape.receives = usesReceives();
  serverShape.withChannel = clientShape.withChannel;
  serverShape.sharedReceives = config.srq;
  // Writes land at the same places as they come from, and reads the other way round.
  if (!usesReceives() || usesWrites()) serverShape.receiveDepth = std::max(serverShape.receiveDepth, config.tx_depth);
  makeEnds(client, server, clientShape, serverShape);
  for (Pair& pair : pairs_) pair.postTimes.resize(config.tx_depth);
  for (std::uint32_t index = 0; index < config.qps; ++index) active_.push_back(index);
}

void BandwidthFlow::begin() {
  numbered_ = movesPayload() && size() >= sizeof(std::uint64_t) && clientEnd().slots() >= config().tx_depth;
  if (movesPayload() && !isAtomic(config().verb)) fillSources();
  list_.assign(config().post_list, requestTemplate(clientEnd(), serverEnd()));
  receive_.assign(1, receiveTemplate(serverEnd()));
  const CompletionWaiter::Settings clientSettings{config().events, false, config().gap};
  const CompletionWaiter::Settings serverSettings{config().events, config().solicited, config().gap};
  clientWaiter_ = std::make_unique<CompletionWaiter>(clientEnd().client(), clientEnd().queues(), clientSettings);
  serverWaiter_ = std::make_unique<CompletionWaiter>(serverEnd().client(), serverEnd().queues(), serverSettings);
  clientResizer_ = std::make_unique<QueueResizer>(clientEnd().client(), clientEnd().queues(), config().resize_to,
                                                  config().resize_after);
  serverResizer_ = std::make_unique<QueueResizer>(serverEnd().client(), serverEnd().queues(), config().resize_to,
                                                  config().resize_after);
  if (usesReceives()) {
    const std::uint32_t queues = config().srq ? 1 : config().qps;
    for (std::uint32_t index = 0; index < queues; ++index) {
      for (std::uint64_t number = 0; number < config().rx_depth; ++number) postReceive(index, number);
    }
    serve();
  }
  step();
}

// Where messages come from: for reads, from the server.
void BandwidthFlow::fillSources() {
  for (std::uint32_t index = 0; index < config().qps; ++index) {
    for (std::uint64_t slot = 0; slot < clientEnd().slots(); ++slot) {
      std::uint8_t* source = usesResponses() ? serverEnd().bytes(serverEnd().receiveAddress(index, slot))
                                             : clientEnd().bytes(clientEnd().sendAddress(index, slot));
      fillPattern(source, size(), seed(index, slot));
    }
  }
}

// ---- client

void BandwidthFlow::step() {
  for (std::size_t at = 0; at < active_.size();) {
    postSome(active_[at]);
    if (finished()) return;
    if (mayPost(pairs_[active_[at]])) {
      ++at;
    } else {
      active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  if (clientDone()) {
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
  for (std::size_t i = 0; i < result.accepted; ++i) pair.postTimes[(pair.posted + i) % config().tx_depth] = now;
  pair.posted += result.accepted;
  if (result.error == driver::VerbsError::kNone) return true;
  fail("a post was refused: the send queue is full");
  return false;
}

void BandwidthFlow::prepare(std::uint32_t index, std::uint64_t message, driver::SendWorkRequest& request) {
  request.workRequestId = requestId(index, message);
  request.scatterGather.front().address = clientEnd().sendAddress(index, message);
  request.remoteAddress =
      serverEnd().receiveAddress(index, isAtomic(config().verb) ? 0 : message % clientEnd().slots());
  request.datagram.qp = serverEnd().qpNumber(index);
  setOperands(message, request);
  request.signaled = (message + 1) % config().cq_mod == 0 || message + 1 == total_;
  request.solicited = config().solicited && ((message + 1) % config().solicited_every == 0 || message + 1 == total_);
  request.immediateOrKey = static_cast<std::uint32_t>(message);
  if (numbered_) writeHeader(index, message);
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
    pair.completed = number + 1;
    return;
  }
  if (usesResponses()) checkResponses(index, number, completion.byteLength);
  const Time now = clientEnd().client().threadTime();
  if (number >= config().warmup) {
    latency_.add(now - pair.postTimes[number % config().tx_depth]);
    measured_ += number + 1 - std::max<std::uint64_t>(pair.completed, config().warmup);
    end_ = now;
  }
  pair.completed = number + 1;
}

bool BandwidthFlow::clientDone() const {
  return active_.empty() &&
         std::all_of(pairs_.begin(), pairs_.end(), [](const Pair& pair) { return pair.completed == pair.posted; });
}

// ---- server

void BandwidthFlow::serve() {
  if (std::all_of(pairs_.begin(), pairs_.end(), [this](const Pair& pair) { return pair.received == total_; })) return;
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
    const std::uint32_t index = config().srq ? serverEnd().indexOf(completion.qp) : place;
    Pair& pair = pairs_[index];
    if (countError(completion)) {
      pair.failed = true;
      continue;
    }
    checkReceived(index, received(serverEnd(), place, slot), completion);
    ++pair.received;
    postReceive(place, slot);
  }
}

void BandwidthFlow::postReceive(std::uint32_t index, std::uint64_t number) {
  driver::ReceiveWorkRequest& request = receive_.front();
  request.workRequestId = requestId(index, number);
  request.scatterGather.front().address = serverEnd().receiveAddress(index, number);
  serverEnd().postReceives(index, receive_);
}

void BandwidthFlow::checkReceived(std::uint32_t index, const std::uint8_t* content,
                                  const driver::WorkCompletion& completion) {
  Pair& pair = pairs_[index];
  const bool immediate = completion.hasImmediate;
  const bool checksContent = movesPayload() && !usesWrites();
  // Some may be missing: then a message must say itself which one it is.
  std::uint64_t number = pair.expected;
  if (mayLose() && immediate) {
    number = completion.immediateOrKey;
  } else if (mayLose() && numbered_) {
    std::memcpy(&number, content, sizeof number);
  }
  const bool known = !mayLose() || immediate || numbered_;
  bool intact = completion.byteLength == size() + serverEnd().headerSize() && number >= pair.expected;
  if (immediate) intact = intact && completion.immediateOrKey == static_cast<std::uint32_t>(number);
  if (checksContent && known) intact = intact && isIntact(content, index, number);
  if (!intact) ++corrupted_;
  pair.expected = number + 1;
}

bool BandwidthFlow::serverDone() const {
  return !usesReceives() || std::all_of(pairs_.begin(), pairs_.end(),
                                        [](const Pair& pair) { return pair.failed || pair.received == pair.posted; });
}

void BandwidthFlow::finishIfDone() {
  if (clientFinished_ && serverDone()) finish();
}

// ---- content

std::uint64_t BandwidthFlow::seed(std::uint32_t index, std::uint64_t message) const {
  return std::uint64_t{index} * clientEnd().slots() + message % clientEnd().slots();
}

void BandwidthFlow::writeHeader(std::uint32_t index, std::uint64_t message) {
  // Where a response goes there is to be nothing that could be taken for it.
  const std::uint64_t header = usesResponses() ? ~message : message;
  std::memcpy(clientEnd().bytes(clientEnd().sendAddress(index, message)), &header, sizeof header);
}

// Of everything that the completion of message `last` says to be done.
void BandwidthFlow::checkResponses(std::uint32_t index, std::uint64_t last, std::uint32_t length) {
  if (length != size()) ++corrupted_;
  if (!movesPayload()) return;
  for (std::uint64_t message = pairs_[index].completed; message <= last; ++message) {
    const std::uint8_t* content = clientEnd().bytes(clientEnd().sendAddress(index, message));
    if (!isAtomic(config().verb)) {
      if (!matchesPattern(content, size(), seed(index, message))) ++corrupted_;
    } else if (numbered_ && wordAt(content) != message) {
      ++corrupted_;
    }
  }
}

bool BandwidthFlow::isIntact(const std::uint8_t* content, std::uint32_t index, std::uint64_t message) const {
  if (!numbered_) return matchesPattern(content, size(), seed(index, message));
  if (std::memcmp(content, &message, sizeof message) != 0) return false;
  return matchesPattern(content, size(), seed(index, message), sizeof message);
}

// Each atomic added one.
void BandwidthFlow::checkWords() {
  for (std::uint32_t index = 0; index < config().qps; ++index) {
    const Pair& pair = pairs_[index];
    if (pair.failed || pair.completed != pair.posted) continue;
    if (wordAt(serverEnd().bytes(serverEnd().receiveAddress(index, 0))) != pair.completed) ++corrupted_;
  }
}

// Writes give the server no completion: what the last message of each place left there is looked at in the end.
void BandwidthFlow::checkRemainder() {
  if (!movesPayload()) return;
  if (isAtomic(config().verb)) return checkWords();
  if (!usesWrites()) return;
  const std::uint64_t slots = clientEnd().slots();
  for (std::uint32_t index = 0; index < config().qps; ++index) {
    const Pair& pair = pairs_[index];
    const std::uint64_t oldest = pair.completed - std::min(pair.completed, slots);
    for (std::uint64_t message = oldest; !pair.failed && message < pair.completed; ++message) {
      const std::uint64_t address = serverEnd().receiveAddress(index, message % slots);
      if (!isIntact(serverEnd().bytes(address), index, message)) ++corrupted_;
    }
  }
}

}  // namespace hca::sim
