#include "sim/driver/command_channel.h"

#include "models/wire/mmio_map.h"
#include "sim/driver/device_registers.h"

namespace hca::driver {

CommandChannel::CommandChannel(DriverEnvironment& environment, DmaMemory& memory, unsigned logEntries,
                               unsigned logStride)
    : environment_(environment),
      queue_(memory, *this, logEntries, logStride),
      doorbells_(environment.calendar, kernel::Priority::kSoftware, *this, &CommandChannel::ring),
      polls_(environment.calendar, kernel::Priority::kSoftware, *this, &CommandChannel::poll) {
  environment_.space.watch(queue_.address(), queue_.length(), *this);
  const std::uint64_t address = queue_.address().value();
  writeRegister(environment_.function, wire::InitSegment::kCommandQueueHigh, static_cast<std::uint32_t>(address >> 32));
  writeRegister(environment_.function, wire::InitSegment::kCommandQueueLow, static_cast<std::uint32_t>(address));
}

CommandChannel::~CommandChannel() { environment_.space.unwatch(queue_.address(), queue_.length(), *this); }

void CommandChannel::onCommandsReady(std::uint32_t slots) {
  doorbells_.send(environment_.calendar.now() + environment_.cpu.config().command, Ready{slots});
}

void CommandChannel::ring(Ready& ready) {
  writeRegister(environment_.function, wire::InitSegment::kCommandDoorbell, ready.slots);
}

// The polling loop looks at the owner byte all the time: it sees a finished command as soon as that is in memory.
void CommandChannel::onMemoryWritten(BusAddress, std::uint64_t) {
  if (queue_.polling() && queue_.finished() != 0) polls_.send(environment_.calendar.now(), Polled{});
}

void CommandChannel::poll(Polled&) {
  if (queue_.polling()) queue_.complete(queue_.finished());
}

}  // namespace hca::driver
