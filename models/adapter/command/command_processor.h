// The adapter's side of the command interface.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "models/adapter/adapter_context.h"
#include "models/adapter/command/adapter_account.h"
#include "models/adapter/command/command_config.h"
#include "models/adapter/command/command_device.h"
#include "models/adapter/command/command_fault.h"
#include "models/adapter/command/command_record.h"
#include "models/adapter/command/init_segment.h"
#include "models/adapter/event/event_port.h"
#include "models/kernel/inbox.h"
#include "models/kernel/timer.h"
#include "models/wire/command.h"

namespace hca::adapter {

/// Reads commands from the queue in host memory, executes them in the order in which their doorbells arrived, one at a
/// time, and writes the answers back. The life of a command: doorbell, DMA of the queue entry, DMA of the input
/// mailboxes and of the control parts of the output mailboxes, execution after the command's time, DMA writes of the
/// output mailboxes, the inline output and last the dword with the owner bit; then a command event, if a command event
/// queue existed before the command and still does. Malformed entries are answered by a delivery status without side
/// effect. Whatever the bytes in host memory and registers, each doorbell ends in an answer or a count.
class CommandProcessor final : private pcie::DmaClient {
 public:
  CommandProcessor(const AdapterContext& context, const CommandConfig& config, const AdapterIdentity& identity,
                   const AdapterCapabilities& capabilities, const CommandTargets& targets, EventPort& events,
                   const AdapterClock& clock);

  /// A BAR0 write in the initialisation segment: 4 or 8 bytes, naturally aligned; anything else is counted and ignored.
  void writeRegister(std::uint64_t offset, ByteView bytes);
  /// A BAR0 read in the initialisation segment, any width.
  void readRegister(std::uint64_t offset, MutableByteView into) const;

  /// Everything as after power-on: commands under way are dropped, every object is gone, pages are forgotten. Counters
  /// stay.
  void reset();
  /// Called when TEARDOWN_HCA, a disable through the registers or a reset ends every object: resets the directories.
  void setTeardownHandler(std::function<void()> handler) { device_.onTeardown = std::move(handler); }

  /// What ports report from now on. `port` counts from 1 and must exist.
  void setPortActive(std::uint32_t port, bool active) { device_.identity.ports.at(port - 1).active = active; }
  [[nodiscard]] PortIdentity& port(std::uint32_t port) { return device_.identity.ports.at(port - 1); }
  /// Where the counters of violated keys are, by port.
  void setViolations(std::function<PortViolations(std::uint8_t port)> source) {
    device_.violations = std::move(source);
  }
  /// `asksForReset`: the health buffer's request that the driver reset the function.
  void setHealthSyndrome(std::uint8_t syndrome, bool asksForReset = false) {
    segment_.setHealthSyndrome(syndrome, asksForReset);
  }
  /// The health counter stands still from now on, or moves again.
  void stopHealthCounter(bool stopped) { segment_.stopHealthCounter(stopped, context_.now()); }
  /// The firmware started anew by itself: as after a reset, but the interface reads as disabled until a driver sets it.
  void restart();
  /// What is to go wrong with commands.
  void addFault(CommandFault fault) { faults_.add(std::move(fault)); }
  [[nodiscard]] const CommandFaults& faults() const { return faults_; }

  [[nodiscard]] const CommandDevice& device() const { return device_; }
  /// Nothing is queued or under way.
  [[nodiscard]] bool idle() const { return pendingSlots_ == 0; }

  /// What is in the adapter, and what was asked of it.
  [[nodiscard]] AdapterAccount account() const;
  /// Commands that were executed, successfully or not.
  [[nodiscard]] std::uint64_t executed() const { return executed_; }
  /// Commands that were executed and refused, by the reason that they returned.
  [[nodiscard]] const std::map<Syndrome, std::uint64_t>& refusals() const { return refusals_; }
  [[nodiscard]] std::uint64_t rejections(CommandRejection kind) const {
    return rejections_[static_cast<std::size_t>(kind)];
  }

 private:
  enum class Phase : std::uint8_t { kIdle, kEntry, kInput, kOutput, kExecute };
  struct Doorbell {
    std::uint32_t slot;
    Time rung;
  };
  /// One block of the output mailbox chain: where it is and what surrounds its data.
  struct OutputBlock {
    BusAddress address;
    wire::MailboxBlock block;
  };
  /// The command under way.
  struct Active {
    Doorbell doorbell{};
    BusAddress address;  // of the queue entry
    wire::CommandEntry entry;
    bool answersByEvent = false;
    std::vector<std::uint8_t> input;
    std::vector<std::uint8_t> output;
    std::vector<OutputBlock> blocks;
    std::uint32_t inputBlocks = 0;  // read so far
    BusAddress next;                // block to read
  };

  /// A command that is executed late.
  struct Late {
    std::uint64_t generation = 0;
    Active command;
  };
  void onLate(Late& late);

  void onDmaRead(std::uint64_t token, host::DmaStatus status, ByteView data) override;
  void onDmaWritten(std::uint64_t token, host::DmaStatus status) override;

  void writeOneRegister(std::uint64_t offset, std::uint32_t value);
  void ring(std::uint32_t slots);
  void startNext();
  void finish();
  void abandonAll();

  void onEntry(ByteView data);
  [[nodiscard]] bool checkEntry();
  [[nodiscard]] bool checkPointer(BusAddress address, wire::DeliveryStatus status, CommandRejection kind);
  void readInputBlock();
  void onInputBlock(ByteView data);
  void startOutput();
  void readOutputBlock();
  void onOutputBlock(ByteView data);
  void prepare();
  void prepareExecution();
  void goWrong(const CommandFault& fault);
  void putOff(const CommandFault& fault);
  void refuse(const CommandResult& result);
  void execute();

  void fail(wire::DeliveryStatus status, CommandRejection kind);
  void answer(wire::DeliveryStatus status);
  void writeOutput();
  void count(const CommandResult& result);
  void count(CommandRejection kind) { ++rejections_[static_cast<std::size_t>(kind)]; }
  /// Counts and tells what leads to no answer.
  void reject(CommandRejection kind, std::optional<std::uint32_t> slot);
  [[nodiscard]] CommandRecord record() const;
  void tell(const CommandResult& result);
  void tell(wire::DeliveryStatus status, std::optional<CommandRejection> kind);

  void read(BusAddress address, std::uint32_t length);
  void write(BusAddress address, ByteView data);
  [[nodiscard]] bool ready() const { return context_.now() >= readyAt_; }
  [[nodiscard]] bool signsEverything() const { return device_.checksumMode != 0; }

  AdapterContext context_;
  CommandConfig config_;
  CommandDevice device_;
  InitSegment segment_;
  EventPort& events_;
  kernel::Timer<CommandProcessor> executionTimer_;

  Time readyAt_;
  std::uint64_t generation_ = 0;  // of DMA reads: those of before a reset are stale
  Phase phase_ = Phase::kIdle;
  std::deque<Doorbell> queue_;
  std::uint32_t pendingSlots_ = 0;  // queued or under way
  Active active_;
  CommandFaults faults_;
  kernel::Inbox<CommandProcessor, Late> late_;
  std::deque<Active> overdue_;  // late ones whose time has come

  std::uint64_t executed_ = 0;
  std::map<Syndrome, std::uint64_t> refusals_;
  std::map<wire::CommandOpcode, std::uint64_t> commands_;
  std::map<CommandStatus, std::uint64_t> statuses_;
  std::array<std::uint64_t, static_cast<std::size_t>(CommandRejection::kCount)> rejections_{};
};

}  // namespace hca::adapter
