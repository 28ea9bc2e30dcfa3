#include "sim/driver/thread_client.h"

#include <utility>

#include "models/wire/mmio_map.h"

namespace hca::driver {

ThreadClient::ThreadClient(const DriverEnvironment& environment, DriverRole& driver, const DriverConfig& config,
                           observe::Probes& probes, std::size_t core, std::string name, std::uint8_t port)
    : environment_(environment),
      driver_(driver),
      probes_(probes),
      name_(std::move(name)),
      port_(port),
      preferBlueFlame_(config.prefer_blueflame),
      confirmArm_(config.confirm_arm),
      largestLogPage_(static_cast<unsigned>(config.largest_page)),
      memory_(environment.space, name_),
      records_(memory_),
      thread_(environment.calendar, environment_.cpu.core(core), environment_.cpu.config()),
      registerAccesses_(environment.calendar, kernel::Priority::kSoftware, *this, &ThreadClient::issue),
      deadline_(environment.calendar, kernel::Priority::kSoftware, *this, &ThreadClient::onDeadline),
      owner_(driver.addClient(*this, name_.c_str())) {}

ThreadClient::~ThreadClient() {
  for (const auto& cq : cqs_) {
    if (cq) memory_.space().unwatch(cq->buffer.bus, cq->buffer.length, *cq);
  }
  if (byte_ != nullptr) memory_.space().unwatch(byteBus_, 1, *this);
  driver_.releaseOwner(owner_, [] {});
}

std::uint64_t ThreadClient::allocate(std::uint64_t length, std::uint64_t alignment) {
  return memory_.memory().allocate(length, alignment);
}

void ThreadClient::release(std::uint64_t address) { memory_.memory().free(address); }

std::uint8_t* ThreadClient::bytes(std::uint64_t address, std::uint64_t length) {
  return memory_.memory().direct(address, length);
}

void ThreadClient::afterCost(Step next) {
  step_ = std::move(next);
  thread_.afterCost(*this, kStep);
}

void ThreadClient::afterArm(Step next) {
  if (!confirmArm_) return afterCost(std::move(next));
  step_ = std::move(next);
  RegisterAccess access;
  access.kind = RegisterAccess::Kind::kReadBack;
  registerAccesses_.send(thread_.time(), access);
  // The core waits for the answer: it goes on at once when that is there.
  thread_.spin(picoseconds(1), *this, kStep);
}

void ThreadClient::sleepFor(Time span, Step next) {
  step_ = std::move(next);
  thread_.sleepFor(span, *this, kStep);
}

void ThreadClient::whenNotEmpty(const std::vector<CqHandle>& cqs, std::function<void(CqHandle)> next) {
  cqStep_ = std::move(next);
  const auto round = static_cast<std::int64_t>(cqs.size());
  for (std::uint32_t position = 0; position < cqs.size(); ++position) {
    if (!cqOf(cqs[position]).ring.ready()) continue;
    found_ = cqs[position];
    thread_.charge(cost().pollEmpty * std::int64_t{position});
    return thread_.afterCost(*this, kEntryFound);
  }
  for (std::uint32_t position = 0; position < cqs.size(); ++position) {
    ClientCq& cq = cqOf(cqs[position]);
    cq.spinning = true;
    cq.spinPosition = position;
    reportEmpty(cq);
  }
  spinning_ = &cqs;
  thread_.spin(cost().pollEmpty * round, *this, kEntryFound);
}

void ThreadClient::whenNotEmptyUntil(const std::vector<CqHandle>& cqs, Time deadline,
                                     std::function<void(CqHandle)> next) {
  whenNotEmpty(cqs, std::move(next));
  if (spinning_ != nullptr) deadline_.set(later(deadline, environment_.calendar.now()));
}

void ThreadClient::onDeadline() {
  if (spinning_ == nullptr) return;
  found_ = spinning_->front();
  stopSpinning();
  thread_.found();
}

void ThreadClient::onEntryWritten(ClientCq& cq) {
  if (!cq.ring.ready()) return;  // half of a wide entry
  found_ = cq.handle;
  stopSpinning();
  thread_.found(cost().pollEmpty * std::int64_t{cq.spinPosition});
}

// A few queue pairs stay in the processor's cache, unlike the entry that would be looked at.
void ThreadClient::expectEntry(const ClientCq& cq, std::uint64_t end) {
  constexpr std::uint32_t kFew = 64;
  if (nextQp_ > kFew) prefetchForMessage(qps_.find(cq.ring.userIndexBefore(end)));
}

void ThreadClient::stopSpinning() {
  deadline_.cancel();
  for (const CqHandle handle : *std::exchange(spinning_, nullptr)) cqOf(handle).spinning = false;
}

void ThreadClient::whenByte(std::uint64_t address, std::uint8_t value, Step next) {
  step_ = std::move(next);
  if (address != byteAddress_ || byte_ == nullptr) {
    if (byte_ != nullptr) memory_.space().unwatch(byteBus_, 1, *this);
    byteAddress_ = address;
    byte_ = bytes(address, 1);
    for (const auto& mr : mrs_) {
      if (mr && address >= mr->address && address - mr->address < mr->length) {
        byteBus_ = advance(mr->bus, address - mr->address);
      }
    }
    memory_.space().watch(byteBus_, 1, *this);
  }
  byteValue_ = value;
  if (*byte_ == value) return thread_.afterCost(*this, kStep);
  waitsForByte_ = true;
  thread_.spin(cost().pollEmpty, *this, kStep);
}

void ThreadClient::onMemoryWritten(BusAddress, std::uint64_t) {
  if (!waitsForByte_ || *byte_ != byteValue_) return;
  waitsForByte_ = false;
  thread_.found();
}

void ThreadClient::waitForEvent(std::function<void(CqHandle)> next) {
  cqStep_ = std::move(next);
  if (!channel_.empty()) {
    thread_.charge(cost().getEvent);
    return thread_.afterCost(*this, kEvent);
  }
  for (const auto& cq : cqs_) {
    if (cq && cq->withChannel) reportCq(observe::CqAction::kSleep, *cq);
  }
  waitsForEvent_ = true;
  thread_.sleep(*this, kEvent);
}

void ThreadClient::onCompletionEvent(CqNumber number, host::Core& core) {
  ClientCq* cq = number.value() < cqsByNumber_.size() ? cqsByNumber_[number.value()] : nullptr;
  if (cq == nullptr) return;  // destroyed while its event was under way
  if (!cq->withChannel) {
    ++eventsWithoutChannel_;
    return;
  }
  probes_.cq.fire([&] {
    return observe::CqEvent{observe::CqAction::kEventDelivered,
                            environment_.calendar.now(),
                            environment_.host,
                            environment_.adapter,
                            number,
                            cq->ring.consumerIndex()};
  });
  channel_.push(cq->handle);
  if (waitsForEvent_) thread_.wake(core);
}

void ThreadClient::takeEvent() {
  ClientCq& cq = cqOf(channel_.pop());
  if (std::exchange(waitsForEvent_, false)) {
    for (const auto& each : cqs_) {
      if (each && each->withChannel) reportCq(observe::CqAction::kWake, *each);
    }
    thread_.charge(cost().getEvent);
  }
  cq.ring.countEvent();
  ++cq.eventsTaken;
  const auto next = std::move(cqStep_);
  next(cq.handle);
}

void ThreadClient::acknowledge(CqHandle handle, std::uint32_t events) {
  thread_.charge(cost().ackEvent);
  ClientCq& cq = cqOf(handle);
  cq.eventsAcknowledged += events;
  if (cq.destroyed && cq.eventsAcknowledged >= cq.eventsTaken) finishDestroyCq(cq);
}

void ThreadClient::onCalendar(std::uint64_t token) {
  if (token == kEvent) return takeEvent();
  if (token == kEntryFound) {
    const auto next = std::move(cqStep_);
    return next(found_);
  }
  const Step next = std::move(step_);
  next();
}

void ThreadClient::onAsyncEvent(std::function<void(std::uint8_t type, std::uint32_t object)> handler) {
  asyncHandler_ = std::move(handler);
}

void ThreadClient::onAsyncEvent(std::uint8_t type, std::uint8_t, std::uint32_t object, std::uint8_t) {
  if (asyncHandler_) asyncHandler_(type, object);
}

}  // namespace hca::driver
