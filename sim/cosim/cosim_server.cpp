#include "sim/cosim/cosim_server.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sim/cosim/sysfs_tree.h"
#include "sim/report/result_table.h"

namespace hca::cosim {
namespace {

std::vector<std::vector<DeviceDescription>> describeAll(const config::Config& config) {
  std::vector<std::vector<DeviceDescription>> all;
  for (std::uint32_t host = 0; host < config.host.count; ++host)
    all.push_back(describeDevices(config, HostIndex(host)));
  return all;
}

}  // namespace

CosimServer::CosimServer(const config::Config& config, const CosimOptions& options)
    : config_(config),
      ownProcess_(getpid()),
      sync_(options.sync),
      devices_(describeAll(config_)),
      folder_(options.folder),
      threadsOfHost_(config_.host.count),
      system_(config_),
      drills_(system_, config_),
      files_(system_.probes(), options.files.observers),
      hazards_(system_.probes()),
      shares_(config_.host.count),
      actions_(system_.calendar(), kernel::Priority::kSoftware, *this, &CosimServer::act) {
  listenToPorts();
  if (!options.files.result.empty()) result_ = std::make_unique<CosimResult>(config_, system_, options.files.result);
  if (options.files.verbsLog.empty()) return;
  log_ = std::make_unique<VerbsLog>(options.files.verbsLog);
  listenToCommands();
}

CosimServer::~CosimServer() = default;

void CosimServer::listenToPorts() {
  if (folder_.empty()) return;
  for (std::uint32_t host = 0; host < system_.hosts(); ++host) {
    for (std::uint32_t adapter = 0; adapter < system_.host(host).adapters(); ++adapter) {
      system_.host(host).adapter(adapter).driver().setPortListener(
          [this, host, adapter](std::uint8_t number) { onPortChanged(host, adapter, number); });
    }
  }
}

// Programs that read files see the same as those that ask (libibverbs has partition keys from files alone).
void CosimServer::onPortChanged(std::uint32_t host, std::uint32_t adapter, std::uint8_t number) {
  const driver::DevicePort& now = system_.host(host).adapter(adapter).driver().capabilities().port(number);
  DeviceDescription& device = devices_[host][adapter];
  PortDescription& port = device.ports[number - 1U];
  port.active = now.active;
  port.identity.lid = now.lid;
  if (!now.partitionKeys.empty()) port.partitionKeys = now.partitionKeys;
  for (std::size_t i = 0; i < port.gids.size() && i < now.gids.size(); ++i) port.gids[i].gid = now.gids[i];
  try {
    writePortFiles(folder_ + "/host" + std::to_string(host), device, number);
  } catch (const std::filesystem::filesystem_error&) {
    // The folder goes when the run ends; nobody reads it any more.
  }
}

void CosimServer::listenToCommands() {
  const auto nameRegion = [this](HostIndex host, std::uint64_t address) {
    std::string name;
    for (const auto& session : sessions_) {
      if (session == nullptr || !session->hasBegun() || session->host().index() != host) continue;
      if (const std::string found = session->regions().name(address); !found.empty()) name = found;
    }
    return name;
  };
  system_.probes().command.attach([this, nameRegion](const observe::CommandEvent& event) {
    const HostIndex host = event.record->host;
    log_->command(*event.record, [&](std::uint64_t address) { return nameRegion(host, address); });
  });
}

VerbsLog::Place CosimServer::placeOf(Thread thread) {
  return {sessionOf(thread).host().index().value(), threads_[thread].session, thread};
}

void CosimServer::writeResult() {
  if (result_ != nullptr)
    result_->write(system_.calendar().now(), forcedAdvances_, hazards_.results(), failures_, drills_.results());
}

std::string CosimServer::describeHazards() const {
  report::Result result;
  result.hazards = hazards_.results();
  return report::hazardLines(result);
}

void CosimServer::writeResultWhenIdle() {
  const bool isIdle = std::none_of(sessions_.begin(), sessions_.end(),
                                   [](const auto& session) { return session != nullptr && session->hasFiles(); });
  if (isIdle) writeResult();
}

std::string CosimServer::bringUp() {
  std::string problem = system_.bringUp();
  reached_ = system_.calendar().now();
  return problem;
}

CosimServer::SessionId CosimServer::attachProcess(HostIndex host, int processId,
                                                  std::unique_ptr<ProgramMemory> memory) {
  const SessionId session = addSession(host);
  beginProcess(session, processId, std::move(memory));
  return session;
}

CosimServer::SessionId CosimServer::attachChild(SessionId parent) {
  const SessionId session = addSession(sessions_[parent]->host().index());
  sessions_[session]->inherit(*sessions_[parent]);
  return session;
}

CosimServer::SessionId CosimServer::addSession(HostIndex host) {
  const std::uint32_t index = host.value();
  SessionListener& listener = *this;
  sessions_.push_back(
      std::make_unique<Session>(system_.host(index), config_.hosts[index], devices_[index], shares_[index], listener));
  sessionThreads_.emplace_back();
  return static_cast<SessionId>(sessions_.size() - 1);
}

void CosimServer::beginProcess(SessionId session, int processId, std::unique_ptr<ProgramMemory> memory) {
  sessions_[session]->begin(processId, std::move(memory));
}

void CosimServer::detachProcess(SessionId id) {
  while (!sessionThreads_[id].empty()) endThread(sessionThreads_[id].back());
  if (sessions_[id] == nullptr) return;
  sessions_[id]->closeAll([this, id] {
    // Not from within its own callback.
    Session* gone = sessions_[id].release();
    delete gone;  // NOLINT: nothing of it runs any more
    writeResultWhenIdle();
  });
}

CosimServer::Thread CosimServer::attachThread(SessionId session, int threadId) {
  const Time now = later(reached_, system_.calendar().now());
  ThreadProbe probe(sessions_[session]->processId(), threadId);
  Thread thread = 0;
  if (freeThreads_.empty()) {
    thread = lockstep_.add(now);
    threads_.emplace_back(session, std::move(probe));
  } else {
    thread = freeThreads_.back();
    freeThreads_.pop_back();
    lockstep_.revive(thread, now);
    // Calls count on: what the one before left behind is not meant for this one.
    const std::uint32_t calls = threads_[thread].call + 1;
    threads_[thread] = ThreadState(session, std::move(probe));
    threads_[thread].call = calls;
  }
  sessionThreads_[session].push_back(thread);
  // Threads of a host are dealt to its cores in turn.
  const HostIndex host = sessions_[session]->host().index();
  threads_[thread].core = threadsOfHost_[host.value()]++;
  return thread;
}

// Nothing of it is left; its number may be given out again.
void CosimServer::forgetThread(Thread thread) {
  std::vector<Thread>& list = sessionThreads_[threads_[thread].session];
  list.erase(std::remove(list.begin(), list.end(), thread), list.end());
  threads_[thread].probe = ThreadProbe();
  freeThreads_.push_back(thread);
}

void CosimServer::endThread(Thread thread) {
  if (lockstep_.state(thread) == Lockstep::State::kGone) return;
  lockstep_.remove(thread);
  ThreadState& state = threads_[thread];
  if (state.deadline != kForever) pending_.erase({state.deadline, thread, state.call});
  state.deadline = kForever;
  state.state = CallState::kNone;
  ++state.call;
  forgetThread(thread);
}

}  // namespace hca::cosim
