// Commands with their time: CPU cost, doorbell, completion by polling or by event.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/host/bus_address_space.h"
#include "models/kernel/inbox.h"
#include "models/kernel/keyed_timers.h"
#include "sim/driver/command_queue.h"
#include "sim/driver/driver_environment.h"
#include "sim/driver/driver_log.h"

namespace hca::driver {

/// Drives one command queue. The driver's own work around a command ([cpu] command) is done on whichever core is idle,
/// before the doorbell.
class CommandChannel final : private CommandDoorbell, private host::MemoryWatcher {
 public:
  /// `logEntries`, `logStride`: from the adapter's command queue register. Tells the adapter where the queue is.
  CommandChannel(DriverEnvironment& environment, DmaMemory& memory, const DriverLog& log, unsigned logEntries,
                 unsigned logStride);
  ~CommandChannel();

  /// `done` runs when software sees the answer.
  void execute(std::vector<std::uint8_t> input, std::size_t outputLength, CommandQueue::Done done);

  /// From now on a command without an answer for `timeout` is given up, as the stock driver does (Linux
  /// drivers/net/ethernet/mellanox/mlx5/core/cmd.c, wait_func). `recover`, unless empty, is called first: takes the
  /// entries of the command event queue whose interrupt may have been lost; how many.
  void keepWatch(Time timeout, std::function<std::uint32_t()> recover);
  /// The adapter is gone: every command fails.
  void giveUpAll() { queue_.giveUpAll(); }
  void useEvents() { queue_.useEvents(); }
  void usePolling() { queue_.usePolling(); }
  /// A command EQE named `slots`.
  void onEvent(std::uint32_t slots) { complete(slots); }

  [[nodiscard]] const CommandQueue& queue() const { return queue_; }

 private:
  struct Ready {
    std::uint32_t slots = 0;
  };
  struct Polled {};
  void onCommandsReady(std::uint32_t slots) override;
  void onMemoryWritten(BusAddress address, std::uint64_t length) override;
  void ring(Ready& ready);
  void poll(Polled&);
  void complete(std::uint32_t slots);
  void watch(std::uint32_t slots);
  void onTimeout(std::uint32_t slot);

  DriverEnvironment& environment_;
  const DriverLog& log_;
  CommandQueue queue_;
  kernel::Inbox<CommandChannel, Ready> doorbells_;
  kernel::Inbox<CommandChannel, Polled> polls_;
  Time timeout_ = kForever;  // nobody watches
  std::function<std::uint32_t()> recover_;
  std::vector<std::uint64_t> watched_;  // by slot, the command's ticket
  kernel::KeyedTimers<CommandChannel> timers_;
};

}  // namespace hca::driver
