#include "sim/observers/latency_observer.h"

#include <algorithm>
#include <utility>

#include "sim/observers/stage_names.h"

namespace hca::observers {

namespace {

constexpr std::size_t kFirstSlots = 64;

constexpr std::uint32_t bitOf(observe::Stage stage) { return 1U << static_cast<unsigned>(stage); }

}  // namespace

LatencyObserver::LatencyObserver(observe::Probes& probes) {
  probes.stage.attach([this](const observe::StageEvent& event) { onStage(event); });
}

void LatencyObserver::onStage(const observe::StageEvent& event) {
  const observe::WorkRequestId& id = event.request;
  if (id.queue != observe::WorkQueue::kSend) return;
  const std::uint32_t number = index_.add(id.host, id.adapter, id.qp.value());
  if (number >= queues_.size()) queues_.resize(number + 1);
  Queue& queue = queues_[number];
  if (event.stage == observe::Stage::kPosted) return open(queue, event);
  if (queue.slots.empty()) return;
  Request& request = queue.slots[id.index & (queue.slots.size() - 1)];
  if (request.passed == 0 || request.index != id.index) return;
  if (event.stage == observe::Stage::kPolled) queue.retired = std::max(queue.retired, id.index + 1);
  if ((request.passed & bitOf(event.stage)) != 0) return;
  request.passed |= bitOf(event.stage);
  request.at[static_cast<std::size_t>(event.stage)] = event.time;
}

// A slot is reused only when its request left the queue; until then late stages (the responder's) still find it.
void LatencyObserver::open(Queue& queue, const observe::StageEvent& event) {
  const std::uint64_t index = event.request.index;
  if (queue.slots.empty()) queue.slots.resize(kFirstSlots);
  for (;;) {
    Request& slot = queue.slots[index & (queue.slots.size() - 1)];
    if (slot.passed == 0) break;
    if (slot.index < queue.retired || slot.index >= index) {
      close(queue, slot);
      break;
    }
    grow(queue);
  }
  Request& request = queue.slots[index & (queue.slots.size() - 1)];
  request.index = index;
  request.passed = bitOf(observe::Stage::kPosted);
  request.at[0] = event.time;
}

void LatencyObserver::grow(Queue& queue) {
  std::vector<Request> larger(queue.slots.size() * 2);
  for (Request& request : queue.slots) {
    if (request.passed != 0) larger[request.index & (larger.size() - 1)] = request;
  }
  queue.slots = std::move(larger);
}

void LatencyObserver::close(Queue& queue, Request& request) {
  const std::uint32_t passed = std::exchange(request.passed, 0U);
  const Time posted = request.at[0];
  if (posted < queue.from) return;
  std::array<std::size_t, kStages> order{};
  std::size_t count = 0;
  for (std::size_t stage = 0; stage < kStages; ++stage) {
    if ((passed >> stage & 1U) != 0) order[count++] = stage;
  }
  // Nearly sorted: the responder's stages alone may come later than the next ones.
  const auto earlier = [&](std::size_t a, std::size_t b) { return request.at[a] < request.at[b]; };
  std::stable_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), earlier);
  Time before = posted;
  for (std::size_t i = 0; i < count; ++i) {
    const Time at = request.at[order[i]];
    const Time step = at - before;
    Sums& sums = queue.sums[order[i]];
    ++sums.samples;
    sums.total += step;
    sums.sincePosted += at - posted;
    sums.minimum = step < sums.minimum ? step : sums.minimum;
    sums.maximum = later(sums.maximum, step);
    before = at;
  }
}

void LatencyObserver::closeRetired(Queue& queue) {
  for (Request& request : queue.slots) {
    if (request.passed != 0 && request.index < queue.retired) close(queue, request);
  }
}

void LatencyObserver::measureFrom(HostIndex host, AdapterIndex adapter, QpNumber qp, Time from) {
  const std::uint32_t number = index_.add(host, adapter, qp.value());
  if (number >= queues_.size()) queues_.resize(number + 1);
  queues_[number].from = from;
  queues_[number].sums = {};
}

std::vector<report::StageResult> LatencyObserver::stages(const std::vector<QueuePair>& queuePairs) {
  std::array<Sums, kStages> all{};
  for (const QueuePair& pair : queuePairs) {
    const std::uint32_t number = index_.find(pair.host, pair.adapter, pair.qp.value());
    if (number == ObjectIndex::kNone) continue;
    closeRetired(queues_[number]);
    for (std::size_t stage = 0; stage < kStages; ++stage) {
      const Sums& one = queues_[number].sums[stage];
      all[stage].samples += one.samples;
      all[stage].total += one.total;
      all[stage].sincePosted += one.sincePosted;
      all[stage].minimum = one.minimum < all[stage].minimum ? one.minimum : all[stage].minimum;
      all[stage].maximum = later(all[stage].maximum, one.maximum);
    }
  }
  std::vector<report::StageResult> results;
  for (std::size_t stage = 1; stage < kStages; ++stage) {  // the post call itself is time zero
    const Sums& sums = all[stage];
    if (sums.samples == 0) continue;
    const auto mean = [&](Time total) { return Time(total.count() / static_cast<std::int64_t>(sums.samples)); };
    results.push_back({name(static_cast<observe::Stage>(stage)), sums.samples, mean(sums.sincePosted), sums.minimum,
                       mean(sums.total), sums.maximum});
  }
  return results;
}

std::string slowestStage(const std::vector<report::StageResult>& stages) {
  const auto slowest =
      std::max_element(stages.begin(), stages.end(), [](const auto& a, const auto& b) { return a.mean < b.mean; });
  return slowest == stages.end() ? std::string() : slowest->name;
}

}  // namespace hca::observers
