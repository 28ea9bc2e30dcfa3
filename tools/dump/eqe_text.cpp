#include "tools/dump/eqe_text.h"

#include "models/wire/describe.h"
#include "tools/dump/field_list.h"

namespace hca::dump {
namespace {

using wire::EventType;

const char* syndromeName(std::uint8_t syndrome) {
  switch (static_cast<wire::CqErrorSyndrome>(syndrome)) {
    case wire::CqErrorSyndrome::kOverrun:
      return "overrun";
    case wire::CqErrorSyndrome::kAccessViolation:
      return "access violation";
  }
  return "unknown";
}

bool isQueueEvent(EventType type) {
  switch (type) {
    case EventType::kPathMigrated:
    case EventType::kCommunicationEstablished:
    case EventType::kSendQueueDrained:
    case EventType::kWorkQueueCatastrophicError:
    case EventType::kPathMigrationFailed:
    case EventType::kWorkQueueInvalidRequest:
    case EventType::kWorkQueueAccessError:
    case EventType::kSrqCatastrophicError:
    case EventType::kSrqLastWqe:
    case EventType::kSrqLimit:
      return true;
    default:
      return false;
  }
}

void addData(FieldList& list, const wire::Eqe& eqe, EventType type) {
  if (type == EventType::kCompletion) {
    list.hex("cqn", wire::eventData<wire::CompletionEvent>(eqe).cq.host());
  } else if (type == EventType::kCqError) {
    const auto data = wire::eventData<wire::CqErrorEvent>(eqe);
    list.hex("cqn", data.cq.host());
    list.named("syndrome", data.syndrome, syndromeName(data.syndrome));
  } else if (type == EventType::kCommandCompletion) {
    list.hex("command_slots", wire::eventData<wire::CommandEvent>(eqe).slots.host());
  } else if (type == EventType::kPageRequest) {
    const auto data = wire::eventData<wire::PageRequestEvent>(eqe);
    list.decimal("func_id", data.function.host());
    list.text("num_pages", std::to_string(static_cast<std::int32_t>(data.pages.host())));
  } else if (type == EventType::kPortChange) {
    list.decimal("port", wire::PortEvent::Port::get(wire::eventData<wire::PortEvent>(eqe).port));
  } else if (isQueueEvent(type)) {
    const auto data = wire::eventData<wire::QueueEvent>(eqe);
    list.decimal("queue_type", data.type);
    list.hex("qp_srq_n", data.number.host());
  } else {
    list.bytes("data", eqe.data, sizeof eqe.data);
  }
}

FieldList fieldsOfEvent(const wire::Eqe& eqe) {
  const auto type = static_cast<EventType>(eqe.type);
  FieldList list;
  list.named("type", eqe.type, wire::name(type));
  list.hex("sub_type", eqe.subType);
  addData(list, eqe, type);
  list.hex("signature", eqe.signature);
  list.decimal("owner", wire::Eqe::Owner::get(eqe.owner) ? 1 : 0);
  return list;
}

}  // namespace

std::string eventQueueText(const RingSlots& ring, const DumpOptions& options) {
  std::string text;
  for (std::uint64_t index = options.index; index < options.index + ring.size(); ++index) {
    text += "index " + std::to_string(index) + " slot " + std::to_string(ring.slotOf(index)) + ": ";
    if (!ring.has(index)) {
      text += "not in the dump\n";
      continue;
    }
    const auto eqe = structFrom<wire::Eqe>(ring.at(index));
    if (wire::Eqe::Owner::get(eqe.owner) != wire::eventOwnerBit(static_cast<std::uint32_t>(index), ring.logSize())) {
      text += "the adapter's; last in it: " + wire::describe(eqe) + '\n';
      continue;
    }
    text += "valid\n  " + wire::describe(eqe) + '\n';
    if (!options.brief) text += fieldsOfEvent(eqe).toText("    ");
  }
  return text;
}

}  // namespace hca::dump
