#include "sim/observers/entry_log.h"

#include <spdlog/fmt/fmt.h>

#include <string>

#include "models/wire/describe.h"
#include "sim/logging/time_text.h"

namespace hca::observers {
namespace {

// A wide entry holds its fields in its last half.
std::string meaningOf(const observe::EntryEvent& event) {
  if (event.kind == observe::EntryEvent::Queue::kEvent) return wire::describe(structFrom<wire::Eqe>(event.bytes));
  if (event.bytes.size() < sizeof(wire::Cqe)) return "part of an entry";
  const std::size_t start = event.bytes.size() - sizeof(wire::Cqe);
  const auto cqe = structFrom<wire::Cqe>(event.bytes.subview(start, sizeof(wire::Cqe)));
  if (wire::OpOwn::Format::get(cqe.opOwn) == wire::CqeFormat::kCompressed) return "compressed completions";
  return wire::describe(cqe);
}

}  // namespace

EntryLog::EntryLog(observe::Probes& probes, const std::string& path) : file_("log-entries", path) {
  probes.entry.attach([this](const observe::EntryEvent& event) { onEntry(event); });
}

void EntryLog::onEntry(const observe::EntryEvent& event) {
  std::string bytes;
  for (const std::uint8_t byte : event.bytes) bytes += fmt::format("{:02x}", byte);
  file_.write(fmt::format("{} us host {} adapter {} {} {:#x} entry {}: {} | {}", microsecondsText(event.time),
                          event.host.value(), event.adapter.value(),
                          event.kind == observe::EntryEvent::Queue::kEvent ? "EQ" : "CQ", event.queue, event.index,
                          meaningOf(event), bytes));
}

}  // namespace hca::observers
