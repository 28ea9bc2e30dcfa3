#include "sim/driver/device_life.h"

#include <algorithm>
#include <utility>

#include "models/kernel/inbox.h"
#include "models/wire/command_header.h"
#include "models/wire/mmio_map.h"
#include "models/wire/queue_commands.h"
#include "models/wire/vport_context.h"
#include "sim/driver/device_registers.h"
#include "sim/driver/page_list_of.h"

namespace hca::driver {
namespace {

using adapter::CommandResult;
using adapter::CommandStatus;
using wire::CommandOpcode;

constexpr CommandResult kNoDevice{CommandStatus::kBadSystemState, adapter::Syndrome::kNone};
// The stock driver looks every 2 ms, for 2 minutes at most (main.c: FW_INIT_WAIT_MS and FW_INIT_TIMEOUT_MILI). A
// modelled device is ready sooner.
constexpr Time kInitialisingPause = microseconds(10);
constexpr unsigned kInitialisingLooks = 10'000;
constexpr std::uint32_t kPagesPerTake = 512;

constexpr std::uint64_t bit(wire::EventType type) { return std::uint64_t{1} << static_cast<unsigned>(type); }

constexpr std::uint64_t kCommandEvents = bit(wire::EventType::kCommandCompletion);
constexpr std::uint64_t kPageEvents = bit(wire::EventType::kPageRequest);
constexpr std::uint64_t kAsyncEvents =
    bit(wire::EventType::kPathMigrated) | bit(wire::EventType::kCommunicationEstablished) |
    bit(wire::EventType::kSendQueueDrained) | bit(wire::EventType::kCqError) |
    bit(wire::EventType::kWorkQueueCatastrophicError) | bit(wire::EventType::kPathMigrationFailed) |
    bit(wire::EventType::kInternalError) | bit(wire::EventType::kPortChange) |
    bit(wire::EventType::kWorkQueueInvalidRequest) | bit(wire::EventType::kWorkQueueAccessError) |
    bit(wire::EventType::kSrqCatastrophicError) | bit(wire::EventType::kSrqLastWqe) | bit(wire::EventType::kSrqLimit) |
    bit(wire::EventType::kDctDrained);

unsigned logAtLeast(std::uint32_t entries) {
  unsigned log = 0;
  while ((std::uint64_t{1} << log) < entries) ++log;
  return log;
}

}  // namespace

DeviceLife::DeviceLife(DriverEnvironment& environment, const DriverConfig& config, DmaMemory& memory,
                       EventTarget& target, const DriverLog& log)
    : environment_(environment),
      config_(config),
      memory_(memory),
      log_(log),
      pages_(memory),
      pci_(environment.function, environment.adapter.value()),
      events_(environment, target),
      pause_(environment.calendar, kernel::Priority::kSoftware, *this, &DeviceLife::readInitialising) {}

void DeviceLife::up(Done done) {
  std::vector<Sequence::Step> steps = bootSteps();
  for (Sequence::Step& step : initSteps()) steps.push_back(std::move(step));
  for (Sequence::Step& step : eventQueueSteps()) steps.push_back(std::move(step));
  Sequence::run(std::move(steps), std::move(done));
}

std::vector<Sequence::Step> DeviceLife::bootSteps() {
  return {[this](const Next& next) { enumerate(next); },
          [this](const Next& next) { waitInitialised(next); },
          [this](const Next& next) { checkRevision(next); },
          [this](const Next& next) { makeCommandQueue(next); },
          plain(CommandOpcode::kEnableHca),
          [this](const Next& next) { negotiateIssi(next); },
          [this](const Next& next) { satisfyPages(wire::PagesKind::kBoot, next); },
          [this](const Next& next) { setHostEndianness(next); }};
}

std::vector<Sequence::Step> DeviceLife::initSteps() {
  return {[this](const Next& next) { queryCapabilities(true, current_, next); },
          [this](const Next& next) { queryCapabilities(false, maximum_, next); },
          [this](const Next& next) { setCapabilities(next); },
          [this](const Next& next) { satisfyPages(wire::PagesKind::kInit, next); },
          plain(CommandOpcode::kInitHca),
          [this](const Next& next) { queryCapabilities(true, current_, next); },
          [this](const Next& next) { queryCapabilities(false, maximum_, next); },
          [this](const Next& next) {
            readCapabilities();
            queryEthernet([this, next](const CommandResult& result) {
              if (!result.ok()) return next(result);
              queryDeviceMemory(next);
            });
          },
          [this](const Next& next) {
            run(plainCommand(CommandOpcode::kQueryAdapter), wire::QueryAdapterOutput::kSize, next);
          }};
}

std::vector<Sequence::Step> DeviceLife::eventQueueSteps() {
  const InterruptVector control(0);
  return {[this](const Next& next) { allocateUar(next); },
          [this, control](const Next& next) {
            setUpInterrupts();
            createEq(config_.command_eq_entries, control, kCommandEvents, controlEqs_, next);
          },
          [this, control](const Next& next) {
            commands_->useEvents();
            createEq(config_.async_eq_entries, control, kAsyncEvents, controlEqs_, next);
          },
          [this, control](const Next& next) {
            createEq(config_.command_eq_entries, control, kPageEvents, controlEqs_, next);
          },
          [this](const Next& next) { createCompletionEqs(0, next); },
          [this](const Next& next) { queryPorts(1, next); }};
}

void DeviceLife::enumerate(const Next& next) {
  found_ = pci_.enumerate();
  if (!found_) return next(kNoDevice);
  capabilities_.vendorId = found_->vendorId;
  capabilities_.deviceId = found_->deviceId;
  next({});
}

void DeviceLife::waitInitialised(const Next& next) {
  initialised_ = next;
  looksLeft_ = kInitialisingLooks;
  readInitialising();
}

void DeviceLife::readInitialising() {
  readRegister(environment_.function, wire::InitSegment::kInitializing, [this](std::uint32_t value) {
    constexpr std::uint32_t kBusy = 1U << 31;
    if ((value & kBusy) == 0) return std::exchange(initialised_, {})({});
    if (--looksLeft_ == 0) return std::exchange(initialised_, {})(kNoDevice);
    pause_.set(environment_.calendar.now() + kInitialisingPause);
  });
}

void DeviceLife::checkRevision(const Next& next) {
  readRegister(environment_.function, wire::InitSegment::kCommandRevision, [next](std::uint32_t value) {
    next(value >> 16 == wire::InitSegment::kSupportedCommandRevision ? CommandResult{} : kNoDevice);
  });
}

void DeviceLife::makeCommandQueue(const Next& next) {
  readRegister(environment_.function, wire::InitSegment::kCommandQueueLow, [this, next](std::uint32_t value) {
    const unsigned logEntries = wire::CommandQueueLow::LogEntries::get(value);
    const unsigned logStride = wire::CommandQueueLow::LogStride::get(value);
    if (logEntries > 5 || (std::size_t{1} << logStride) < sizeof(wire::CommandEntry) || logEntries + logStride > 12) {
      return next(kNoDevice);
    }
    commands_ = std::make_unique<CommandChannel>(environment_, memory_, log_, logEntries, logStride);
    if (keepsWatch_) keepWatch();
    next({});
  });
}

void DeviceLife::keepWatch() {
  keepsWatch_ = true;
  if (commands_ == nullptr) return;
  commands_->keepWatch(config_.command_timeout,
                       [this] { return controlEqs_.empty() ? 0U : events_.recover(controlEqs_.front()); });
}

void DeviceLife::run(CommandBytes input, std::size_t outputLength, const Next& next) {
  commands_->execute(std::move(input), outputLength, [next](const CommandReply& reply) { next(reply.result); });
}

Sequence::Step DeviceLife::plain(CommandOpcode opcode, std::size_t size, std::uint32_t modifier) {
  return [this, opcode, size, modifier](const Next& next) { run(plainCommand(opcode, size, modifier), 16, next); };
}

void DeviceLife::negotiateIssi(const Next& next) {
  using Output = wire::QueryIssiOutput;
  commands_->execute(plainCommand(CommandOpcode::kQueryIssi), Output::kSize, [this, next](const CommandReply& reply) {
    if (!reply.result.ok()) return next(reply.result);
    constexpr std::uint32_t kRevision1 = 1U << 1;
    if ((Output::SupportedLow::get(reply.output) & kRevision1) == 0) return next(kNoDevice);
    CommandBytes input = plainCommand(CommandOpcode::kSetIssi, wire::SetIssiInput::kSize);
    wire::SetIssiInput::Current::set(input, 1);
    run(std::move(input), 16, next);
  });
}

void DeviceLife::satisfyPages(wire::PagesKind kind, const Next& next) {
  using Output = wire::QueryPagesOutput;
  commands_->execute(plainCommand(CommandOpcode::kQueryPages, 16, static_cast<std::uint32_t>(kind)), Output::kSize,
                     [this, next](const CommandReply& reply) {
                       if (!reply.result.ok()) return next(reply.result);
                       givePages(Output::Function::get(reply.output), Output::Pages::get(reply.output), next);
                     });
}

void DeviceLife::givePages(std::uint32_t function, std::uint32_t count, const Next& next) {
  const std::vector<BusAddress> pages = pages_.take(count);
  commands_->execute(givePagesCommand(function, pages), wire::ManagePagesOutput::kSize,
                     [this, next, pages](const CommandReply& reply) {
                       if (!reply.result.ok()) {
                         for (const BusAddress page : pages) pages_.giveBack(page);
                       }
                       next(reply.result);
                     });
}

void DeviceLife::takePages(std::uint32_t function, std::uint32_t count, const Next& next) {
  using Output = wire::ManagePagesOutput;
  commands_->execute(
      takePagesCommand(function, count), Output::kSize + 8 * count, [this, next](const CommandReply& reply) {
        if (!reply.result.ok()) return next(reply.result);
        const std::size_t entries =
            std::min<std::size_t>(Output::Entries::get(reply.output), Output::Pages::count(reply.output));
        for (std::size_t i = 0; i < entries; ++i) {
          pages_.giveBack(BusAddress(Output::Pages::get(reply.output, i)));
        }
        next(entries == 0 ? CommandResult{CommandStatus::kNoResources} : CommandResult{});
      });
}

void DeviceLife::takeAllPages(const Next& next) {
  if (pages_.given() == 0) return next({});
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(pages_.given(), kPagesPerTake));
  takePages(0, count, [this, next](CommandResult result) {
    if (!result.ok()) return next(result);
    takeAllPages(next);
  });
}

void DeviceLife::onPageRequest(std::uint16_t function, std::int32_t pages) {
  const auto ignore = [](CommandResult) {};
  if (pages > 0) {
    givePages(function, static_cast<std::uint32_t>(pages), ignore);
  } else if (pages < 0) {
    takePages(function, static_cast<std::uint32_t>(-static_cast<std::int64_t>(pages)), ignore);
  }
}

void DeviceLife::setHostEndianness(const Next& next) {
  using Register = wire::HostEndiannessRegister;
  CommandBytes input = plainCommand(CommandOpcode::kAccessRegister, wire::AccessRegisterInput::kData + Register::kSize,
                                    static_cast<std::uint32_t>(wire::RegisterAccess::kWrite));
  wire::AccessRegisterInput::Register::set(input, static_cast<std::uint32_t>(wire::RegisterId::kHostEndianness));
  Register::Endianness::set(MutableByteView(input).subview(wire::AccessRegisterInput::kData, Register::kSize), 0);
  run(std::move(input), wire::AccessRegisterOutput::kData + Register::kSize, next);
}

void DeviceLife::allocateUar(const Next& next) {
  commands_->execute(plainCommand(CommandOpcode::kAllocUar), wire::ObjectCommand::kSize,
                     [this, next](const CommandReply& reply) {
                       uar_ = UarIndex(wire::ObjectCommand::Number::get(reply.output));
                       next(reply.result);
                     });
}

std::uint32_t DeviceLife::wantedVectors() const {
  const std::uint32_t available = found_->vectors - 1;  // interrupt 0 is the control queues'
  const auto wanted =
      config_.num_comp_vectors != 0 ? config_.num_comp_vectors : static_cast<std::uint32_t>(environment_.cpu.cores());
  return std::min(wanted, available);
}

void DeviceLife::setUpInterrupts() {
  for (std::uint32_t vector = 0; vector <= wantedVectors(); ++vector) {
    pci_.setVector(*found_, vector,
                   environment_.interrupts.allocate(events_, InterruptVector(vector), environment_.adapter));
  }
  pci_.enableMsix(*found_, true);
}

void DeviceLife::createEq(std::uint32_t entries, InterruptVector vector, std::uint64_t eventMask,
                          std::vector<EqNumber>& into, const Next& next) {
  const unsigned logSize = logAtLeast(entries + EventRing::kSpareEntries);
  const DmaBuffer buffer = memory_.allocate((std::uint64_t{1} << logSize) * sizeof(wire::Eqe));
  EventRing ring(buffer, logSize);
  ring.initialise();
  adapter::EqAttributes attributes;
  attributes.logSize = static_cast<std::uint8_t>(logSize);
  attributes.uar = uar_;
  attributes.vector = vector;
  attributes.ring = pageListOf(buffer, buffer.length);
  attributes.eventBitmap[0] = eventMask;
  commands_->execute(createEqCommand(attributes), wire::EqCommand::kSize,
                     [this, ring, vector, &into, next](const CommandReply& reply) {
                       if (!reply.result.ok()) {
                         memory_.free(ring.buffer());
                         return next(reply.result);
                       }
                       into.emplace_back(wire::EqCommand::Number::get(reply.output));
                       events_.add(into.back(), vector, uar_, ring);
                       next({});
                     });
}

void DeviceLife::createCompletionEqs(std::uint32_t vector, const Next& next) {
  if (vector == wantedVectors()) return next({});
  createEq(config_.comp_eq_entries, InterruptVector(kFirstCompletionInterrupt + vector), 0, completionEqs_,
           [this, vector, next](CommandResult result) {
             if (!result.ok()) return next(result);
             createCompletionEqs(vector + 1, next);
           });
}

void DeviceLife::destroyEqs(std::vector<EqNumber>& queues, const Next& next) {
  if (queues.empty()) return next({});
  const EqNumber number = queues.back();
  // The command queue's events end with the command that destroys their event queue.
  if (&queues == &controlEqs_ && queues.size() == 1) commands_->usePolling();
  run(objectCommand(CommandOpcode::kDestroyEq, number.value()), 16,
      [this, number, &queues, next](CommandResult result) {
        if (!result.ok()) return next(result);
        memory_.free(events_.remove(number).buffer());
        queues.pop_back();
        destroyEqs(queues, next);
      });
}

void DeviceLife::down(Done done) {
  if (commands_ == nullptr) return done({});
  Sequence::run({[this](const Next& next) { destroyEqs(completionEqs_, next); },
                 [this](const Next& next) { destroyEqs(controlEqs_, next); },
                 [this](const Next& next) {
                   pci_.enableMsix(*found_, false);
                   run(objectCommand(CommandOpcode::kDeallocUar, uar_.value()), 16, next);
                 },
                 plain(CommandOpcode::kTeardownHca), [this](const Next& next) { takeAllPages(next); },
                 plain(CommandOpcode::kDisableHca)},
                [this, done = std::move(done)](CommandResult result) {
                  if (result.ok()) release();
                  done(result);
                });
}

void DeviceLife::release() {
  pci_.disable();
  environment_.interrupts.release(events_);
}

}  // namespace hca::driver
