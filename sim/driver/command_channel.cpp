#include "sim/driver/command_channel.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "models/wire/endian.h"
#include "models/wire/mmio_map.h"
#include "sim/driver/device_registers.h"

namespace hca::driver {

namespace {

std::string named(wire::CommandOpcode opcode) {
  return fmt::format("{}({:#x})", wire::name(opcode), static_cast<unsigned>(opcode));
}

std::string refusal(wire::CommandOpcode opcode, unsigned modifier, const adapter::CommandResult& result) {
  return fmt::format("{} op_mod({:#x}) failed, status {}({:#x}), syndrome ({:#x})", named(opcode), modifier,
                     wire::name(result.status), static_cast<unsigned>(result.status),
                     static_cast<unsigned>(result.syndrome));
}

}  // namespace

CommandChannel::CommandChannel(DriverEnvironment& environment, DmaMemory& memory, const DriverLog& log,
                               unsigned logEntries, unsigned logStride)
    : environment_(environment),
      log_(log),
      queue_(memory, *this, logEntries, logStride),
      doorbells_(environment.calendar, kernel::Priority::kSoftware, *this, &CommandChannel::ring),
      polls_(environment.calendar, kernel::Priority::kSoftware, *this, &CommandChannel::poll),
      timers_(environment.calendar, kernel::Priority::kSoftware, *this, &CommandChannel::onTimeout) {
  environment_.space.watch(queue_.address(), queue_.length(), *this);
  const std::uint64_t address = queue_.address().value();
  writeRegister(environment_.function, wire::InitSegment::kCommandQueueHigh, static_cast<std::uint32_t>(address >> 32));
  writeRegister(environment_.function, wire::InitSegment::kCommandQueueLow, static_cast<std::uint32_t>(address));
}

CommandChannel::~CommandChannel() { environment_.space.unwatch(queue_.address(), queue_.length(), *this); }

void CommandChannel::onCommandsReady(std::uint32_t slots) {
  doorbells_.send(environment_.calendar.now() + environment_.cpu.config().command, Ready{slots});
}

void CommandChannel::execute(std::vector<std::uint8_t> input, std::size_t outputLength, CommandQueue::Done done) {
  constexpr std::size_t kModifierOffset = 6;
  const auto opcode = static_cast<wire::CommandOpcode>(wire::loadBigEndian<std::uint16_t>(input.data()));
  const unsigned modifier = wire::loadBigEndian<std::uint16_t>(input.data() + kModifierOffset);
  queue_.submit(std::move(input), outputLength,
                [this, opcode, modifier, done = std::move(done)](const CommandReply& reply) {
                  const bool wasRefused = !reply.result.ok() && reply.isAnswered;
                  if (wasRefused) log_.say([&] { return refusal(opcode, modifier, reply.result); });
                  done(reply);
                });
}

void CommandChannel::keepWatch(Time timeout, std::function<std::uint32_t()> recover) {
  timeout_ = timeout;
  recover_ = std::move(recover);
  watch(~0U);
}

void CommandChannel::watch(std::uint32_t slots) {
  if (timeout_ == kForever) return;
  watched_.resize(queue_.slots());
  for (std::uint32_t slot = 0; slot < queue_.slots(); ++slot) {
    if ((slots >> slot & 1) == 0 || !queue_.isAwaited(slot)) continue;
    watched_[slot] = queue_.ticket(slot);
    timers_.set(slot, environment_.calendar.now() + timeout_);
  }
}

void CommandChannel::onTimeout(std::uint32_t slot) {
  const auto isDue = [&] { return queue_.isAwaited(slot) && queue_.ticket(slot) == watched_[slot]; };
  if (!isDue()) return;
  const wire::CommandOpcode opcode = queue_.opcode(slot);
  if (const std::uint32_t entries = recover_ && !queue_.polling() ? recover_() : 0; entries != 0) {
    log_.say([entries] { return fmt::format("Recovered {} EQEs on cmd_eq", entries); });
  }
  if (!isDue()) {
    return log_.say([&] { return fmt::format("cmd[{}]: {} recovered after timeout", slot, named(opcode)); });
  }
  if (!queue_.polling()) {
    log_.say([&] { return fmt::format("cmd[{}]: {} No done completion", slot, named(opcode)); });
  }
  log_.say([&] { return fmt::format("{} timeout. Will cause a leak of a command resource", named(opcode)); });
  queue_.giveUp(slot);
}

void CommandChannel::complete(std::uint32_t slots) {
  const std::uint64_t late = queue_.lateAnswers();
  queue_.complete(slots);
  if (queue_.lateAnswers() == late) return;
  log_.say([] { return "Command completion arrived after timeout"; });
}

void CommandChannel::ring(Ready& ready) {
  watch(ready.slots);
  writeRegister(environment_.function, wire::InitSegment::kCommandDoorbell, ready.slots);
}

// The polling loop looks at the owner byte all the time: it sees a finished command as soon as that is in memory.
void CommandChannel::onMemoryWritten(BusAddress, std::uint64_t) {
  if (queue_.polling() && queue_.finished() != 0) polls_.send(environment_.calendar.now(), Polled{});
}

void CommandChannel::poll(Polled&) {
  if (queue_.polling()) complete(queue_.finished());
}

}  // namespace hca::driver
