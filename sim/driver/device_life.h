// Brings a device up and down.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "models/adapter/command/command_result.h"
#include "models/kernel/timer.h"
#include "models/wire/device_commands.h"
#include "sim/driver/command_channel.h"
#include "sim/driver/device_capabilities.h"
#include "sim/driver/driver_config.h"
#include "sim/driver/event_dispatcher.h"
#include "sim/driver/object_commands.h"
#include "sim/driver/page_pool.h"
#include "sim/driver/pci_setup.h"
#include "sim/driver/sequence.h"

namespace hca::driver {

/// The order of commands is the stock driver's: Linux drivers/net/ethernet/mellanox/mlx5/core/main.c,
/// mlx5_function_setup, mlx5_load, and back. Command, asynchronous and page event queues share interrupt 0; completion
/// vector n has its own queue on interrupt 1 + n.
class DeviceLife {
 public:
  using Done = std::function<void(adapter::CommandResult)>;

  DeviceLife(DriverEnvironment& environment, const DriverConfig& config, DmaMemory& memory, EventTarget& target,
             const DriverLog& log);

  /// `done` gets success, or the first command's failure; kBadSystemState where no usable device answers.
  void up(Done done);
  /// All objects of clients must be gone.
  void down(Done done);

  /// Answers a page request of the adapter: gives when positive, takes back when negative.
  void onPageRequest(std::uint16_t function, std::int32_t pages);

  /// A port changed, as an event of the adapter says. `known`: called when what changed is known here.
  void onPortChange(std::uint32_t number, std::uint8_t subType, std::function<void()> known);

  /// Commands that get no answer are given up from now on (DriverConfig::command_timeout).
  void keepWatch();

  [[nodiscard]] CommandChannel* commands() { return commands_.get(); }
  [[nodiscard]] const DeviceCapabilities& capabilities() const { return capabilities_; }
  [[nodiscard]] std::uint32_t completionVectors() const { return static_cast<std::uint32_t>(completionEqs_.size()); }
  /// The driver's own page of registers.
  [[nodiscard]] UarIndex uar() const { return uar_; }
  [[nodiscard]] EqNumber completionEq(std::uint32_t vector) const { return completionEqs_[vector]; }
  [[nodiscard]] std::optional<std::uint32_t> completionVectorOf(InterruptVector vector) const {
    const std::uint32_t index = vector.value() - kFirstCompletionInterrupt;  // wraps below: no completion vector
    if (index >= completionEqs_.size()) return std::nullopt;
    return index;
  }
  /// Pages that the adapter holds now.
  [[nodiscard]] std::size_t pagesGiven() const { return pages_.given(); }

 private:
  static constexpr std::uint32_t kFirstCompletionInterrupt = 1;
  using Next = Sequence::Next;
  using Capabilities = std::vector<std::uint8_t>;

  [[nodiscard]] std::vector<Sequence::Step> bootSteps();
  [[nodiscard]] std::vector<Sequence::Step> initSteps();
  [[nodiscard]] std::vector<Sequence::Step> eventQueueSteps();

  void enumerate(const Next& next);
  void waitInitialised(const Next& next);
  void readInitialising();
  void checkRevision(const Next& next);
  void makeCommandQueue(const Next& next);
  void run(CommandBytes input, std::size_t outputLength, const Next& next);
  Sequence::Step plain(wire::CommandOpcode opcode, std::size_t size = 16, std::uint32_t modifier = 0);
  void negotiateIssi(const Next& next);
  void satisfyPages(wire::PagesKind kind, const Next& next);
  void givePages(std::uint32_t function, std::uint32_t count, const Next& next);
  void takePages(std::uint32_t function, std::uint32_t count, const Next& next);
  void takeAllPages(const Next& next);
  void setHostEndianness(const Next& next);
  void queryCapabilities(bool current, Capabilities& into, const Next& next);
  void setCapabilities(const Next& next);
  void allocateUar(const Next& next);
  void setUpInterrupts();
  void createEq(std::uint32_t entries, InterruptVector vector, std::uint64_t eventMask, std::vector<EqNumber>& into,
                const Next& next);
  void createCompletionEqs(std::uint32_t vector, const Next& next);
  void destroyEqs(std::vector<EqNumber>& queues, const Next& next);
  void queryPorts(std::uint8_t number, const Next& next);
  [[nodiscard]] CommandBytes portCommand(wire::CommandOpcode opcode, std::uint8_t number) const;
  void queryPort(std::uint8_t number, const Next& next);
  void queryGids(std::uint8_t number, const Next& next);
  void queryPartitionKeys(std::uint8_t number, const Next& next);
  void readCapabilities();
  void queryDeviceMemory(const Next& next);
  void queryEthernet(const Next& next);
  void release();
  [[nodiscard]] std::uint32_t wantedVectors() const;

  DriverEnvironment& environment_;
  const DriverConfig& config_;
  DmaMemory& memory_;
  const DriverLog& log_;
  bool keepsWatch_ = false;
  PagePool pages_;
  PciSetup pci_;
  EventDispatcher events_;
  std::optional<PciSetup::Found> found_;
  kernel::Timer<DeviceLife> pause_;  // between two looks at a device that initialises itself
  Next initialised_;
  unsigned looksLeft_ = 0;
  std::unique_ptr<CommandChannel> commands_;
  Capabilities current_, maximum_;
  DeviceCapabilities capabilities_;
  UarIndex uar_;
  std::vector<EqNumber> controlEqs_;  // command, asynchronous, pages
  std::vector<EqNumber> completionEqs_;
};

}  // namespace hca::driver
