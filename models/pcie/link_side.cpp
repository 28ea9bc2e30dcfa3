#include "models/pcie/link_side.h"

#include "models/pcie/pcie_extension.h"

namespace hca::pcie {

namespace {

PcieExtension& extensionOf(tlm::tlm_generic_payload& payload) {
  auto* extension = payload.get_extension<PcieExtension>();
  if (extension == nullptr) SC_REPORT_FATAL("hca.pcie", "a transaction on a PCI Express link needs a PcieExtension");
  return *extension;
}

TlpClass classOf(const tlm::tlm_generic_payload& request) {
  return request.is_write() ? TlpClass::kPosted : TlpClass::kNonPosted;
}

sc_core::sc_time delayUntil(Time when) { return kernel::toScTime(when) - sc_core::sc_time_stamp(); }
Time timeOf(const sc_core::sc_time& delay) { return kernel::fromScTime(sc_core::sc_time_stamp() + delay); }

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
  return later(timeOf(delay), calendar_.now());
}

void LinkSide::leave() {
  if (!context_.calendar.isDraining()) context_.calendar.wake();
}

tlm::tlm_sync_enum LinkSide::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const Time when = enter(delay);
  tlm::tlm_sync_enum reply = tlm::TLM_ACCEPTED;
  if (phase == tlm::BEGIN_REQ) {
    accept(Message::kRequest, payload, when);
  } else {
    other_->takeBack(TlpClass::kCompletion, payload, when);
    reply = tlm::TLM_COMPLETED;
  }
  leave();
  return reply;
}

tlm::tlm_sync_enum LinkSide::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const Time when = enter(delay);
  if (extensionOf(payload).creditsHeld) other_->takeBack(classOf(payload), payload, when);
  if (phase == tlm::BEGIN_RESP) {
    accept(payload.is_read() ? Message::kCompletion : Message::kWriteResponse, payload, when);
  }
  leave();
  return phase == tlm::BEGIN_RESP ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
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

void LinkSide::accept(Message message, Payload& payload, Time when) {
  if (when <= calendar_.now()) return act(message, payload);
  payload.acquire();
  later_.send(when, {message, &payload});
}

void LinkSide::onLater(Later& later) {
  act(later.message, *later.payload);
  later.payload->release();
}

void LinkSide::act(Message message, Payload& payload) {
  if (message == Message::kWriteResponse) return other_->respondToWriter(payload);
  transmit(message, payload);
}

void LinkSide::transmit(Message message, Payload& payload) {
  const PcieExtension& extension = extensionOf(payload);
  Sender::Outbound outbound;
  outbound.tlpClass = message == Message::kCompletion ? TlpClass::kCompletion : classOf(payload);
  outbound.relaxedOrdering = extension.relaxedOrdering;
  outbound.traffic = extension.traffic;
  outbound.burst = shapeOf(outbound.tlpClass, payload, extension);
  outbound.cargo = &payload;
  payload.acquire();  // until it is handed over
  transmitter_.send(outbound);
}

void LinkSide::onTransmit(const Sender::Outbound& outbound, Time last) {
  const Time arrival = last + context_.latency;
  if (outbound.tlpClass == TlpClass::kCompletion) {
    other_->sendCompletion(outbound, arrival);
  } else {
    other_->sendRequest(outbound, arrival);
  }
  outbound.cargo->release();
}

// To the device at this end. The other side sent it and waits for its credits.
void LinkSide::sendRequest(const Sender::Outbound& outbound, Time arrival) {
  Payload& payload = *outbound.cargo;
  extensionOf(payload).creditsHeld = true;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = delayUntil(arrival);
  const tlm::tlm_sync_enum reply = toDevice_->nb_transport_fw(payload, phase, delay);
  calledOut();
  if (reply != tlm::TLM_ACCEPTED) onRequestAnswered(payload, phase, reply, timeOf(delay));
}

void LinkSide::onRequestAnswered(Payload& payload, const tlm::tlm_phase& phase, tlm::tlm_sync_enum reply, Time when) {
  if (extensionOf(payload).creditsHeld) other_->takeBack(classOf(payload), payload, when);
  const bool responds = reply == tlm::TLM_COMPLETED || phase == tlm::BEGIN_RESP;
  if (!responds) return;
  const bool tellsWriter = extensionOf(payload).notify || payload.is_response_error();
  if (payload.is_read()) accept(Message::kCompletion, payload, when);
  if (payload.is_write() && tellsWriter) accept(Message::kWriteResponse, payload, when);
}

void LinkSide::sendCompletion(const Sender::Outbound& outbound, Time arrival) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = delayUntil(arrival);
  const tlm::tlm_sync_enum reply = fromDevice_->nb_transport_bw(*outbound.cargo, phase, delay);
  calledOut();
  if (reply != tlm::TLM_ACCEPTED) other_->takeBack(TlpClass::kCompletion, *outbound.cargo, timeOf(delay));
}

void LinkSide::respondToWriter(Payload& payload) {
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = delayUntil(calendar_.now());
  fromDevice_->nb_transport_bw(payload, phase, delay);
  calledOut();
}

void LinkSide::takeBack(TlpClass tlpClass, Payload& payload, Time when) {
  PcieExtension& extension = extensionOf(payload);
  if (tlpClass != TlpClass::kCompletion) extension.creditsHeld = false;
  if (!transmitter_.isLimited(tlpClass)) return;
  transmitter_.giveBack(tlpClass, shapeOf(tlpClass, payload, extension), when + context_.creditReturnLatency);
}

Burst LinkSide::shapeOf(TlpClass tlpClass, const Payload& payload, const PcieExtension& extension) const {
  const std::uint64_t address = payload.get_address();
  const std::uint32_t length = payload.get_data_length();
  const bool isWrite = tlpClass == TlpClass::kPosted;
  std::uint32_t piece = extension.pieceSize;
  if (piece == 0) piece = isWrite ? context_.maxPayload : context_.maxReadRequest;
  if (isWrite) return context_.timing.writes(address, length, piece);
  if (tlpClass == TlpClass::kNonPosted) return context_.timing.readRequests(address, length, piece);
  if (payload.is_response_error()) {
    return context_.timing.completionsWithoutData(LinkTiming::pieces(address, length, piece));
  }
  return context_.timing.completions(address, length, piece);
}

}  // namespace hca::pcie
