// The software side of the command interface: slots, mailboxes, tokens, signatures.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "models/adapter/command/command_result.h"
#include "models/base/byte_view.h"
#include "models/wire/command.h"
#include "models/wire/opcode.h"
#include "sim/driver/dma_memory.h"

namespace hca::driver {

/// What came back for a command.
struct CommandReply {
  /// From the output's status and syndrome; kInternalError where the command wasn't delivered.
  adapter::CommandResult result;
  wire::DeliveryStatus delivery = wire::DeliveryStatus::kOk;
  std::vector<std::uint8_t> output;  ///< as long as asked for
  bool isAnswered = true;            ///< false: it was given up, and the output is zero
};

/// Told when commands wait in slots.
class CommandDoorbell {
 public:
  /// Bit n of `slots`: slot n holds a command for the adapter.
  virtual void onCommandsReady(std::uint32_t slots) = 0;

 protected:
  ~CommandDoorbell() = default;
};

/// Commands wait here for free slots, in the order of submission. Linux drivers/net/ethernet/mellanox/mlx5/core/cmd.c.
/// The last slot is kept for page commands, so that the adapter can always be given the pages a command waits for.
/// While polling, one command is in a slot at a time.
class CommandQueue {
 public:
  using Done = std::function<void(const CommandReply&)>;

  /// `logEntries` (at most 5), `logStride` (at least 6): from the adapter's command queue register.
  CommandQueue(DmaMemory& memory, CommandDoorbell& doorbell, unsigned logEntries, unsigned logStride);
  ~CommandQueue();

  /// Where the slots are: 4 KiB aligned.
  [[nodiscard]] BusAddress address() const { return slots_.bus; }
  [[nodiscard]] std::uint64_t length() const { return slots_.length; }

  /// Queues a command. `input` holds opcode and all; `outputLength` bytes of answer are asked for (at least 8).
  void submit(std::vector<std::uint8_t> input, std::size_t outputLength, Done done);
  /// From now on completions come as events: all slots are used.
  void useEvents() { polling_ = false; }
  void usePolling() { polling_ = true; }
  [[nodiscard]] bool polling() const { return polling_; }

  [[nodiscard]] std::uint32_t slots() const { return static_cast<std::uint32_t>(table_.size()); }
  /// Whether slot `index` holds a command whose answer somebody waits for, and which: another number each time.
  [[nodiscard]] bool isAwaited(std::uint32_t index) const { return table_[index].busy && !table_[index].isAbandoned; }
  [[nodiscard]] std::uint64_t ticket(std::uint32_t index) const { return table_[index].ticket; }
  [[nodiscard]] wire::CommandOpcode opcode(std::uint32_t index) const;
  /// Nobody waits for this slot's command any more: it fails with kCommandTimedOut. The slot and its mailboxes stay
  /// with the adapter, which may still answer.
  void giveUp(std::uint32_t index, adapter::Syndrome why = adapter::Syndrome::kCommandTimedOut);
  /// Likewise for all, by kInternalError alone: the adapter is gone.
  void giveUpAll();
  /// Answers that came after nobody waited for them.
  [[nodiscard]] std::uint64_t lateAnswers() const { return lateAnswers_; }

  /// Slots whose command is done, by the owner bit in memory.
  [[nodiscard]] std::uint32_t finished() const;
  /// Takes the answers out of these slots (those of `slots` that hold a finished command) and starts waiting commands.
  void complete(std::uint32_t slots);

  [[nodiscard]] std::size_t waiting() const { return waiting_.size() + waitingPages_.size(); }
  [[nodiscard]] std::size_t inFlight() const;

 private:
  struct Command {
    std::vector<std::uint8_t> input;
    std::size_t outputLength = 0;
    Done done;
  };
  struct Slot {
    bool busy = false;
    bool isAbandoned = false;  // given up; the adapter has it
    std::uint64_t ticket = 0;
    Command command;
    std::vector<std::uint32_t> inputBlocks, outputBlocks;  // indices into blocks_
  };
  struct Block {
    std::uint8_t* bytes;
    BusAddress bus;
  };

  void startWaiting();
  void start(std::uint32_t index, Command command);
  std::vector<std::uint32_t> makeChain(std::size_t length, std::uint8_t token);
  void fillChain(const std::vector<std::uint32_t>& chain, ByteView data);
  void freeChain(std::vector<std::uint32_t>& chain);
  void growBlocks();
  [[nodiscard]] wire::CommandEntry entry(std::uint32_t index) const;
  [[nodiscard]] CommandReply collect(std::uint32_t index) const;
  [[nodiscard]] std::uint32_t pageSlot() const { return static_cast<std::uint32_t>(table_.size()) - 1; }

  DmaMemory& memory_;
  CommandDoorbell& doorbell_;
  unsigned logStride_;
  DmaBuffer slots_;
  std::vector<Slot> table_;
  std::vector<DmaBuffer> blockPages_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> freeBlocks_;
  std::deque<Command> waiting_;
  std::deque<Command> waitingPages_;
  std::uint8_t token_ = 0;
  std::uint64_t ticket_ = 0;
  std::uint64_t lateAnswers_ = 0;
  bool polling_ = true;
};

}  // namespace hca::driver
