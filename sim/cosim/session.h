// A process that uses the simulated devices of a host.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/cosim/device_description.h"
#include "sim/cosim/program_memory.h"
#include "sim/cosim/uverbs/uverbs_file.h"
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

class Session final : public EventFileTable, private EventListener, private ProgramMemoryListener {
 public:
  /// `devices`: of the host's adapters.
  Session(sim::HostNode& host, const config::HostSections& config, const std::vector<DeviceDescription>& devices,
          int processId, std::unique_ptr<ProgramMemory> memory, HostShares& shares, SessionListener& listener);
  ~Session();

  [[nodiscard]] sim::HostNode& host() { return host_; }
  [[nodiscard]] int processId() const { return processId_; }
  [[nodiscard]] ProgramMemory& memory() { return *memory_; }

  [[nodiscard]] const RegionNames& regions() const { return regions_; }
  [[nodiscard]] bool hasFiles() const { return !files_.empty(); }

  [[nodiscard]] bool hasDevice(std::uint64_t number) const { return number < devices_.size(); }
  /// Precondition: hasDevice(number).
  std::uint32_t openDevice(std::uint64_t number);
  /// nullptr if it isn't open.
  [[nodiscard]] UverbsFile* file(std::uint32_t number);
  void closeDevice(std::uint32_t number, std::function<void()> done);
  /// Its completion queues with a channel.
  [[nodiscard]] std::vector<QueueView> queues();
  /// The same, a line each, for people.
  [[nodiscard]] std::string describeQueues();
  /// Ends everything that the process has.
  void closeAll(std::function<void()> done);

  /// Whether a page of registers belongs to a device that the program has open.
  [[nodiscard]] bool mayAccess(const RegisterPage& page) const;

  std::shared_ptr<EventFile> openEventFile(int writeEnd, int readEnd, std::size_t recordSize) override;
  [[nodiscard]] std::shared_ptr<EventFile> eventFile(int readEnd) const override;

 private:
  [[nodiscard]] std::optional<QueueView> view(AdapterIndex adapter, const UserCq& cq,
                                              const adapter::CqCounters& counters) const;
  void onEventReported(const std::string& text) override { listener_.onEventReported(*this, text); }
  void onEventReadable(host::Core* core) override { listener_.onEventReadable(*this, core); }
  void onProgramMemoryWritten(std::uint64_t, std::uint64_t) override { listener_.onMemoryChanged(*this); }

  sim::HostNode& host_;
  const config::HostSections& config_;
  const std::vector<DeviceDescription>& devices_;
  int processId_;
  std::unique_ptr<ProgramMemory> memory_;
  RegionNames regions_;
  HostShares& shares_;
  SessionListener& listener_;
  OwnerId memoryOwner_;
  std::map<std::uint32_t, std::unique_ptr<UverbsFile>> files_;
  std::uint32_t nextFile_ = 0;
  std::map<int, std::shared_ptr<EventFile>> eventFiles_;
};

}  // namespace hca::cosim
