#include "tests/sim/driver/random/random_driver.h"

#include <algorithm>

#include "tests/sim/driver/random/random_driver_state.h"

namespace hca::test {

using driver::VerbsError;

std::string RandomDriver::run(const Script& script) {
  std::size_t number = 0;
  for (const Step& step : script) {
    if (!failure_.empty()) return "step " + std::to_string(number) + ": " + failure_;
    ++number;
    pass(nanoseconds(step.delay));
    perform(step);
    for (const auto& host : hosts_) {
      if (!host->busy) goOn(*host);
    }
  }
  if (failure_.empty()) settle(0);
  return failure_.empty() ? "" : "at the end: " + failure_;
}

// The calendar alone stops at its last event.
void RandomDriver::pass(Time span) {
  kernel::Calendar& calendar = system_->calendar();
  const Time end = calendar.now() + span;
  calendar.schedule(end, kernel::Priority::kSoftware, clock_, 0);
  system_->run(end);
}

void RandomDriver::fail(const std::string& what) {
  if (failure_.empty()) failure_ = what;
}

void RandomDriver::perform(const Step& step) {
  switch (step.kind) {
    case StepKind::kPostSend:
      return postSend(step);
    case StepKind::kPostReceive:
      return postReceive(step);
    case StepKind::kPoll:
      return poll(step);
    case StepKind::kArm:
      return arm(step);
    case StepKind::kSleep:
      return sleep(step);
    case StepKind::kResize:
      return resize(step);
    case StepKind::kModerate:
      return moderate(step);
    case StepKind::kError:
      return error(step);
    case StepKind::kRebuild:
      return rebuild(step);
    case StepKind::kReplaceQueue:
      return replaceQueue(*queues_[step.target % queues_.size()], step.seed);
    case StepKind::kSettle:
      return settle(step.seed);
  }
}

// ---- threads

// True when the thread can be made to do something: at once, after its work, or after it was woken.
bool RandomDriver::becomeIdle(Host& host) {
  if (host.asleep) {
    const auto posted = host.client->postSend(host.kick.handle, {driver::SendWorkRequest{}});
    if (posted.error != VerbsError::kNone) fail("posting to a queue pair in error was refused");
  }
  const Time limit = system_->calendar().now() + milliseconds(20);
  while (host.busy && failure_.empty()) {
    if (system_->calendar().now() > limit) fail("a thread never goes on");
    pass(nanoseconds(500));
  }
  return failure_.empty();
}

void RandomDriver::passCost(Host& host) {
  host.busy = true;
  host.client->afterCost([this, &host] {
    host.busy = false;
    goOn(host);
  });
}

// Between two steps: takes an event, or serves a queue whose event came during a resize.
void RandomDriver::goOn(Host& host) {
  if (host.busy) return;
  for (const auto& queue : queues_) {
    if (queue->host != &host || !queue->alive) continue;
    if (queue->pending != 0) return takeEvent(host);
    if (!queue->serveLater || queue->locked) continue;
    queue->serveLater = false;
    return serve(*queue);
  }
}

void RandomDriver::takeEvent(Host& host) {
  host.busy = true;
  host.client->waitForEvent([this, &host](driver::CqHandle handle) {
    host.asleep = false;
    host.busy = false;
    const auto found = std::find_if(queues_.begin(), queues_.end(), [&](const auto& queue) {
      return queue->host == &host && queue->alive && queue->handle() == handle;
    });
    if (found == queues_.end()) return fail("an event for a queue that is gone");
    Queue& queue = **found;
    if (queue.pending-- == 0) fail("an event that was not delivered");
    host.client->acknowledge(handle, 1);
    if (queue.eventDriven && !queue.locked) return serve(queue);
    queue.serveLater = queue.eventDriven;
    passCost(host);
  });
}

// The order that loses no wake-up: until empty, arm, look again.
void RandomDriver::serve(Queue& queue) {
  constexpr std::size_t kBatch = 16;
  while (drain(queue, kBatch) != 0) {
  }
  queue.host->client->arm(queue.handle(), false);
  queue.host->busy = true;
  queue.host->client->afterArm([this, &queue] {
    queue.host->busy = false;
    if (!queue.alive) return;
    if (queue.locked) {
      queue.serveLater = true;
      return;
    }
    if (drain(queue, kBatch) != 0) return serve(queue);
    passCost(*queue.host);
  });
}

std::size_t RandomDriver::drain(Queue& queue, std::size_t most) {
  if (!queue.alive || queue.locked) return 0;
  std::vector<driver::WorkCompletion> found;
  queue.host->client->poll(queue.handle(), most, found);
  for (const driver::WorkCompletion& completion : found) complete(queue, completion);
  return found.size();
}

// ---- steps

void RandomDriver::poll(const Step& step) {
  Queue& queue = *queues_[step.target % queues_.size()];
  if (queue.eventDriven || queue.host->asleep || !becomeIdle(*queue.host)) return;
  RandomNumbers random(step.seed);
  drain(queue, random.percent(20) ? 1000 : random.between(1, 12));
  passCost(*queue.host);
}

void RandomDriver::arm(const Step& step) {
  Queue& queue = *queues_[step.target % queues_.size()];
  if (queue.eventDriven || queue.locked || queue.host->asleep || !becomeIdle(*queue.host)) return;
  RandomNumbers random(step.seed);
  queue.host->client->arm(queue.handle(), random.percent(40));
  passCost(*queue.host);
}

void RandomDriver::sleep(const Step& step) {
  Host& host = *hosts_[step.target % hosts_.size()];
  if (host.asleep || !becomeIdle(host)) return;
  host.asleep = true;
  takeEvent(host);
}

void RandomDriver::resize(const Step& step) {
  Queue& queue = *queues_[step.target % queues_.size()];
  const auto building = [&](const auto& connection) {
    return connection->building && (connection->sides[0].host == queue.host || connection->sides[1].host == queue.host);
  };
  if (queue.locked || queue.dead || queue.tight || queue.host->asleep || !becomeIdle(*queue.host)) return;
  if (std::any_of(connections_.begin(), connections_.end(), building)) return;
  RandomNumbers random(step.seed);
  const std::uint32_t wanted = random.between(std::max(1U, reserved(queue)), 400);
  queue.locked = true;
  ++controlCalls_;
  queue.created.cqe = std::min(queue.created.cqe, wanted);  // meanwhile
  queue.host->client->resizeCq(queue.handle(), static_cast<std::int32_t>(wanted),
                               [this, &queue, wanted](const driver::CqResized& resized) {
                                 --controlCalls_;
                                 queue.locked = false;
                                 queue.created.cqe = resized.cqe;
                                 if (resized.error != VerbsError::kNone) return fail("a resize was refused");
                                 if (resized.cqe < wanted) fail("a resized queue is too small");
                               });
}

void RandomDriver::moderate(const Step& step) {
  Queue& queue = *queues_[step.target % queues_.size()];
  if (queue.locked || queue.host->asleep || !becomeIdle(*queue.host)) return;
  RandomNumbers random(step.seed);
  const auto count = static_cast<std::uint16_t>(random.percent(40) ? 0 : random.between(1, 20));
  const bool endless = count > 1 && !queue.eventDriven && random.percent(30);
  const auto period = static_cast<std::uint16_t>(endless || count == 0 ? 0 : random.between(1, 40));
  queue.holdsEvents = queue.holdsEvents || endless;
  ++controlCalls_;
  queue.host->client->modifyCq(queue.handle(), count, period, [this, &queue, endless](VerbsError error) {
    --controlCalls_;
    queue.holdsEvents = endless;
    if (error != VerbsError::kNone) fail("moderation was refused");
  });
}

void RandomDriver::error(const Step& step) {
  Connection& connection = *connections_[step.target % connections_.size()];
  Side& side = connection.sides[step.seed % 2];
  if (!connection.up || side.host->asleep || !becomeIdle(*side.host)) return;
  connection.mayFail = true;
  side.toldToFail = true;
  ++controlCalls_;
  side.host->client->modifyToError(side.qp.handle, [this](VerbsError error) {
    --controlCalls_;
    if (error != VerbsError::kNone) fail("a queue pair doesn't go to error");
  });
}

void RandomDriver::rebuild(const Step& step) {
  Connection& connection = *connections_[step.target % connections_.size()];
  if (!connection.up) return;
  for (Side& side : connection.sides) {
    if (side.host->asleep || isLocked(side)) return;
  }
  tearDown(connection, [this, &connection, seed = step.seed] { build(connection, seed); });
}

bool RandomDriver::isLocked(const Side& side) const {
  return side.sendQueue->locked || side.receiveQueue->locked ||
         std::any_of(shared_.begin(), shared_.end(), [&](const auto& shared) {
           return shared->isXrc() && shared->host == side.host && shared->queue->locked;
         });
}

// ---- who is who

std::string RandomDriver::nameOf(const Side& side) {
  constexpr const char* kTypes[] = {"RC", "UC", "UD", "XRC", "XRC"};
  return std::string(kTypes[static_cast<std::size_t>(side.connection->type)]) + " queue pair " +
         std::to_string(side.qp.number.value()) + " of host " + std::to_string(side.host->index);
}

RandomDriver::Side* RandomDriver::sideOf(const Host& host, QpNumber number) {
  for (const auto& connection : connections_) {
    for (Side& side : connection->sides) {
      if (!side.exists || side.host != &host) continue;
      if (side.qp.number == number || (connection->isXrc() && side.target.number == number)) return &side;
    }
  }
  return nullptr;
}

RandomDriver::Side& RandomDriver::peerOf(Side& side) {
  Connection& connection = *side.connection;
  return connection.sides[&side == &connection.sides[0] ? 1 : 0];
}

Circumstances RandomDriver::circumstances(const Side& side, const Queue& queue) const {
  const Connection& connection = *side.connection;
  Circumstances result;
  result.reliable = connection.reliable();
  result.mayFail = connection.mayFail || (faults_ && connection.reliable());
  for (const Side& each : connection.sides) {
    for (const Queue* used : {each.sendQueue, each.receiveQueue}) {
      result.mayFail = result.mayFail || used->dead || (used->tight && !used->ignoreOverrun);
    }
  }
  result.lossy = queue.lossy();
  return result;
}

// Requests that may still put an entry into the queue, or have done so.
std::uint32_t RandomDriver::reserved(const Queue& queue) const {
  std::size_t count = 0;
  for (const auto& connection : connections_) {
    for (const Side& side : connection->sides) {
      if (!side.exists) continue;
      if (side.sendQueue == &queue) count += side.sends.records().size();
      if (side.receiveQueue == &queue) count += side.receives.records().size();
    }
  }
  for (const auto& shared : shared_) {
    const auto isReached = [&](const Side& side) { return side.shared == shared.get() && side.receiveQueue == &queue; };
    const bool counts =
        shared->queue == &queue || std::any_of(connections_.begin(), connections_.end(), [&](const auto& connection) {
          return isReached(connection->sides[0]) || isReached(connection->sides[1]);
        });
    if (counts) count += shared->records.size();
  }
  return static_cast<std::uint32_t>(count);
}

}  // namespace hca::test
