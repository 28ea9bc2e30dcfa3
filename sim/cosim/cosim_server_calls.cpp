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
    case Kind::kSleep:
      return simulatedSpan(request.argument[0]);
    default:
      return Time();
  }
}

void CosimServer::answerLater(Thread thread, CallState state) {
  threads_[thread].state = state;
  if (state != CallState::kUntil && state != CallState::kCommand) {
    lockstep_.wait(thread);
  } else {
    lockstep_.waitUntilClock(thread);
  }
}

// `span` in nanoseconds; 0: no limit.
void CosimServer::limitWait(Thread thread, std::uint64_t span) {
  if (span == 0) return;
  ThreadState& state = threads_[thread];
  state.deadline = lockstep_.clock(thread) + simulatedSpan(span);
  pending_.insert({state.deadline, thread, state.call});
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
  const Time now = later(reached_, system_.calendar().now());
  lockstep_.arrive(thread, now);
  lockstep_.charge(thread, Time(static_cast<std::int64_t>(std::min(request.spent, state.mostSpent))));
  lockstep_.charge(thread, cpu(thread).pollCompletion * std::int64_t{request.completions});
  lockstep_.charge(thread, cpu(thread).getEvent * std::int64_t{request.events});
  lockstep_.charge(thread, costOf(thread, request));
  if (isAboutThreads(thread)) return;
  switch (request.kind) {
    case Kind::kPollEmpty:
      if (state.memoryChanged) return answer(thread, 0);
      return answerLater(thread, CallState::kMemory);
    case Kind::kWaitForEvent:
      if (state.eventDelivered) return answer(thread, 0);
      answerLater(thread, CallState::kEvent);
      return limitWait(thread, request.argument[1]);
    case Kind::kReadClock:
    case Kind::kSleep:
      return answerLater(thread, CallState::kUntil);
    case Kind::kSpinning:
      // It was interrupted before it could look.
      if (request.argument[0] < static_cast<std::uint64_t>(state.grace.count())) return answer(thread, 0);
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
  if (isPosted) return post(thread);
  answerLater(thread, CallState::kCommand);
  pending_.insert({lockstep_.clock(thread), thread, state.call});
}

// A posted write needs no answer: its thread goes on when all has happened up to its clock, which is at once if nothing
// can happen until then.
void CosimServer::post(Thread thread) {
  ThreadState& state = threads_[thread];
  const Time clock = lockstep_.clock(thread);
  answerLater(thread, CallState::kUntil);
  const bool isUpToDate = isLockstep() && !isKept(thread) && nextEvent() > clock && lockstep_.horizon() >= clock &&
                          (pending_.empty() || pending_.begin()->when > clock);
  posted_.push_back({thread, state.call, state.session, {}});
  channel::copy(posted_.back().request, state.request);
  pending_.insert({clock, thread, state.call});
  if (!isUpToDate) return;
  state.reply.clock = static_cast<std::uint64_t>(clock.count());
  goOn(thread);
  lockstep_.run(thread, clock);
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
  const auto posted = std::find_if(posted_.begin(), posted_.end(), [&action](const PostedWrite& each) {
    return each.thread == action.thread && each.call == action.call;
  });
  if (posted != posted_.end()) {
    registerWrite(*posted);
    posted_.erase(posted);
    return;
  }
  if (lockstep_.state(thread) == Lockstep::State::kGone || threads_[thread].call != action.call) return;
  const bool waits = threads_[thread].state == CallState::kEvent || threads_[thread].state == CallState::kParked;
  if (waits) return answer(thread, channel::kTimedOut);
  if (threads_[thread].state == CallState::kCommand) lockstep_.wait(thread);
  switch (threads_[thread].request.kind) {
    case Kind::kOpenDevice:
    case Kind::kCloseDevice:
      return openOrClose(thread);
    case Kind::kCommand:
      return command(thread);
    case Kind::kMapPage:
      return mapPage(thread);
    case Kind::kFillPage:
      return fillPage(thread);
    case Kind::kRegisterWrite:
      return arm(thread);
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
    return session.closeDevice(request.file, [this, answered = answerOf(thread)] {
      writeResultWhenIdle();
      answered(0, 0, 0);
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
  const auto process = sessionOf(thread).process();
  const auto done = [this, process, place = placeOf(thread), answered = answerOf(thread), notes, began](int error) {
    if (notes != nullptr && error != CommandCall::kNeedsPipe) {
      log_->verb(system_.calendar().now(), place, began, *notes, error);
    }
    const ProgramMemory::Range named = process->memory().takeNamed();
    answered(error == CommandCall::kNeedsPipe ? channel::kNeedsPipe : error, named.address, named.length);
  };
  file->command(process, request.argument[0], request.argument[1], pipe, notes, done);
}

void CosimServer::fillPage(Thread thread) {
  const Request& request = threads_[thread].request;
  Session& session = sessionOf(thread);
  UverbsFile* file = session.file(request.file);
  if (file == nullptr) return answer(thread, EBADF);
  answer(thread, file->fillPage(*session.process(), request.argument[0], request.argument[1]));
}

void CosimServer::mapPage(Thread thread) {
  const Request& request = threads_[thread].request;
  UverbsFile* file = sessionOf(thread).file(request.file);
  if (file == nullptr) return answer(thread, EBADF);
  file->mapPage(request.argument[0], request.argument[1],
                [answered = answerOf(thread)](const UverbsFile::MappedPage& mapped) {
                  answered(mapped.error, static_cast<std::uint64_t>(mapped.kind), mapped.page);
                });
}

void CosimServer::registerWrite(const PostedWrite& write) {
  const Request& request = write.request;
  if (sessions_[write.session] == nullptr) return;
  Session& session = *sessions_[write.session];
  const RegisterPage page = RegisterPage::decode(request.argument[0]);
  if (!session.mayAccess(page)) return;
  if (log_ != nullptr) {
    const VerbsLog::Place place{session.host().index().value(), write.session, write.thread};
    const ByteView bytes(request.bytes, request.length);
    if (page.isDeviceMemory()) {
      log_->deviceMemory(system_.calendar().now(), place, "STORE", page.barOffset(request.argument[1]), bytes.size());
    } else {
      log_->registerWrite(system_.calendar().now(), place, request.argument[1], bytes);
    }
  }
  session.host()
      .adapter(page.adapter)
      .driver()
      .ringDoorbell(UarIndex(static_cast<std::uint32_t>(page.page)), static_cast<std::uint32_t>(request.argument[1]),
                    {request.bytes, request.length});
}

// Where an arm counts for later entries alone, software must know that it has arrived before it looks again.
void CosimServer::arm(Thread thread) {
  const ThreadState& state = threads_[thread];
  registerWrite({thread, state.call, state.session, state.request});
  const RegisterPage page = RegisterPage::decode(state.request.argument[0]);
  sim::HostNode& host = sessionOf(thread).host();
  const config::HostSections& sections = config_.hosts[host.index().value()];
  if (!sections.adapterSections(page.adapter).driver.confirm_arm) return answer(thread, 0);
  host.adapter(page.adapter).driver().readBack([answered = answerOf(thread)] { answered(0, 0, 0); });
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
      .function.barRead(0, offset, request.length, [answered = answerOf(thread)](ByteView bytes) {
        std::uint64_t value = 0;
        std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
        answered(0, value, 0);
      });
}

CosimServer::Answer CosimServer::answerOf(Thread thread) {
  return [this, thread, call = threads_[thread].call](int error, std::uint64_t first, std::uint64_t second) {
    if (threads_[thread].call == call) answer(thread, error, first, second);
  };
}

void CosimServer::answer(Thread thread, int error, std::uint64_t first, std::uint64_t second) {
  ThreadState& state = threads_[thread];
  if (lockstep_.state(thread) == Lockstep::State::kGone) return;
  state.reply = {error, 0, {first, second}, 0, 0, 0, 0};
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

// While a thread runs the simulation doesn't pass its clock, and others act no earlier than at theirs.
std::uint64_t CosimServer::quietUntil(Thread thread) {
  if (!isLockstep() || lockstep_.any(Lockstep::State::kAway)) return 0;
  const Time next = earlier(nextEvent(), pending_.empty() ? kForever : pending_.begin()->when);
  constexpr Time kMost = milliseconds(1);
  const Time quiet = earlier(next, lockstep_.horizonWithout(thread));
  return static_cast<std::uint64_t>(earlier(quiet, lockstep_.clock(thread) + kMost).count());
}

bool CosimServer::takeReply(Thread thread, Reply& reply) {
  ThreadState& state = threads_[thread];
  if (state.state != CallState::kAnswered) return false;
  state.state = CallState::kNone;
  // Of this process it is looked at only if there is a need: that takes a system call.
  state.hasProcessorTime = sessionOf(thread).processId() != ownProcess_;
  if (state.hasProcessorTime) state.processorTime = state.probe.processorTime();
  reply = state.reply;
  if (hazards_.isWatching()) reply.flags = channel::kTellEventsTaken;
  reply.quiet = reply.clock == 0 ? 0 : quietUntil(thread);
  const std::uint64_t own = reply.quiet > reply.clock ? reply.quiet - reply.clock : 0;
  state.mostSpent = own + channel::clockCost(UINT32_MAX);
  if (watchesItself(thread)) reply.grace = static_cast<std::uint32_t>(state.grace.count());
  state.ownSince = {};
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
      if (isMet && state.request.kind == Kind::kSpinning) shorten(state.grace);
      if (isMet) answer(thread, 0);
      // It looks at its memory all the time: it sees this now.
      if (state.spins && lockstep_.state(thread) == Lockstep::State::kAway) {
        shorten(state.grace);
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
