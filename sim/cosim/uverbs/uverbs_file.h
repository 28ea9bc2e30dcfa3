// A verbs device that a program has open.
#pragma once

#include <functional>
#include <optional>

#include "sim/cosim/register_page.h"
#include "sim/cosim/uverbs/command_dispatcher.h"
#include "sim/cosim/uverbs/host_shares.h"
#include "sim/driver/driver_environment.h"
#include "verbs_shim/channel/message.h"

namespace hca::cosim {

/// Told when a program has something to read.
class EventListener {
 public:
  /// What the program is told, for a log.
  virtual void onEventReported(const std::string& text) = 0;
  /// `core`: whose interrupt handler delivered it; nullptr for events that nobody is in a hurry for.
  virtual void onEventReadable(host::Core* core) = 0;

 protected:
  ~EventListener() = default;
};

/// What the kernel keeps of one open device file: it goes with all its objects.
class UverbsFile final : public driver::DriverClient {
 public:
  struct Surroundings {
    driver::DriverEnvironment environment;
    driver::DriverRole& driver;
    const driver::DriverConfig& config;
    const DeviceDescription& device;
    HostShares& shares;
    std::uint32_t deviceNumber;  ///< number of its adapter at the host
  };
  UverbsFile(const Surroundings& surroundings, EventListener& listener);

  /// An ioctl of `process`, which has the file open.
  void command(const std::shared_ptr<CallingProcess>& process, std::uint64_t code, std::uint64_t address,
               std::optional<OfferedPipe> pipe, std::shared_ptr<CommandNotes> notes, CommandCall::Done done);

  struct MappedPage {
    int error = 0;
    channel::PageKind kind = channel::PageKind::kRegisters;
    std::uint64_t page = 0;  ///< of registers: RegisterPage
  };
  /// What an mmap of the device gets.
  void mapPage(std::uint64_t length, std::uint64_t offset, std::function<void(const MappedPage&)> done);
  /// Writes the memory page that mapPage named to `address` of the process; 0, or an errno.
  int fillPage(CallingProcess& process, std::uint64_t page, std::uint64_t address);

  /// Whether the program may access this page of registers.
  [[nodiscard]] bool mayAccess(const RegisterPage& page) const;

  [[nodiscard]] std::uint32_t device() const { return surroundings_.deviceNumber; }
  /// Calls `visit` with each completion queue.
  void forEachQueue(const std::function<void(const UserCq& cq)>& visit) const {
    for (const auto& entry : context_.cqs.all()) visit(*entry.second);
  }

  /// Destroys what is left, once the commands under way are over; `done` runs when nothing is left.
  void close(std::function<void()> done);

 private:
  void onCompletionEvent(CqNumber cq, host::Core& core) override;
  void onAsyncEvent(std::uint8_t type, std::uint8_t subType, std::uint32_t object, std::uint8_t syndrome) override;
  void pushAsync(std::uint32_t type, std::uint64_t element);
  void reportToQp(std::uint8_t type, std::uint32_t number);
  void allocateDynamic(std::function<void(const MappedPage&)> done);

  [[nodiscard]] MappedPage mapDeviceMemory(std::uint64_t length, std::uint64_t index) const;
  [[nodiscard]] std::uint64_t registers(std::uint64_t page) const;
  void end();
  void release(std::function<void()> done);

  Surroundings surroundings_;
  EventListener& listener_;
  UverbsContext context_;
  std::uint32_t underWay_ = 0;     // commands whose answer is still to come
  std::function<void()> closing_;  // what to call when all is gone
};

}  // namespace hca::cosim
