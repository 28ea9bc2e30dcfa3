// A process that uses the simulated devices of a host.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cosim/device_description.h"
#include "sim/cosim/open_device.h"
#include "sim/cosim/program_memory.h"
#include "sim/system/host_node.h"

namespace hca::cosim {

class Session;

/// Told what happens to a session's program.
class SessionListener {
 public:
  virtual void onMemoryChanged(Session& session) = 0;
  virtual void onEventReadable(Session& session, host::Core* core) = 0;
  /// What the program is told, for a log.
  virtual void onEventReported(Session& session, const std::string& text) = 0;

 protected:
  ~SessionListener() = default;
};

/// A completion queue of a program, and how far the program is with it.
struct QueueView {
  AdapterIndex adapter;
  const UserCq* cq = nullptr;
  std::uint32_t taken = 0;    ///< entries that it has polled so far, modulo 2^24: the queue's doorbell record
  std::uint32_t waiting = 0;  ///< entries that it hasn't polled
  adapter::CqCounters counters;
};

class Session final : private EventListener, private ProgramMemoryListener {
 public:
  /// `devices`: of the host's adapters.
  Session(sim::HostNode& host, const config::HostSections& config, const std::vector<DeviceDescription>& devices,
          HostShares& shares, SessionListener& listener);
  ~Session();

  [[nodiscard]] sim::HostNode& host() { return host_; }

  /// It has the files and event files that `parent` has now, as after a fork.
  void inherit(const Session& parent);
  /// Its process is there.
  void begin(int processId, std::unique_ptr<ProgramMemory> memory);
  [[nodiscard]] bool hasBegun() const { return process_ != nullptr; }
  /// Those that follow: precondition hasBegun().
  [[nodiscard]] int processId() const { return process_->number(); }
  [[nodiscard]] ProgramMemory& memory() { return process_->memory(); }
  [[nodiscard]] const RegionNames& regions() const { return process_->regions(); }
  [[nodiscard]] const std::shared_ptr<CallingProcess>& process() const { return process_; }

  [[nodiscard]] bool hasFiles() const { return !files_.empty() || !closing_.empty(); }

  [[nodiscard]] bool hasDevice(std::uint64_t number) const { return number < devices_.size(); }
  /// Precondition: hasDevice(number).
  std::uint32_t openDevice(std::uint64_t number);
  /// nullptr if it isn't open.
  [[nodiscard]] UverbsFile* file(std::uint32_t number);
  void closeDevice(std::uint32_t number, std::function<void()> done);
  /// The completion queues with a channel that it made itself.
  [[nodiscard]] std::vector<QueueView> queues();
  /// The same, a line each, for people.
  [[nodiscard]] std::string describeQueues();
  /// Ends everything that the process alone has. Whatever else names its memory finds nothing there.
  void closeAll(std::function<void()> done);

  /// Whether a page of registers belongs to a device that the program has open.
  [[nodiscard]] bool mayAccess(const RegisterPage& page) const;

 private:
  [[nodiscard]] std::optional<QueueView> view(AdapterIndex adapter, const UserCq& cq,
                                              const adapter::CqCounters& counters) const;
  void endIfClosed();
  void onEventReported(const std::string& text) override { listener_.onEventReported(*this, text); }
  void onEventReadable(host::Core* core) override { listener_.onEventReadable(*this, core); }
  void onProgramMemoryWritten(std::uint64_t, std::uint64_t) override { listener_.onMemoryChanged(*this); }

  sim::HostNode& host_;
  const config::HostSections& config_;
  const std::vector<DeviceDescription>& devices_;
  HostShares& shares_;
  SessionListener& listener_;
  std::shared_ptr<CallingProcess> process_;
  std::map<std::uint32_t, std::shared_ptr<OpenDevice>> files_;
  std::uint32_t nextFile_ = 0;
  CallingProcess::EventFiles inherited_;            // until it begins
  std::list<std::shared_ptr<OpenDevice>> closing_;  // it was the last to close them
  std::function<void()> ended_;                     // what to call when all is closed
};

}  // namespace hca::cosim
