#include "models/adapter/event/eq_engine.h"

#include <algorithm>
#include <cassert>

#include "models/adapter/event/eqe_builder.h"
#include "models/adapter/event/ring_index.h"
#include "models/adapter/event/ring_pages.h"
#include "models/wire/doorbell.h"

namespace hca::adapter {
namespace {

/// Numbers start at 1: a context that was left zero must not match by chance.
constexpr std::uint32_t kFirstNumber = 1;
constexpr CommandResult kUnknown{CommandStatus::kBadResource, Syndrome::kUnknownEq};

/// The token of an EQE write.
struct Token {
  using Serial = wire::Field<std::uint64_t, 31, 24>;
  using Number = wire::Field<std::uint64_t, 23, 0>;
};

CommandResult check(const EqAttributes& attributes, const EventConfig& config) {
  if (attributes.logSize > config.logMaxEqSize) return {CommandStatus::kExceedLimit, Syndrome::kEqSizeOutOfRange};
  if (attributes.vector.value() >= config.vectors) {
    return {CommandStatus::kBadParameter, Syndrome::kEqVectorOutOfRange};
  }
  if (!ringPagesFit(attributes.ring, attributes.logSize, wire::kEqeSize)) {
    return {CommandStatus::kBadParameter, Syndrome::kEqPagesWrong};
  }
  return {};
}

}  // namespace

EqEngine::EqEngine(const AdapterContext& context, const EventConfig& config, MsixTable& vectors)
    : context_(context),
      config_(config),
      vectors_(vectors),
      buildTime_(context.clock.span(config.eqeBuildCycles)),
      writeTime_(context.clock.span(config.eqeWriteCycles)),
      armTime_(context.clock.span(config.armLatencyCycles)),
      numbers_(kFirstNumber, static_cast<std::uint32_t>(config.maxEqs)),
      events_(context.calendar, kernel::Priority::kAdapter, *this, &EqEngine::onPending),
      doorbells_(context.calendar, kernel::Priority::kAdapter, *this, &EqEngine::onDoorbellArrival) {}

CommandResult EqEngine::create(const EqAttributes& attributes, EqNumber& number) {
  if (const CommandResult result = check(attributes, config_); !result.ok()) return result;
  const auto index = numbers_.allocate();
  if (!index) return {CommandStatus::kNoResources, Syndrome::kEqLimit};
  if (*index >= queues_.size()) queues_.resize(*index + 1);
  auto queue = std::make_unique<EventQueue>();
  queue->number = EqNumber(*index);
  queue->serial = nextSerial_++;
  queue->attributes = attributes;
  queue->attributes.status = EqStatus::kOk;
  queue->attributes.state = EqState::kIdle;
  queues_[*index] = std::move(queue);
  number = EqNumber(*index);
  return {};
}

CommandResult EqEngine::destroy(EqNumber number) {
  const EventQueue* const queue = lookup(number.value());
  if (queue == nullptr) return kUnknown;
  if (queue->holders != 0) return {CommandStatus::kResourceBusy, Syndrome::kEqInUse};
  queues_[number.value()].reset();
  numbers_.release(number.value());
  return {};
}

CommandResult EqEngine::query(EqNumber number, EqAttributes& attributes) const {
  const EventQueue* const queue = find(number);
  if (queue == nullptr) return kUnknown;
  attributes = queue->attributes;
  attributes.consumerCounter = truncateIndex24(queue->consumed);
  attributes.producerCounter = truncateIndex24(queue->produced);
  return {};
}

bool EqEngine::accepts(EventType type) const {
  return std::any_of(queues_.begin(), queues_.end(), [type](const auto& queue) {
    return queue != nullptr && queue->takes(static_cast<std::uint8_t>(type));
  });
}

CommandResult EqEngine::attach(EqNumber number) {
  EventQueue* const queue = lookup(number.value());
  if (queue == nullptr) return kUnknown;
  ++queue->holders;
  return {};
}

void EqEngine::detach(EqNumber number) {
  EventQueue* const queue = lookup(number.value());
  assert(queue != nullptr && queue->holders != 0);
  --queue->holders;
}

void EqEngine::raiseCompletion(EqNumber eq, CqNumber cq) {
  const EventQueue* const queue = lookup(eq.value());
  if (queue == nullptr) {
    ++counters_.queueGone;
    return;
  }
  EventRecord event;
  event.object = cq.value();
  enqueue(*queue, event);
}

void EqEngine::raise(const EventRecord& event) {
  if (event.type != EventType::kCommand && event.type != EventType::kPageRequest) {
    context_.probes.async.fire([&] {
      return observe::AsyncEvent{context_.now(), context_.host, context_.adapter, static_cast<std::uint8_t>(event.type),
                                 event.subType,  event.object,  event.syndrome};
    });
  }
  bool claimed = false;
  for (const auto& queue : queues_) {
    if (queue == nullptr || !queue->takes(static_cast<std::uint8_t>(event.type))) continue;
    enqueue(*queue, event);
    claimed = true;
  }
  if (!claimed) ++counters_.unclaimed;
}

void EqEngine::enqueue(const EventQueue& queue, const EventRecord& event) {
  builderFree_ = later(builderFree_, context_.now()) + buildTime_;
  events_.send(builderFree_ + writeTime_, {event, queue.number, queue.serial});
}

void EqEngine::onPending(Pending& pending) {
  EventQueue* const queue = lookup(pending.eq.value());
  if (queue == nullptr || queue->serial != pending.serial || queue->attributes.status != EqStatus::kOk) {
    ++counters_.queueGone;
    return;
  }
  if (isFull(*queue, pending.event.type)) {
    ++queue->counters.overflows;
    return reportHealth(HealthSyndrome::kEqOverrun);
  }
  write(*queue, pending.event);
}

bool EqEngine::isFull(const EventQueue& queue, EventType type) {
  if (queue.produced - queue.consumed >= queue.size() && !queue.attributes.ignoreOverrun) return true;
  for (auto overflow = overflows_.begin(); overflow != overflows_.end(); ++overflow) {
    if (overflow->eq != queue.number || !overflow->occasions.take()) continue;
    const auto happened = overflow->happened;
    if (overflow->occasions.isOver()) overflows_.erase(overflow);
    if (happened) happened(type);
    return true;
  }
  return false;
}

void EqEngine::write(EventQueue& queue, const EventRecord& event) {
  const wire::Eqe eqe = buildEqe(event, (queue.produced >> queue.attributes.logSize & 1) != 0);
  pcie::DmaWrite write;
  write.address = queue.attributes.ring.address((queue.produced & (queue.size() - 1)) * wire::kEqeSize);
  write.data = bytesOf(eqe);
  write.length = wire::kEqeSize;
  write.traffic = pcie::Traffic::kEqe;
  write.client = this;
  write.token = Token::Serial::make(queue.serial) | Token::Number::make(queue.number.value());
  context_.probes.entry.fire([&] {
    return observe::EntryEvent{observe::EntryEvent::Queue::kEvent,
                               context_.now(),
                               context_.host,
                               context_.adapter,
                               queue.number.value(),
                               queue.produced,
                               bytesOf(eqe)};
  });
  context_.dma.write(write);
  ++queue.produced;
  ++queue.counters.events;
  if (queue.attributes.state == EqState::kArmed) interrupt(queue);
}

void EqEngine::onDoorbell(UarIndex uar, std::uint32_t word, bool arm) {
  doorbells_.send(context_.now() + armTime_, {uar, word, arm});
}

void EqEngine::onDoorbellArrival(Doorbell& doorbell) {
  const auto request = wire::EqDoorbell::fromWord(doorbell.word);
  EventQueue* const queue = lookup(request.eq);
  if (queue == nullptr) {
    ++counters_.doorbellsUnknownEq;
    return;
  }
  if (queue->attributes.uar != doorbell.uar) {
    ++counters_.doorbellsWrongUar;
    return;
  }
  const std::uint64_t consumer = extendIndex24(request.consumerIndex, queue->produced);
  if (consumer > queue->produced) {
    ++counters_.doorbellsNonsense;
    return;
  }
  queue->consumed = std::max(queue->consumed, consumer);
  if (!doorbell.arm) return;
  ++queue->counters.arms;
  queue->attributes.state = EqState::kArmed;
  if (queue->produced != queue->consumed) interrupt(*queue);
}

void EqEngine::interrupt(EventQueue& queue) {
  queue.attributes.state = EqState::kFired;
  ++queue.counters.interrupts;
  vectors_.fire(queue.attributes.vector);
}

void EqEngine::reportHealth(HealthSyndrome syndrome) {
  if (healthSyndrome_ == HealthSyndrome::kNone) healthSyndrome_ = syndrome;
  if (health_ != nullptr) health_->onHealthProblem(syndrome);
}

void EqEngine::onDmaWritten(std::uint64_t token, host::DmaStatus status) {
  if (status == host::DmaStatus::kOk) return;
  EventQueue* const queue = lookup(static_cast<std::uint32_t>(Token::Number::get(token)));
  if (queue == nullptr || queue->serial != Token::Serial::get(token)) return;
  queue->attributes.status = EqStatus::kWriteFailed;
  reportHealth(HealthSyndrome::kEqError);
}

void EqEngine::reset() {
  queues_.clear();
  numbers_.reset();
  healthSyndrome_ = HealthSyndrome::kNone;
}

EqNumber EqEngine::queueOf(EventType type) const {
  for (const auto& queue : queues_) {
    if (queue != nullptr && queue->takes(static_cast<std::uint8_t>(type))) return queue->number;
  }
  return EqNumber(0);
}

const EventQueue* EqEngine::find(EqNumber number) const {
  return number.value() < queues_.size() ? queues_[number.value()].get() : nullptr;
}

EventQueue* EqEngine::lookup(std::uint32_t number) { return number < queues_.size() ? queues_[number].get() : nullptr; }

}  // namespace hca::adapter
