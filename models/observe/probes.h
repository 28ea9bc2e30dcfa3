// All probes of one simulation.
#pragma once

#include "models/observe/events.h"
#include "models/observe/probe.h"

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

/// One object a simulation, shared by reference: models fire, observers attach before the run.
struct Probes {
  Probe<StageEvent> stage;
  Probe<CqEvent> cq;
  Probe<HazardEvent> hazard;
  Probe<InterruptEvent> interrupt;
  Probe<AsyncEvent> async;
  Probe<PacketEvent> packet;
  Probe<CompletionEvent> completion;
};

}  // namespace hca::observe
