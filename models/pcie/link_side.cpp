#include "models/pcie/link_side.h"

#include <stdexcept>

#include "models/pcie/pcie_extension.h"

namespace hca::pcie {

namespace {

PcieExtension& extensionOf(tlm::tlm_generic_payload& payload) {
  auto* extension = payload.get_extension<PcieExtension>();
  if (extension == nullptr) throw std::logic_error("a transaction on a PCI Express link needs a PcieExtension");
  return *extension;
}

TlpClass classOf(const tlm::tlm_generic_payload& request) {
  return request.is_write() ? TlpClass::kPosted : TlpClass::kNonPosted;
}

}  // namespace

LinkContext::LinkContext(kernel::CalendarModule& module, const PcieConfig& config)
    : calendar(module),
      timing(config),
      latency(config.endpointLatency + config.propagation + config.rootComplexLatency),
      creditReturnLatency(config.creditReturnLatency),
      maxPayload(static_cast<std::uint32_t>(config.maxPayload.count())),
      maxReadRequest(static_cast<std::uint32_t>(config.maxReadRequest.count())) {}

LinkSide::LinkSide(const LinkContext& context, const CreditLimits& credits, TargetSocket& fromDevice,
                   InitiatorSocket& toDevice)
    : context_(context),
      calendar_(context.calendar.calendar()),
      fromDevice_(fromDevice),
      toDevice_(toDevice),
      transmitter_(calendar_, credits, *this),
      later_(calendar_, kernel::Priority::kLink, *this, &LinkSide::onLater) {
  fromDevice_.bind(*this);
  toDevice_.bind(*this);
}

void LinkSide::inspectDevice() {
  const bool target = dynamic_cast<CalendarPeer*>(toDevice_.operator->()) != nullptr;
  const bool initiator = dynamic_cast<CalendarPeer*>(fromDevice_.operator->()) != nullptr;
  deviceIsForeign_ = !target || !initiator;
}

// A foreign process calls between two activations of the calendar: it has to be brought up to the caller's time and
// told of what was scheduled.
Time LinkSide::enter(const sc_core::sc_time& delay) {
  if (!context_.calendar.isDraining()) context_.calendar.synchronise();
  return later(context_.calendar.timeOf(delay), calendar_.now());
}

void LinkSide::leave() {
  if (!context_.calendar.isDraining()) context_.calendar.wake();
}

tlm::tlm_sync_enum LinkSide::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const Time when = enter(delay);
  const Cargo cargo{&payload, &extensionOf(payload)};
  if (phase == tlm::BEGIN_REQ) {
    accept(Message::kRequest, cargo, when);
    leave();
    return tlm::TLM_ACCEPTED;
  }
  other_->takeBack(TlpClass::kCompletion, shapeOf(TlpClass::kCompletion, cargo), when);
  leave();
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum LinkSide::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const Time when = enter(delay);
  const Cargo cargo{&payload, &extensionOf(payload)};
  other_->takeHeldBack(cargo, when);
  if (phase != tlm::BEGIN_RESP) {
    leave();
    return tlm::TLM_ACCEPTED;
  }
  accept(payload.is_read() ? Message::kCompletion : Message::kWriteResponse, cargo, when);
  leave();
  return tlm::TLM_COMPLETED;
}

void LinkSide::b_transport(Payload& payload, sc_core::sc_time& delay) {
  if (extensionOf(payload).kind != TlpKind::kConfiguration) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  other_->toDevice_->b_transport(payload, delay);
}

unsigned LinkSide::transport_dbg(Payload& payload) { return other_->toDevice_->transport_dbg(payload); }
bool LinkSide::get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) { return false; }
void LinkSide::invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) {}

void LinkSide::accept(Message message, Cargo cargo, Time when) {
  if (when <= calendar_.now()) return act(message, cargo);
  cargo.payload->acquire();
  later_.send(when, {message, cargo});
}

void LinkSide::onLater(Later& later) {
  act(later.message, later.cargo);
  later.cargo.payload->release();
}

void LinkSide::act(Message message, Cargo cargo) {
  if (message == Message::kWriteResponse) return other_->respondToWriter(cargo);
  transmit(message, cargo);
}

void LinkSide::transmit(Message message, Cargo cargo) {
  const TlpClass tlpClass = message == Message::kCompletion ? TlpClass::kCompletion : classOf(*cargo.payload);
  const Outbound outbound{tlpClass, cargo.extension->relaxedOrdering, cargo.extension->traffic,
                          shapeOf(tlpClass, cargo), cargo};
  cargo.payload->acquire();  // until it is handed over
  transmitter_.send(outbound);
}

void LinkSide::onTransmit(const Outbound& outbound, Time last) {
  const Time arrival = last + context_.latency;
  if (outbound.tlpClass == TlpClass::kCompletion) {
    other_->sendCompletion(outbound, arrival);
  } else {
    other_->sendRequest(outbound, arrival);
  }
  outbound.cargo.payload->release();
}

// To the device at this end. The other side sent it and waits for its credits.
void LinkSide::sendRequest(const Outbound& outbound, Time arrival) {
  const Cargo cargo = outbound.cargo;
  cargo.extension->creditsHeld = other_->transmitter_.isLimited(outbound.tlpClass);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = context_.calendar.delayUntil(arrival);
  const tlm::tlm_sync_enum reply = toDevice_->nb_transport_fw(*cargo.payload, phase, delay);
  calledOut();
  if (reply == tlm::TLM_ACCEPTED) return;
  onAnswer(outbound, reply == tlm::TLM_COMPLETED || phase == tlm::BEGIN_RESP, context_.calendar.timeOf(delay));
}

void LinkSide::onAnswer(const Outbound& outbound, bool responds, Time when) {
  const Cargo cargo = outbound.cargo;
  other_->takeHeldBack(cargo, when);
  if (!responds) return;
  const bool tellsWriter = cargo.extension->notify || cargo.payload->is_response_error();
  if (cargo.payload->is_read()) accept(Message::kCompletion, cargo, when);
  if (cargo.payload->is_write() && tellsWriter) accept(Message::kWriteResponse, cargo, when);
}

void LinkSide::sendCompletion(const Outbound& outbound, Time arrival) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = context_.calendar.delayUntil(arrival);
  const tlm::tlm_sync_enum reply = fromDevice_->nb_transport_bw(*outbound.cargo.payload, phase, delay);
  calledOut();
  if (reply == tlm::TLM_ACCEPTED) return;
  other_->takeBack(TlpClass::kCompletion, outbound.burst, context_.calendar.timeOf(delay));
}

void LinkSide::respondToWriter(Cargo cargo) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = context_.calendar.delayUntil(calendar_.now());
  fromDevice_->nb_transport_bw(*cargo.payload, phase, delay);
  calledOut();
}

void LinkSide::takeBack(TlpClass tlpClass, const Burst& burst, Time when) {
  transmitter_.giveBack(tlpClass, burst, when + context_.creditReturnLatency);
}

// BEGIN_RESP without END_REQ before it says both.
void LinkSide::takeHeldBack(Cargo cargo, Time when) {
  if (!cargo.extension->creditsHeld) return;
  cargo.extension->creditsHeld = false;
  const TlpClass tlpClass = classOf(*cargo.payload);
  takeBack(tlpClass, shapeOf(tlpClass, cargo), when);
}

Burst LinkSide::shapeOf(TlpClass tlpClass, Cargo cargo) const {
  const std::uint64_t address = cargo.payload->get_address();
  const std::uint32_t length = cargo.payload->get_data_length();
  const bool isWrite = tlpClass == TlpClass::kPosted;
  std::uint32_t piece = cargo.extension->pieceSize;
  if (piece == 0) piece = isWrite ? context_.maxPayload : context_.maxReadRequest;
  if (isWrite) return context_.timing.writes(address, length, piece);
  if (tlpClass == TlpClass::kNonPosted) return context_.timing.readRequests(address, length, piece);
  if (cargo.payload->is_response_error()) {
    return context_.timing.completionsWithoutData(LinkTiming::pieces(address, length, piece));
  }
  return context_.timing.completions(address, length, piece);
}

}  // namespace hca::pcie
