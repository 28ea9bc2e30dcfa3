// What programs ask for: when it takes effect, and what becomes of it.
#include "sim/cosim/cosim_server.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "models/wire/mmio_map.h"

namespace hca::cosim {
namespace {

using channel::Kind;
using channel::Reply;
using channel::Request;

constexpr std::uint64_t kLongestSleep = 1'000'000'000'000;  // nanoseconds

Time simulatedSpan(std::uint64_t span) { return nanoseconds(static_cast<std::int64_t>(std::min(span, kLongestSleep))); }

// Reading the clock takes next to no time, but some: loops that wait for it end. A program that reads nothing else for
// long waits for the clock: its reads take longer and longer, so that it need not make millions of them.
Time clockCost(std::uint32_t reads) {
  constexpr std::uint32_t kPatience = 64, kMost = 12;
  constexpr Time kRead = nanoseconds(1);
  return kRead * (std::int64_t{1} << std::min(reads / kPatience, kMost));
}

bool isBarAccess(std::uint64_t offset, std::uint32_t length) {
  if (offset >= wire::kUarPageSize) return false;
  constexpr std::uint32_t kWord = 8, kLine = 64;
  const bool isPlain = length == 1 || length == 2 || length == 4 || length == kWord;
  if (isPlain) return offset % length == 0;
  return length != 0 && length <= kLine && length % kWord == 0 && offset % kWord == 0 &&
         offset % kLine + length <= kLine;
}

}  // namespace

const host::CpuConfig& CosimServer::cpu(Thread thread) { return sessionOf(thread).host().cpu().config(); }

bool CosimServer::isArm(const Request& request) const {
  return request.kind == Kind::kRegisterWrite && request.argument[1] == wire::UarPage::kCqArm &&
         !RegisterPage::decode(request.argument[0]).isDeviceMemory();
}

Time CosimServer::costOf(Thread thread, const Request& request) {
  const host::CpuConfig& cost = cpu(thread);
  constexpr std::uint32_t kBlock = 64;
  switch (request.kind) {
    case Kind::kRegisterWrite:
      // Of device memory a line at a time leaves the core, however many stores fill it.
      if (RegisterPage::decode(request.argument[0]).isDeviceMemory()) {
        return Time(cost.writeCombining.count() * request.length / kBlock);
      }
      if (isArm(request)) return cost.arm + cost.doorbell;
      if (request.length < kBlock) return cost.postCall + cost.postPerWqe + cost.postPerSge + cost.doorbell;
      // The lines behind the first of a copy belong to the same request.
      if (request.argument[1] % wire::UarPage::kBlueFlameHalf != 0) return cost.writeCombining;
      return cost.postCall + cost.postPerWqe + cost.postPerSge + cost.writeCombining;
    case Kind::kPollEmpty:
      return cost.pollEmpty;
    case Kind::kReadClock:
      return clockCost(threads_[thread].clockReads);
    case Kind::kSleep:
      return simulatedSpan(request.argument[0]);
    default:
      return Time();
  }
}

void CosimServer::answerLater(Thread thread, CallState state) {
  threads_[thread].state = state;
  if (state == CallState::kMemory || state == CallState::kEvent || state == CallState::kThread) {
    lockstep_.wait(thread);
  } else {
    lockstep_.waitUntilClock(thread);
  }
}

void CosimServer::joinThread(Thread thread) {
  const SessionId session = threads_[thread].session;
  const int number = static_cast<int>(threads_[thread].request.argument[0]);
  const std::vector<Thread>& all = sessionThreads_[session];
  const bool runs = std::any_of(all.begin(), all.end(),
                                [&](Thread each) { return each != thread && threads_[each].probe.number() == number; });
  if (runs) return answerLater(thread, CallState::kThread);
  const auto end = ends_.find({session, number});
  if (end != ends_.end()) {
    lockstep_.arrive(thread, end->second);
    ends_.erase(end);
  }
  answer(thread, 0);
}

// Who waits for its end goes on at that time.
void CosimServer::noteEnd(Thread thread) {
  const SessionId session = threads_[thread].session;
  const int number = threads_[thread].probe.number();
  for (const Thread each : sessionThreads_[session]) {
    const ThreadState& state = threads_[each];
    if (state.state != CallState::kThread || static_cast<int>(state.request.argument[0]) != number) continue;
    lockstep_.arrive(each, lockstep_.clock(thread));
    return answer(each, 0);
  }
  constexpr std::size_t kMost = 10000;  // threads that nobody waits for
  if (ends_.size() < kMost) ends_[{session, number}] = lockstep_.clock(thread);
}

void CosimServer::submit(Thread thread, const Request& request) {
  ThreadState& state = threads_[thread];
  channel::copy(state.request, request);
  ++state.call;
  state.reply = {};
  state.spins = false;
  state.isInterrupted = false;
  state.lastLook = {};
  if (isLockstep()) hasPace_ = false;  // what wall time was not used before is no credit
  state.clockReads = request.kind == Kind::kReadClock ? state.clockReads + 1 : 0;
  const Time now = later(reached_, system_.calendar().now());
  lockstep_.arrive(thread, now);
  lockstep_.charge(thread, cpu(thread).pollCompletion * std::int64_t{request.completions});
  lockstep_.charge(thread, cpu(thread).getEvent * std::int64_t{request.events});
  lockstep_.charge(thread, costOf(thread, request));
  switch (request.kind) {
    case Kind::kPollEmpty:
      if (state.memoryChanged) return answer(thread, 0);
      return answerLater(thread, CallState::kMemory);
    case Kind::kWaitForEvent:
      if (state.eventDelivered) return answer(thread, 0);
      answerLater(thread, CallState::kEvent);
      if (request.argument[1] == 0) return;
      state.deadline = lockstep_.clock(thread) + simulatedSpan(request.argument[1]);
      pending_.insert({state.deadline, thread, state.call});
      return;
    case Kind::kJoinThread:
      return joinThread(thread);
    case Kind::kThreadEnds:
      noteEnd(thread);
      state.state = CallState::kAnswered;
      return lockstep_.remove(thread);
    case Kind::kReadClock:
    case Kind::kSleep:
      return answerLater(thread, CallState::kUntil);
    case Kind::kSpinning:
      ++forcedAdvances_;
      if (state.changedSinceInterrupt) return answer(thread, 0);
      return answerLater(thread, CallState::kMemory);
    case Kind::kUnmapMemory:
      sessionOf(thread).memory().forget(request.argument[0], request.argument[1]);
      return answer(thread, 0);
    case Kind::kRegisterWrite:
      if (!sessionOf(thread).mayAccess(RegisterPage::decode(request.argument[0])) ||
          !isBarAccess(request.argument[1], request.length)) {
        return answer(thread, EINVAL);
      }
      break;
    default:
      break;
  }
  const bool isPosted = request.kind == Kind::kRegisterWrite && !isArm(request);
  state.lastDeed = isPosted ? "posted work" : isArm(request) ? "armed a completion queue" : "called the driver";
  state.lastDeedAt = lockstep_.clock(thread);
  answerLater(thread, isPosted ? CallState::kUntil : CallState::kCommand);
  pending_.insert({lockstep_.clock(thread), thread, state.call});
}

// What threads do up to `limit` gets its place in the calendar. Threads that run don't act before their clocks; so
// nothing of an earlier time, and of the same time nothing of a thread that goes first, can come any more.
void CosimServer::releaseActions(Time limit) {
  while (!pending_.empty() && pending_.begin()->when <= limit) {
    const PendingAction action = *pending_.begin();
    if (isLockstep() && action.when >= lockstep_.horizon(Lockstep::State::kRunning)) return;
    pending_.erase(pending_.begin());
    actions_.send(later(action.when, system_.calendar().now()), {action.thread, action.call});
  }
}

Time CosimServer::nextEvent() {
  const kernel::Calendar& calendar = system_.calendar();
  return calendar.empty() ? kForever : calendar.next();
}

// What a call does, at the time at which it takes effect.
void CosimServer::act(Action& action) {
  const Thread thread = action.thread;
  if (lockstep_.state(thread) == Lockstep::State::kGone || threads_[thread].call != action.call) return;
  if (threads_[thread].state == CallState::kEvent) return answer(thread, channel::kTimedOut);
  if (threads_[thread].state == CallState::kCommand) lockstep_.wait(thread);
  switch (threads_[thread].request.kind) {
    case Kind::kOpenDevice:
    case Kind::kCloseDevice:
      return openOrClose(thread);
    case Kind::kCommand:
      return command(thread);
    case Kind::kMapPage:
      return mapPage(thread);
    case Kind::kFillPage: {
      const Request& request = threads_[thread].request;
      UverbsFile* file = sessionOf(thread).file(request.file);
      return answer(thread, file == nullptr ? EBADF : file->fillPage(request.argument[0], request.argument[1]));
    }
    case Kind::kRegisterWrite:
      return registerWrite(thread);
    case Kind::kRegisterRead:
      return registerRead(thread);
    default:
      return answer(thread, EINVAL);
  }
}

void CosimServer::openOrClose(Thread thread) {
  const Request& request = threads_[thread].request;
  Session& session = sessionOf(thread);
  if (request.kind == Kind::kCloseDevice) {
    if (log_ != nullptr) log_->note(system_.calendar().now(), placeOf(thread), "CLOSE_DEVICE");
    return session.closeDevice(request.file, [this, thread] {
      writeResultWhenIdle();
      answer(thread, 0);
    });
  }
  if (!session.hasDevice(request.argument[0])) return answer(thread, ENODEV);
  if (log_ != nullptr)
    log_->note(system_.calendar().now(), placeOf(thread), "OPEN_DEVICE mlx5_" + std::to_string(request.argument[0]));
  answer(thread, 0, session.openDevice(request.argument[0]));
}

void CosimServer::command(Thread thread) {
  const Request& request = threads_[thread].request;
  UverbsFile* file = sessionOf(thread).file(request.file);
  if (file == nullptr) return answer(thread, EBADF);
  std::optional<OfferedPipe> pipe;
  if (request.argument[2] != channel::kNoPipe) {
    pipe = OfferedPipe{static_cast<int>(request.argument[2] >> 32), static_cast<int>(request.argument[2] & 0xFFFFFFFF)};
  }
  const auto notes = log_ == nullptr ? nullptr : std::make_shared<CommandNotes>();
  const Time began = system_.calendar().now();
  file->command(request.argument[0], request.argument[1], pipe, notes, [this, thread, notes, began](int error) {
    if (notes != nullptr && error != CommandCall::kNeedsPipe) {
      log_->verb(system_.calendar().now(), placeOf(thread), began, *notes, error);
    }
    answer(thread, error == CommandCall::kNeedsPipe ? channel::kNeedsPipe : error);
  });
}

void CosimServer::mapPage(Thread thread) {
  const Request& request = threads_[thread].request;
  UverbsFile* file = sessionOf(thread).file(request.file);
  if (file == nullptr) return answer(thread, EBADF);
  file->mapPage(request.argument[0], request.argument[1], [this, thread](const UverbsFile::MappedPage& mapped) {
    answer(thread, mapped.error, static_cast<std::uint64_t>(mapped.kind), mapped.page);
  });
}

// Where an arm counts for later entries alone, software must know that it has arrived before it looks again.
void CosimServer::registerWrite(Thread thread) {
  const Request& request = threads_[thread].request;
  const RegisterPage page = RegisterPage::decode(request.argument[0]);
  if (log_ != nullptr) {
    const ByteView bytes(request.bytes, request.length);
    if (page.isDeviceMemory()) {
      log_->deviceMemory(system_.calendar().now(), placeOf(thread), "STORE", page.barOffset(request.argument[1]),
                         bytes.size());
    } else {
      log_->registerWrite(system_.calendar().now(), placeOf(thread), request.argument[1], bytes);
    }
  }
  sim::HostNode& host = sessionOf(thread).host();
  driver::KernelDriver& driver = host.adapter(page.adapter).driver();
  driver.ringDoorbell(UarIndex(static_cast<std::uint32_t>(page.page)), static_cast<std::uint32_t>(request.argument[1]),
                      {request.bytes, request.length});
  if (!isArm(request)) return;
  const config::HostSections& sections = config_.hosts[host.index().value()];
  if (!sections.adapterSections(page.adapter).driver.confirm_arm) return answer(thread, 0);
  driver.readBack([this, thread] { answer(thread, 0); });
}

void CosimServer::registerRead(Thread thread) {
  const Request& request = threads_[thread].request;
  constexpr std::uint32_t kWord = 8;
  const bool isPlain = request.length <= kWord && isBarAccess(request.argument[1], request.length);
  const RegisterPage page = RegisterPage::decode(request.argument[0]);
  if (!sessionOf(thread).mayAccess(RegisterPage::decode(request.argument[0])) || !isPlain)
    return answer(thread, EINVAL);
  if (log_ != nullptr && page.isDeviceMemory()) {
    log_->deviceMemory(system_.calendar().now(), placeOf(thread), "LOAD", page.barOffset(request.argument[1]),
                       request.length);
  } else if (log_ != nullptr) {
    log_->registerRead(system_.calendar().now(), placeOf(thread), request.argument[1], request.length);
  }
  const std::uint64_t offset = page.barOffset(request.argument[1]);
  sessionOf(thread)
      .host()
      .adapter(page.adapter)
      .environment()
      .function.barRead(0, offset, request.length, [this, thread](ByteView bytes) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
        answer(thread, 0, value);
      });
}

void CosimServer::answer(Thread thread, int error, std::uint64_t first, std::uint64_t second) {
  ThreadState& state = threads_[thread];
  if (lockstep_.state(thread) == Lockstep::State::kGone) return;
  state.reply = {error, 0, {first, second}, 0};
  resume(thread, system_.calendar().now());
}

// The thread goes on when all has happened up to its clock: then what it sees doesn't depend on how fast it is.
void CosimServer::resume(Thread thread, Time at) {
  ThreadState& state = threads_[thread];
  if (state.deadline != kForever) pending_.erase({state.deadline, thread, state.call});
  state.deadline = kForever;
  state.state = CallState::kUntil;
  lockstep_.arrive(thread, at);
  lockstep_.waitUntilClock(thread);
  system_.stop();
}

bool CosimServer::takeReply(Thread thread, Reply& reply) {
  ThreadState& state = threads_[thread];
  if (state.state != CallState::kAnswered) return false;
  state.state = CallState::kNone;
  // Of this process it is looked at only if there is a need: that takes a system call.
  state.hasProcessorTime = sessionOf(thread).processId() != ownProcess_;
  if (state.hasProcessorTime) state.processorTime = state.probe.processorTime();
  reply = state.reply;
  if (state.request.kind == Kind::kThreadEnds) forgetThread(thread);
  return true;
}

void CosimServer::onMemoryChanged(Session& session) {
  const Time now = system_.calendar().now();
  for (std::size_t id = 0; id < sessions_.size(); ++id) {
    if (sessions_[id].get() != &session) continue;
    for (const Thread thread : sessionThreads_[id]) {
      ThreadState& state = threads_[thread];
      state.memoryChanged = state.changedSinceInterrupt = true;
      const bool isMet = state.state == CallState::kMemory;
      if (isMet && state.request.kind == Kind::kSpinning) state.grace = std::max(state.grace / 8, kLeastGrace);
      if (isMet) answer(thread, 0);
      // It looks at its memory all the time: it sees this now.
      if (state.spins && lockstep_.state(thread) == Lockstep::State::kAway) {
        state.grace = std::max(state.grace / 8, kLeastGrace);
        lockstep_.run(thread, now);
        system_.stop();
      }
    }
  }
}

void CosimServer::onEventReported(Session& session, const std::string& text) {
  if (log_ == nullptr) return;
  const auto at =
      std::find_if(sessions_.begin(), sessions_.end(), [&session](const auto& each) { return each.get() == &session; });
  const auto program = static_cast<std::uint32_t>(at - sessions_.begin());
  log_->event(system_.calendar().now(), {session.host().index().value(), program, 0}, text);
}

void CosimServer::onEventReadable(Session& session, host::Core* core) {
  for (std::size_t id = 0; id < sessions_.size(); ++id) {
    if (sessions_[id].get() != &session) continue;
    for (const Thread thread : sessionThreads_[id]) {
      ThreadState& state = threads_[thread];
      state.eventDelivered = true;
      if (state.state != CallState::kEvent) continue;
      const host::CpuConfig& cost = cpu(thread);
      const bool isOwnCore = core == &session.host().cpu().core(state.core);
      answer(thread, 0);
      lockstep_.charge(thread, isOwnCore ? cost.wakeUpSameCore : cost.wakeUpOtherCore);
    }
  }
}

}  // namespace hca::cosim
