// Shared receive queues of the random driver, basic ones and those of XRC.
#include <algorithm>

#include "tests/sim/driver/random/random_driver_state.h"

namespace hca::test {

using driver::VerbsError;
using driver::WcStatus;

namespace {

constexpr std::uint32_t kLongestMessage = 20'000;

}  // namespace

// ---- life

void RandomDriver::createShared(Shared& shared, RandomNumbers& random) {
  driver::SrqRequest request{random.between(2, 20), 2};
  if (shared.isXrc()) request.xrc = driver::XrcSrq{shared.host->domain.handle, shared.queue->handle()};
  driver::ThreadClient& client = *shared.host->client;
  shared.created = await<driver::SrqCreated>([&](auto done) { client.createSrq(request, done); });
  if (shared.created.error != VerbsError::kNone || shared.created.maxWr < request.maxWr) {
    fail("a shared receive queue was refused or is too small");
  }
  shared.isUnsure = false;
}

// Nobody uses it any more.
void RandomDriver::destroyShared(Shared& shared) {
  driver::ThreadClient& client = *shared.host->client;
  const auto error = await<VerbsError>([&](auto done) { client.destroySrq(shared.created.handle, done); });
  if (error != VerbsError::kNone) fail("an unused shared receive queue can't be destroyed");
  for (const WorkRecord& record : shared.records) shared.host->pool.giveBack(record.local);
  shared.records.clear();
}

void RandomDriver::replaceUnsure(std::uint32_t seed) {
  RandomNumbers random(seed);
  for (const auto& shared : shared_) {
    if (!shared->isUnsure || random.percent(40)) continue;
    std::vector<Connection*> users;
    for (const auto& connection : connections_) {
      if (!uses(connection->sides[0], *shared) && !uses(connection->sides[1], *shared)) continue;
      users.push_back(connection.get());
      tearDown(*connection, [] {});
    }
    waitForControl();
    if (!failure_.empty()) return;
    destroyShared(*shared);
    createShared(*shared, random);
    for (Connection* connection : users) build(*connection, static_cast<std::uint32_t>(random.next()));
    waitForControl();
  }
}

void RandomDriver::chooseShared(Side& side, RandomNumbers& random) {
  side.shared = nullptr;
  if (side.connection->isXrc()) {
    side.receiveQueue = side.sendQueue;
    return;
  }
  const Queue& queue = *side.receiveQueue;
  if (queue.tight || random.percent(60)) return;
  const auto found = std::find_if(shared_.begin(), shared_.end(),
                                  [&](const auto& shared) { return shared->host == side.host && !shared->isXrc(); });
  if (reserved(queue) + (*found)->records.size() <= queue.created.cqe) side.shared = found->get();
}

bool RandomDriver::uses(const Side& side, const Shared& shared) {
  if (!shared.isXrc()) return side.shared == &shared;
  return side.connection->isXrc() && side.host == shared.host;
}

bool RandomDriver::sharesReceives(const Side& side) { return side.shared != nullptr || side.connection->isXrc(); }

// Whether a message for this side may wait until more receives are posted.
bool RandomDriver::maySleepOn(const Side& side) const {
  return std::any_of(shared_.begin(), shared_.end(), [&](const auto& shared) {
    return uses(side, *shared) && (shared->isUnsure || shared->records.empty());
  });
}

std::size_t RandomDriver::sharedOf(const Host& host, RandomNumbers& random) const {
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    if (shared_[i]->isXrc() && shared_[i]->host == &host) candidates.push_back(i);
  }
  return candidates[random.below(static_cast<std::uint32_t>(candidates.size()))];
}

// ---- receives

// Whether all completion queues that its receives may complete into have room for one more.
bool RandomDriver::hasRoom(const Shared& shared, std::size_t count) const {
  const auto fits = [&](const Queue& queue) { return reserved(queue) + count < queue.created.cqe; };
  if (shared.isXrc()) return fits(*shared.queue);
  for (const auto& connection : connections_) {
    for (const Side& side : connection->sides) {
      if (side.shared == &shared && !fits(*side.receiveQueue)) return false;
    }
  }
  return true;
}

void RandomDriver::postShared(Side& side, RandomNumbers& random) {
  std::vector<Shared*> candidates;
  for (const auto& shared : shared_) {
    if (uses(side, *shared)) candidates.push_back(shared.get());
  }
  Shared& shared = *candidates[random.below(static_cast<std::uint32_t>(candidates.size()))];
  std::vector<driver::ReceiveWorkRequest> list;
  std::vector<WorkRecord> records;
  const std::uint32_t wanted = random.between(1, 6);
  while (list.size() < wanted && shared.records.size() + list.size() < shared.created.maxWr &&
         hasRoom(shared, list.size())) {
    WorkRecord record;
    record.id = nextId_++;
    record.length = kLongestMessage + (shared.isXrc() ? 0 : driver::kGlobalRouteHeaderSize);
    record.local = shared.host->pool.take(record.length);
    if (record.local == 0) break;
    const std::uint32_t first = random.between(1, record.length - 1);
    const MemoryKey key = shared.host->memory.localKey;
    list.push_back({record.id, {{record.local, first, key}, {record.local + first, record.length - first, key}}});
    records.push_back(record);
  }
  if (list.empty()) return;
  const driver::PostResult result = shared.host->client->postSrqReceive(shared.created.handle, list);
  if (result.accepted != list.size()) return fail("a receive of a shared queue was refused");
  shared.records.insert(shared.records.end(), records.begin(), records.end());
  passCost(*shared.host);
}

// ---- completions

// True if the completion is one of a receive of a shared queue.
bool RandomDriver::completeShared(Side& side, const Queue& queue, const driver::WorkCompletion& completion) {
  for (const auto& shared : shared_) {
    if (!uses(side, *shared)) continue;
    const auto found = std::find_if(shared->records.begin(), shared->records.end(),
                                    [&](const WorkRecord& record) { return record.id == completion.workRequestId; });
    if (found == shared->records.end()) continue;
    const WorkRecord record = *found;
    shared->records.erase(found);
    shared->lastTaken = std::max(shared->lastTaken, record.id);
    if (&queue != (shared->isXrc() ? shared->queue : side.receiveQueue)) fail("a receive completes in the wrong queue");
    const std::string problem = checkSharedStatus(side, completion.status);
    if (!problem.empty()) fail(nameOf(side) + ", shared receive " + std::to_string(record.id) + ": " + problem);
    if (completion.status == WcStatus::kSuccess) matchShared(side, *shared, record, completion);
    side.host->pool.giveBack(record.local);
    return true;
  }
  return false;
}

// Nothing is wrong with these receives: they end with an error if their queue pair does, and then as flushed. One that
// an unreliable message had taken when it broke off ends as aborted, and the queue pair goes on.
std::string RandomDriver::checkSharedStatus(Side& side, WcStatus status) const {
  if (status == WcStatus::kSuccess) {
    // Two shared queues of XRC complete into queues that are polled apart.
    return side.receiveFailed && !side.connection->isXrc() ? "success behind an error" : "";
  }
  const std::string name = driver::name(status);
  const bool mayFail = circumstances(side, *side.sendQueue).mayFail;
  const bool mayBreakOff = side.connection->type == driver::QpType::kUc && (faults_ || mayFail);
  if (status == WcStatus::kRemoteAborted && mayBreakOff) return "";
  if (!mayFail) return name + " without a cause";
  side.receiveFailed = true;
  return status == WcStatus::kFlushed ? "" : name + " is not what it may end with";
}

// A reliable connection delivers its messages for one shared queue in order.
void RandomDriver::matchShared(Side& side, const Shared& shared, const WorkRecord& receive,
                               const driver::WorkCompletion& completion) {
  if (!side.connection->reliable()) return matchMessage(side, receive, completion);
  Side& sender = peerOf(side);
  const auto isForIt = [&](const WorkRecord& message) {
    return !shared.isXrc() || shared_[message.shared].get() == &shared;
  };
  const auto found = std::find_if(sender.messages.begin(), sender.messages.end(), isForIt);
  if (found == sender.messages.end()) return fail("a receive without a message");
  const WorkRecord message = *found;
  sender.messages.erase(found);
  checkMessage(side, receive, message, completion);
  checkWrites(sender, message.id);
}

// Entries are taken in the order in which they were posted: at rest those that are left are the last, unless a message
// that never ended holds one.
bool RandomDriver::isPassedOver(const Shared& shared) const {
  if (shared.isUnsure) return false;
  for (const auto& connection : connections_) {
    const bool isUser = uses(connection->sides[0], shared) || uses(connection->sides[1], shared);
    if (isUser && (connection->mayFail || faults_ || connection->type == driver::QpType::kUc)) return false;
  }
  return !shared.records.empty() && shared.records.front().id < shared.lastTaken;
}

}  // namespace hca::test
