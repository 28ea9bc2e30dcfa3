// Commands with their time: CPU cost, doorbell, completion by polling or by event.
#pragma once

#include <cstdint>

#include "models/host/bus_address_space.h"
#include "models/kernel/inbox.h"
#include "sim/driver/command_queue.h"
#include "sim/driver/driver_environment.h"

namespace hca::driver {

/// Drives one command queue. The driver's own work around a command ([cpu] command) is done on whichever core is idle,
/// before the doorbell.
class CommandChannel final : private CommandDoorbell, private host::MemoryWatcher {
 public:
  /// `logEntries`, `logStride`: from the adapter's command queue register. Tells the adapter where the queue is.
  CommandChannel(DriverEnvironment& environment, DmaMemory& memory, unsigned logEntries, unsigned logStride);
  ~CommandChannel();

  /// `done` runs when software sees the answer.
  void execute(std::vector<std::uint8_t> input, std::size_t outputLength, CommandQueue::Done done) {
    queue_.submit(std::move(input), outputLength, std::move(done));
  }
  void useEvents() { queue_.useEvents(); }
  void usePolling() { queue_.usePolling(); }
  /// A command EQE named `slots`.
  void onEvent(std::uint32_t slots) { queue_.complete(slots); }

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

  DriverEnvironment& environment_;
  CommandQueue queue_;
  kernel::Inbox<CommandChannel, Ready> doorbells_;
  kernel::Inbox<CommandChannel, Polled> polls_;
};

}  // namespace hca::driver
