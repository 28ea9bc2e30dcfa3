// What holds when nothing happens any more.
#include <algorithm>

#include "tests/sim/driver/random/random_driver_state.h"

namespace hca::test {

// Longer than all retries of a request whose peer is gone.
void RandomDriver::settle(std::uint32_t seed) {
  constexpr int kMilliseconds = 14;
  waitForControl();
  for (int i = 0; i < kMilliseconds && failure_.empty(); ++i) {
    pass(milliseconds(1));
    for (const auto& host : hosts_) {
      if (becomeIdle(*host)) goOn(*host);
    }
  }
  lookForSleepers();
  // Behind a receiver that is never ready a requester goes on trying, and may give up at any time where packets are
  // lost: what isn't at rest because of that is so the next time.
  constexpr int kTries = 3;
  for (int i = 1; failure_.empty(); ++i) {
    const std::string problem = restProblem();
    if (problem.empty()) break;
    if (i == kTries) return fail(problem);
    lookForSleepers();
  }
  if (failure_.empty()) checkContentAtRest();
  if (!failure_.empty()) return;
  for (const auto& host : hosts_) host->pool.recycle();
  RandomNumbers random(seed);
  for (const auto& queue : queues_) {
    if (queue->dead) replaceQueue(*queue, static_cast<std::uint32_t>(random.next()));
  }
  replaceUnsure(static_cast<std::uint32_t>(random.next()));
  for (const auto& connection : connections_) {
    const auto failed = [](const Side& side) {
      return side.sends.failed() || side.receives.failed() || side.receiveFailed || side.toldToFail;
    };
    const bool failedNow = failed(connection->sides[0]) || failed(connection->sides[1]);
    if (!failedNow || random.percent(20)) continue;
    const auto next = static_cast<std::uint32_t>(random.next());
    tearDown(*connection, [this, &connection, next] { build(*connection, next); });
  }
  waitForControl();
}

// Takes what nobody polls. The consumer of a queue that it serves by event gets one for what was there, or has got it
// and not yet looked.
void RandomDriver::lookForSleepers() {
  std::vector<std::pair<const Queue*, std::uint64_t>> found;
  for (const auto& queue : queues_) {
    if (!failure_.empty() || !becomeIdle(*queue->host)) return;
    const std::uint64_t events = queue->events->delivered();
    const bool isWoken = queue->pending != 0 || queue->serveLater;
    if (drain(*queue, 1U << 20) != 0 && queue->eventDriven && !isWoken) found.emplace_back(queue.get(), events);
    passCost(*queue->host);
  }
  for (const auto& host : hosts_) becomeIdle(*host);
  pass(milliseconds(1));
  for (const auto& [queue, events] : found) {
    if (queue->events->delivered() == events) fail("a consumer sleeps over completions: a wake-up is lost");
  }
  for (const auto& host : hosts_) {
    if (becomeIdle(*host)) goOn(*host);
  }
}

std::string RandomDriver::restProblem() {
  for (const auto& queue : queues_) {
    const std::string problem = queue->events->atRest(queue->holdsEvents || queue->dead);
    if (!problem.empty()) {
      return "completion queue " + std::to_string(queue->created.number.value()) + ": " + problem;
    }
  }
  for (const auto& connection : connections_) {
    for (Side& side : connection->sides) {
      const std::string problem = restProblem(side);
      if (!problem.empty()) return nameOf(side) + ": " + problem;
    }
  }
  const bool passesOver =
      std::any_of(shared_.begin(), shared_.end(), [&](const auto& shared) { return isPassedOver(*shared); });
  return passesOver ? "an entry of a shared receive queue was passed over" : "";
}

std::string RandomDriver::restProblem(Side& side) {
  const bool inError = side.sends.failed() || side.receives.failed() || side.toldToFail ||
                       (side.receiveFailed && !side.connection->isXrc());
  std::uint64_t blockedFrom = side.connection->reliable() ? peerOf(side).receivesPosted : kNoMessage;
  if (sharesReceives(peerOf(side)) && maySleepOn(peerOf(side))) blockedFrom = 0;
  const std::string problem = side.sends.atRest(inError, side.sendQueue->lossy(), blockedFrom);
  return problem.empty() ? side.receives.atRest(false, side.receiveQueue->lossy(), 0) : problem;
}

void RandomDriver::checkContentAtRest() {
  for (const auto& connection : connections_) {
    for (Side& side : connection->sides) {
      if (connection->reliable()) {
        checkWrites(side, side.doneThrough + 1);
      } else {
        side.messages.clear();
      }
    }
  }
}

}  // namespace hca::test
