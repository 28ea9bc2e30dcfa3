#include "sim/drills/drill_bench.h"

#include <fmt/format.h>

#include "sim/drills/drill_kinds.h"
#include "sim/logging/time_text.h"

namespace hca::sim {
namespace {

using adapter::CommandFaultKind;

constexpr DrillBench::Number kNoDrill = ~DrillBench::Number{0};
constexpr std::size_t kMostLines = 200;

// What a command's doing comes to.
std::string effectOf(const DrillConfig& drill, wire::CommandOpcode opcode, std::uint32_t slot) {
  const std::string what = fmt::format("{} in slot {} ", wire::name(opcode), slot);
  switch (drill.kind) {
    case DrillKind::kCommandTimeout:
      return what + "is never executed nor answered";
    case DrillKind::kCommandLate:
      return what + fmt::format("is executed and answered {} later", drill.duration);
    case DrillKind::kCommandStatus:
      return what + fmt::format("is not executed, but answered: {} ({:#x}), syndrome {:#x}", wire::name(drill.status),
                                static_cast<unsigned>(drill.status), drill.syndrome);
    default:
      return what + fmt::format("is not executed, but answered: delivery status {:#x}, {}",
                                static_cast<unsigned>(drill.delivery), wire::name(drill.delivery));
  }
}

CommandFaultKind faultOf(DrillKind kind) {
  switch (kind) {
    case DrillKind::kCommandTimeout:
      return CommandFaultKind::kSwallowed;
    case DrillKind::kCommandLate:
      return CommandFaultKind::kLate;
    case DrillKind::kCommandStatus:
      return CommandFaultKind::kRefused;
    default:
      return CommandFaultKind::kUndelivered;
  }
}

}  // namespace

DrillBench::DrillBench(System& system, const config::Config& config)
    : system_(system), lastOfHost_(config.host.count, kNoDrill) {
  for (const config::NamedDrill& named : config.drills) add(named, calendar().now());
  for (std::size_t host = 0; host < system_.hosts(); ++host) {
    for (std::uint32_t number = 0; number < system_.host(host).adapters(); ++number) {
      system_.host(host).adapter(number).driver().setLogSink(
          [this, host](const std::string& line) { onKernelLine(HostIndex(static_cast<std::uint32_t>(host)), line); });
    }
  }
}

DrillBench::Number DrillBench::perform(const config::NamedDrill& drill, Time when) {
  const Number number = add(drill, when);
  drills_[number].wasAsked = true;
  ++asked_;
  return number;
}

DrillBench::Number DrillBench::add(const config::NamedDrill& named, Time when) {
  const Number number = drills_.size();
  Drill& drill = drills_.emplace_back();
  drill.config = named.drill;
  drill.result.name = named.name;
  drill.result.kind = name(named.drill.kind);
  drill.result.host = HostIndex(named.drill.host);
  drill.result.adapter = AdapterIndex(named.drill.adapter);
  drill.result.effect = "its time has not come";
  calendar().schedule(later(when, named.drill.at), kernel::Priority::kNetwork, *this, number);
  return number;
}

std::vector<report::DrillResult> DrillBench::results() const {
  std::vector<report::DrillResult> all;
  for (const Drill& drill : drills_) all.push_back(drill.result);
  return all;
}

void DrillBench::onKernelLine(HostIndex host, const std::string& line) {
  const Number number = lastOfHost_[host.value()];
  if (number == kNoDrill) return;
  std::vector<std::string>& log = drills_[number].result.kernelLog;
  if (log.size() < kMostLines) log.push_back(line);
}

AdapterNode& DrillBench::node(Number number) {
  const DrillConfig& drill = drills_[number].config;
  return system_.host(drill.host).adapter(drill.adapter);
}

void DrillBench::onCalendar(std::uint64_t token) {
  Drill& drill = drills_[token];
  if (drill.begun) return step(token);
  drill.begun = true;
  if (drill.wasAsked) --asked_;
  drill.result.effect = "waits for what it concerns";
  node(token).driver().keepWatch();
  begin(token);
}

void DrillBench::begin(Number number) {
  const DrillConfig& drill = drills_[number].config;
  switch (drill.kind) {
    case DrillKind::kCommandTimeout:
    case DrillKind::kCommandLate:
    case DrillKind::kCommandStatus:
    case DrillKind::kCommandDelivery:
      return breakCommands(number);
    case DrillKind::kLostInterrupt:
      return loseInterrupts(number);
    case DrillKind::kExtraInterrupt:
      return sendInterrupts(number);
    case DrillKind::kEqOverflow:
      return overflow(number);
    case DrillKind::kCqError:
      return breakCompletionQueue(number);
    case DrillKind::kReset:
      return restart(number);
    case DrillKind::kHealth:
      return reportHealth(number);
    case DrillKind::kLinkFlap:
    case DrillKind::kRemoval:
    case DrillKind::kHealthCounter:
      drills_[number].stepsLeft = drill.duration == Time(0) ? 1 : 2 * drill.count;
      return step(number);
    case DrillKind::kNone:
      return;
  }
}

void DrillBench::happened(Number number, const std::string& effect) {
  report::DrillResult& result = drills_[number].result;
  lastOfHost_[result.host.value()] = number;
  if (++result.times > 1) return;
  result.done = true;
  result.at = calendar().now();
  result.effect = effect;
  if (listener_) listener_(result);
}

void DrillBench::failed(Number number, const std::string& why) {
  report::DrillResult& result = drills_[number].result;
  result.at = calendar().now();
  result.effect = "nothing happens: " + why;
  if (listener_) listener_(result);
}

void DrillBench::breakCommands(Number number) {
  const DrillConfig& drill = drills_[number].config;
  adapter::CommandFault fault;
  fault.kind = faultOf(drill.kind);
  fault.opcode = opcodeOf(drill.opcode);
  fault.occasions = {drill.after, drill.count};
  fault.delay = drill.duration;
  fault.result = {drill.status, static_cast<adapter::Syndrome>(drill.syndrome)};
  fault.delivery = drill.delivery;
  fault.happened = [this, number](wire::CommandOpcode opcode, std::uint32_t slot) {
    happened(number, effectOf(drills_[number].config, opcode, slot));
  };
  node(number).hca().breakCommands(std::move(fault));
}

// Nothing, after a word, if the event queue isn't there.
std::optional<InterruptVector> DrillBench::vectorOf(Number number) {
  const DrillConfig& drill = drills_[number].config;
  if (drill.eq == 0) return InterruptVector(drill.vector);
  const adapter::EventQueue* const queue = node(number).hca().events().find(EqNumber(drill.eq));
  if (queue != nullptr) return queue->attributes.vector;
  failed(number, "there is no such event queue");
  return std::nullopt;
}

void DrillBench::loseInterrupts(Number number) {
  const DrillConfig& drill = drills_[number].config;
  const auto vector = vectorOf(number);
  if (!vector) return;
  node(number).hca().loseInterrupts({*vector, {drill.after, drill.count}, [this, number, vector] {
                                       happened(number,
                                                fmt::format("an interrupt of vector {} is lost", vector->value()));
                                     }});
}

void DrillBench::sendInterrupts(Number number) {
  const DrillConfig& drill = drills_[number].config;
  const auto vector = vectorOf(number);
  if (!vector) return;
  for (std::uint32_t sent = 0; sent < drill.count; ++sent) {
    if (!node(number).hca().fireInterrupt(*vector)) return failed(number, "no such vector");
    happened(number, fmt::format("an interrupt of vector {} comes that nothing caused", vector->value()));
  }
}

void DrillBench::overflow(Number number) {
  const DrillConfig& drill = drills_[number].config;
  const adapter::EqEngine& events = node(number).hca().events();
  const EqNumber eq = drill.eq != 0 ? EqNumber(drill.eq) : events.queueOf(adapter::EventType::kCqError);
  if (eq == EqNumber(0)) return failed(number, "no event queue takes asynchronous events");
  node(number).hca().overflowEventQueue(
      {eq, {drill.after, drill.count}, [this, number, eq](adapter::EventType type) {
         happened(number, fmt::format("an event of type {:#x} finds event queue {} full and is lost",
                                      static_cast<unsigned>(type), eq.value()));
       }});
}

void DrillBench::breakCompletionQueue(Number number) {
  const DrillConfig& drill = drills_[number].config;
  adapter::Hca& hca = node(number).hca();
  const std::optional<CqNumber> cq = drill.cq != 0 ? CqNumber(drill.cq) : hca.completion().lastQueue();
  const auto status = drill.syndrome == 2 ? adapter::CqStatus::kWriteFailed : adapter::CqStatus::kOverflow;
  const bool isBroken = cq && hca.breakCompletionQueue(*cq, status);
  if (!isBroken) return failed(number, cq ? "there is no such completion queue that works" : "no completion queue");
  happened(number,
           fmt::format("completion queue {:#x} goes to error, syndrome {}", cq->value(), drill.syndrome == 2 ? 2 : 1));
}

// Broken and whole in turn.
void DrillBench::step(Number number) {
  Drill& drill = drills_[number];
  const bool isOnce = drill.config.duration == Time(0);
  setState(number, isOnce || drill.stepsLeft % 2 == 0);
  if (--drill.stepsLeft == 0) return;
  calendar().schedule(calendar().now() + drill.config.duration, kernel::Priority::kNetwork, *this, number);
}

void DrillBench::setState(Number number, bool isBroken) {
  const DrillConfig& drill = drills_[number].config;
  const std::string until = drill.duration == Time(0) ? ", for good" : fmt::format(", for {}", drill.duration);
  switch (drill.kind) {
    case DrillKind::kLinkFlap:
      node(number).outsideHand().setCable(static_cast<std::uint8_t>(drill.port), !isBroken);
      if (isBroken) happened(number, fmt::format("the link of port {} is down", drill.port) + until);
      return;
    case DrillKind::kRemoval:
      node(number).endpoint().setPresent(!isBroken);
      if (isBroken) happened(number, "the function is gone from PCIe" + until);
      return;
    default:
      node(number).hca().stopHealthCounter(isBroken);
      if (isBroken) happened(number, "the health counter stands still" + until);
  }
}

void DrillBench::restart(Number number) {
  node(number).hca().restart();
  happened(number, "the firmware starts anew: every object is gone");
}

void DrillBench::reportHealth(Number number) {
  const DrillConfig& drill = drills_[number].config;
  const auto syndrome = static_cast<adapter::HealthSyndrome>(drill.syndrome == 0 ? 1 : drill.syndrome);
  if (drill.fatal) {
    node(number).outsideHand().breakAdapter(syndrome, drill.resetRequest);
  } else {
    node(number).hca().reportHealth(syndrome, drill.resetRequest);
  }
  happened(number, fmt::format("the health buffer says {:#x}{}{}", static_cast<unsigned>(syndrome),
                               drill.resetRequest ? " and asks for a reset" : "",
                               drill.fatal ? ", queue pairs are gone, an event says so" : ""));
}

}  // namespace hca::sim
