// All probes of one simulation.
#pragma once

#include "models/observe/events.h"
#include "models/observe/probe.h"

namespace hca::adapter {
struct CommandRecord;
}
namespace hca::network {
struct Packet;
}

namespace hca::observe {

/// A packet at a port.
struct PacketEvent {
  enum class Action : std::uint8_t { kSent, kReceived, kDropped };
  Action action;
  Time time;  ///< kSent: first bit leaves; kReceived: last bit arrived
  HostIndex host;
  AdapterIndex adapter;
  const network::Packet* packet;  ///< valid during the call
};

/// Something at an adapter's command interface.
struct CommandEvent {
  const adapter::CommandRecord* record;  ///< valid during the call
};

/// One object a simulation, shared by reference: models fire, observers attach before the run.
struct Probes {
  Probe<StageEvent> stage;
  Probe<CqEvent> cq;
  Probe<HazardEvent> hazard;
  Probe<InterruptEvent> interrupt;
  Probe<AsyncEvent> async;
  Probe<PacketEvent> packet;
  Probe<CompletionEvent> completion;
  Probe<CommandEvent> command;
  Probe<EntryEvent> entry;
};

}  // namespace hca::observe
