#include "models/adapter/event/eqe_builder.h"

namespace hca::adapter {
namespace {

/// Data of events whose object is a queue. `type` as Linux' MLX5_EVENT_QUEUE_TYPE_*; only queue pairs (0) raise the
/// work queue events here, and nobody reads it for shared receive queues.
wire::QueueEvent queueEvent(std::uint32_t number) {
  wire::QueueEvent data;
  data.number = wire::Be32(number);
  return data;
}

void setData(wire::Eqe& eqe, const EventRecord& event) {
  switch (event.type) {
    case EventType::kCompletion: {
      wire::CompletionEvent data;
      data.cq = wire::Be32(event.object);
      return wire::setEventData(eqe, data);
    }
    case EventType::kCqError: {
      wire::CqErrorEvent data;
      data.cq = wire::Be32(event.object);
      data.syndrome = event.syndrome;
      return wire::setEventData(eqe, data);
    }
    case EventType::kCommand: {
      wire::CommandEvent data;
      data.slots = wire::Be32(static_cast<std::uint32_t>(event.value));
      return wire::setEventData(eqe, data);
    }
    case EventType::kPageRequest: {
      wire::PageRequestEvent data;
      data.function = wire::Be16(static_cast<std::uint16_t>(event.object));
      data.pages = wire::Be32(static_cast<std::uint32_t>(event.value));
      return wire::setEventData(eqe, data);
    }
    case EventType::kPortChange: {
      wire::PortEvent data;
      data.port = wire::PortEvent::Port::make(static_cast<std::uint8_t>(event.object & 0xF));
      return wire::setEventData(eqe, data);
    }
    case EventType::kInternalError:
      return;
    default:
      return wire::setEventData(eqe, queueEvent(event.object));
  }
}

}  // namespace

wire::Eqe buildEqe(const EventRecord& event, bool owner) {
  wire::Eqe eqe;
  eqe.type = static_cast<std::uint8_t>(event.type);
  eqe.subType = event.subType;
  setData(eqe, event);
  eqe.owner = wire::Eqe::Owner::make(owner);
  return eqe;
}

}  // namespace hca::adapter
