#include "sim/cosim/shared_simulation.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "sim/cosim/other_process_memory.h"
#include "sim/cosim/process_family.h"
#include "sim/report/result_table.h"
#include "verbs_shim/channel/futex.h"
#include "verbs_shim/channel/short_slices.h"

namespace hca::cosim {
namespace {

using namespace std::chrono_literals;
using channel::SharedArea;
using channel::SharedSlot;
using channel::SlotState;

// How often the simulation looks for programs that come and go.
constexpr auto kHousekeeping = 1ms;
// After this long without any progress, threads that run elsewhere are looked at for the first time.
constexpr auto kTick = 10us;
// A wait that nothing satisfies for this long is given back to the program, which may wait for something else, too.
constexpr auto kPatience = 1ms;
// Likewise for a thread that was made to wait because it called nothing.
constexpr auto kSpinnersPatience = 500us;
// As long as the simulation has something to do, nobody waits in vain.
constexpr auto kMoment = 100us;
// Who doesn't take its answer for this long was stopped.
constexpr auto kStopped = 200ms;
// After this long without any event the user is told.
constexpr auto kSilence = 5s;

}  // namespace

SharedSimulation::SharedSimulation(const config::Config& config, const std::string& socket, const CosimOptions& options,
                                   std::ostream& err)
    : config_(config),
      err_(err),
      server_(config_, options),
      listener_(socket),
      desk_(server_.drills(), config_, options.folder, [this] { return server_.soon(); }),
      doorbell_("hcasim-doorbell"),
      looks_(channel::looksBeforeSleep()) {
  server_.drills().setListener(
      [this](const report::DrillResult& drill) { err_ << "hcasim: " << report::drillText(drill); });
  if (const std::string problem = server_.bringUp(); !problem.empty()) throw std::runtime_error(problem);
}

SharedSimulation::~SharedSimulation() {
  server_.writeResult();
  err_ << server_.describeHazards();
  for (const auto& client : clients_) ::close(client->connection);
}

void SharedSimulation::welcome() {
  while (const auto applicant = listener_.accept()) {
    const bool isRight =
        applicant->hello.version == channel::kProtocolVersion && applicant->hello.host < config_.host.count;
    if (!isRight) {
      ProgramListener::refuse(*applicant);
    } else if (applicant->hello.isForChild != 0) {
      welcomeChild(*applicant);
    } else {
      welcomeProgram(*applicant);
    }
  }
}

void SharedSimulation::welcomeProgram(const Applicant& applicant) {
  admit(applicant, applicant.process,
        server_.attachProcess(HostIndex(applicant.hello.host), applicant.process,
                              std::make_unique<OtherProcessMemory>(applicant.process)));
}

// The connection comes from the parent, before there is a child: what is open then stays open for the child, however
// soon the parent closes it or ends. The child inherits the connection; if it never comes to be, the connection ends.
void SharedSimulation::welcomeChild(const Applicant& applicant) {
  const Client* parent = clientOf(applicant.process);
  if (parent == nullptr) return ProgramListener::refuse(applicant);
  ProgramListener::expectChild(applicant.connection);
  admit(applicant, 0, server_.attachChild(parent->session));
}

// The one that still runs: others may have had its number.
SharedSimulation::Client* SharedSimulation::clientOf(int process) const {
  const auto at = std::find_if(clients_.begin(), clients_.end(), [process](const auto& client) {
    return client->process == process && !hasHungUp(client->connection);
  });
  return at == clients_.end() ? nullptr : at->get();
}

void SharedSimulation::admit(const Applicant& applicant, int process, CosimServer::SessionId session) {
  auto client = std::make_unique<Client>(applicant.connection, process, session);
  client->parent = process == 0 ? applicant.process : 0;
  if (ProgramListener::admit(applicant, client->area.descriptor(), doorbell_.descriptor())) {
    clients_.push_back(std::move(client));
  } else {
    server_.detachProcess(session);
    ::close(applicant.connection);
  }
}

// The connection may have been handed on: only a child of the process that asked for it has a claim. One whose parent
// is gone has another one by now.
bool SharedSimulation::isThere(Client& client) {
  if (client.process != 0) return true;
  if (client.claimant == 0) client.claimant = ProgramListener::findChild(client.connection);
  if (client.claimant <= 0) return false;
  if (parentOf(client.claimant) != client.parent && clientOf(client.parent) != nullptr) return false;
  client.process = client.claimant;
  server_.beginProcess(client.session, client.process, std::make_unique<OtherProcessMemory>(client.process));
  return true;
}

bool SharedSimulation::isGone(Client& client) {
  if (isThere(client) || client.claimant > 0) return hasHungUp(client.connection);
  return client.claimant < 0;
}

void SharedSimulation::partWithTheGone() {
  const auto partWith = [this](const std::unique_ptr<Client>& client) {
    if (!isGone(*client)) return false;
    server_.detachProcess(client->session);
    ::close(client->connection);
    return true;
  };
  clients_.erase(std::remove_if(clients_.begin(), clients_.end(), partWith), clients_.end());
}

bool SharedSimulation::takeRequests() {
  bool any = false;
  for (const auto& client : clients_) {
    client->used = std::min(__atomic_load_n(&client->area->used, __ATOMIC_ACQUIRE), SharedArea::kSlots);
    if (client->used != 0 && !isThere(*client)) continue;
    for (std::uint32_t i = 0; i < client->used; ++i) {
      const std::uint32_t state = __atomic_load_n(&client->area->slots[i].state, __ATOMIC_ACQUIRE);
      if (client->slots[i].isCalling && __atomic_load_n(&client->area->slots[i].isCancelled, __ATOMIC_ACQUIRE) != 0) {
        server_.interrupt(client->slots[i].thread);
      }
      if (state != static_cast<std::uint32_t>(SlotState::kSubmitted) || client->slots[i].isCalling) continue;
      takeRequest(*client, i);
      any = true;
    }
  }
  return any;
}

void SharedSimulation::takeRequest(Client& client, std::uint32_t index) {
  SharedSlot& shared = client.area->slots[index];
  Slot& slot = client.slots[index];
  if (!slot.isAttached) {
    slot.thread = server_.attachThread(client.session, shared.threadId);
    slot.isAttached = true;
  }
  // A copy: the program could change it while it is looked at.
  channel::Request request = shared.request;
  request.length = std::min(request.length, channel::kLongestWrite);
  slot.isCalling = true;
  slot.since = Clock::now();
  slot.isInterrupted = request.kind == channel::Kind::kSpinning;
  slot.isEventWait = request.kind == channel::Kind::kWaitForEvent;
  slot.limit = std::chrono::nanoseconds(slot.isEventWait ? std::min<std::uint64_t>(request.argument[0], INT64_MAX) : 0);
  server_.submit(slot.thread, request);
  if (request.kind == channel::Kind::kThreadEnds) slot.isAttached = false;
}

bool SharedSimulation::giveReplies() {
  bool any = false;
  for (const auto& client : clients_) {
    for (std::uint32_t i = 0; i < client->used; ++i) {
      if (client->slots[i].isCalling) any = giveReply(*client, i) || any;
    }
  }
  return any;
}

bool SharedSimulation::giveReply(Client& client, std::uint32_t index) {
  SharedSlot& shared = client.area->slots[index];
  Slot& slot = client.slots[index];
  channel::Reply reply;
  if (!server_.takeReply(slot.thread, reply)) return false;
  shared.reply = reply;
  slot.isCalling = false;
  slot.answered = Clock::now();
  __atomic_store_n(&shared.state, static_cast<std::uint32_t>(SlotState::kAnswered), __ATOMIC_RELEASE);
  channel::futexWake(&shared.state);
  return true;
}

// It may compute rather than look at its memory, or have been about to act on what it saw. But while others run, what
// it may look for is still to come: on a busy machine that may take them long.
bool SharedSimulation::isVainForSpinner(Clock::duration waited, Clock::duration idle) const {
  return idle > kMoment && waited > (server_.anyRuns() ? kSpinnersPatience * 200 : kSpinnersPatience);
}

void SharedSimulation::giveUpWaits(Clock::time_point idleSince) {
  const auto now = Clock::now();
  for (const auto& client : clients_) {
    for (const Slot& slot : client->slots) {
      if (!slot.isCalling) continue;
      const bool isLate = slot.limit.count() != 0 && now - slot.since > slot.limit;
      const bool isVain = slot.isInterrupted ? isVainForSpinner(now - slot.since, now - idleSince)
                                             : now - slot.since > kPatience && now - idleSince > kPatience;
      const bool mayStay = server_.waitsForEventsAlone(slot.thread);
      if (isLate || (isVain && !mayStay)) server_.giveUp(slot.thread);
    }
  }
}

// Which threads wait for what, once, when nothing has happened for long: whether something will is more than we know,
// because programs also wait for things that are not of ours.
void SharedSimulation::warn(Clock::time_point now) {
  const std::uint64_t executed = server_.executed();
  if (std::exchange(executed_, executed) != executed || clients_.empty()) {
    lastEvent_ = now;
    hasWarned_ = false;
  }
  if (now - lastEvent_ < kSilence || std::exchange(hasWarned_, true)) return;
  err_ << "hcasim: nothing has happened on the simulated adapters for 5 s:\n";
  for (const auto& client : clients_) {
    for (const Slot& slot : client->slots) {
      if (slot.isAttached) err_ << "hcasim:   " << server_.describe(slot.thread) << '\n';
    }
  }
}

void SharedSimulation::sleep(std::uint32_t rings, std::chrono::nanoseconds span) {
  if (channel::hasChangedSoon(&doorbell_->rings, rings, looks_)) return;
  const timespec time{0, span.count()};
  __atomic_store_n(&doorbell_->isSleeping, 1U, __ATOMIC_SEQ_CST);
  channel::futexWait(&doorbell_->rings, rings, &time);
  __atomic_store_n(&doorbell_->isSleeping, 0U, __ATOMIC_SEQ_CST);
}

// A thread that hasn't woken up for its answer yet is neither asleep elsewhere nor does it compute.
std::chrono::nanoseconds SharedSimulation::considerForce() {
  return server_.considerForce([this](CosimServer::Thread thread) {
    for (const auto& client : clients_) {
      for (std::uint32_t i = 0; i < client->used; ++i) {
        if (!client->slots[i].isAttached || client->slots[i].thread != thread) continue;
        const std::uint32_t state = __atomic_load_n(&client->area->slots[i].state, __ATOMIC_ACQUIRE);
        // One that is stopped, or pretends to be, is not to stop the others.
        if (state == static_cast<std::uint32_t>(SlotState::kSubmitted)) return false;
        return state != static_cast<std::uint32_t>(SlotState::kAnswered) ||
               Clock::now() - client->slots[i].answered > kStopped;
      }
    }
    return false;
  });
}

// Nothing of the simulation's own can wake anybody up. A moment is left for what others do, signals for example.
bool SharedSimulation::isStuck(Programs& programs, Clock::time_point idleSince) {
  constexpr auto kLongEnough = 1s;
  if (clients_.empty() || Clock::now() - idleSince < kLongEnough) return false;
  const std::string why = server_.whyStuck();
  std::set<int> attached;
  for (const auto& client : clients_) attached.insert(client->process);
  if (why.empty() || !programs.areAllAmong(attached)) return false;
  err_ << "hcasim: every program waits for an event, and nothing is pending that could bring one:\n" << why;
  return true;
}

bool SharedSimulation::serve(Programs& programs) {
  prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds: short sleeps are to be short
  channel::wantShortSlices();
  Clock::time_point kept{};
  Clock::time_point idleSince = Clock::now();
  std::chrono::nanoseconds tick = kTick;
  for (;;) {
    const std::uint32_t rings = __atomic_load_n(&doorbell_->rings, __ATOMIC_SEQ_CST);
    bool any = takeRequests();
    const auto now = Clock::now();
    any = server_.progress() || any;
    any = giveReplies() || any;
    if (now - kept > kHousekeeping) {
      kept = now;
      welcome();
      partWithTheGone();
      any = desk_.look() || any;
      if (programs.areOver()) return true;
      if (!any && isStuck(programs, idleSince)) return false;
      giveUpWaits(idleSince);
      warn(now);
    }
    if (any) {
      idleSince = now;
      tick = kTick;
      continue;
    }
    giveUpWaits(idleSince);
    if (giveReplies()) continue;
    sleep(rings, tick);
    if (__atomic_load_n(&doorbell_->rings, __ATOMIC_SEQ_CST) == rings) tick = considerForce();
  }
}

}  // namespace hca::cosim
