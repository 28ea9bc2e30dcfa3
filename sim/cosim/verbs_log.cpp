#include "sim/cosim/verbs_log.h"

#include <fmt/format.h>

#include <cstring>

#include "models/wire/describe.h"
#include "models/wire/doorbell.h"
#include "models/wire/endian.h"
#include "models/wire/mmio_map.h"
#include "sim/logging/time_text.h"

namespace hca::cosim {
namespace {

std::string placeText(const VerbsLog::Place& place) {
  return fmt::format("host {} program {} thread {}", place.host, place.program, place.thread);
}

std::string armText(ByteView bytes) {
  const wire::CqArm arm = wire::CqArm::fromWord(wire::loadBigEndian<std::uint64_t>(bytes.data()));
  return fmt::format("CQ_ARM cqn={:#x} consumer_index={:#x} sequence={} solicited_only={}", arm.cq, arm.consumerIndex,
                     arm.sequence, arm.solicitedOnly ? 1 : 0);
}

// A doorbell holds the first eight bytes of a request, a BlueFlame copy all that fits.
std::string sendText(ByteView bytes) {
  using Control = wire::ControlSegment;
  std::uint8_t start[sizeof(Control)] = {};
  std::memcpy(start, bytes.data(), std::min(sizeof start, bytes.size()));
  const auto control = structFrom<Control>({start, sizeof start});
  std::string text = fmt::format(
      "SEND_DOORBELL qpn={:#x} opcode={} index={:#x} size={}", Control::QpNumber::get(control.qpSize),
      wire::name(Control::Opcode::get(control.modifierIndexOpcode)), Control::Index::get(control.modifierIndexOpcode),
      Control::Size::get(control.qpSize) * std::uint32_t{wire::kSegmentUnit});
  if (bytes.size() < sizeof(Control)) return text;
  const std::uint8_t flags = control.fenceCompletionSolicited;
  return text + fmt::format(" blueflame={} signaled={} solicited={} fence={}", bytes.size(),
                            Control::Completion::get(flags) == wire::CompletionMode::kAlways ? 1 : 0,
                            Control::Solicited::get(flags) ? 1 : 0, static_cast<unsigned>(Control::Fence::get(flags)));
}

}  // namespace

VerbsLog::VerbsLog(const std::string& path) : file_("log-verbs", path) {}

void VerbsLog::line(Time now, const std::string& who, const char* kind, const std::string& text) {
  file_.write(fmt::format("{:>14} us  {:<27}  {:<8}  {}", microsecondsText(now), who, kind, text));
}

void VerbsLog::verb(Time now, const Place& place, Time began, const CommandNotes& notes, int error) {
  std::string outcome = error == 0 ? "ok" : "errno " + std::to_string(error);
  if (const char* name = error == 0 ? nullptr : strerrorname_np(error)) outcome = name;
  line(now, placeText(place), "verb",
       fmt::format("{}{} -> {}{} ({})", notes.name, notes.fields, outcome, notes.answers, timeText(now - began)));
}

void VerbsLog::note(Time now, const Place& place, const std::string& text) {
  line(now, placeText(place), "verb", text);
}

void VerbsLog::registerWrite(Time now, const Place& place, std::uint64_t offset, ByteView bytes) {
  constexpr std::size_t kWord = 8;
  std::string text;
  if (offset == wire::UarPage::kCqArm && bytes.size() == kWord) {
    text = armText(bytes);
  } else if (offset >= wire::UarPage::kBlueFlame && offset % wire::UarPage::kBlueFlameHalf == 0 &&
             bytes.size() >= wire::kSendDoorbellSize) {
    text = sendText(bytes);
  } else if (offset >= wire::UarPage::kBlueFlame) {
    text = fmt::format("BLUEFLAME_LINE offset={:#x} bytes={}", offset, bytes.size());
  } else {
    text = fmt::format("STORE offset={:#x} bytes={}", offset, bytes.size());
  }
  line(now, placeText(place), "doorbell", text);
}

void VerbsLog::deviceMemory(Time now, const Place& place, const char* access, std::uint64_t offset,
                            std::size_t length) {
  line(now, placeText(place), "memic",
       fmt::format("{} offset={:#x} bytes={}", access, offset - wire::kDeviceMemoryOffset, length));
}

void VerbsLog::registerRead(Time now, const Place& place, std::uint64_t offset, std::uint32_t length) {
  line(now, placeText(place), "load", fmt::format("offset={:#x} bytes={}", offset, length));
}

void VerbsLog::command(const adapter::CommandRecord& record, const NameRegion& nameRegion) {
  line(record.answered, fmt::format("host {} adapter {}", record.host.value(), record.adapter.value()), "command",
       observers::commandText(record, nameRegion));
}

void VerbsLog::event(Time now, const Place& place, const std::string& text) {
  line(now, fmt::format("host {} program {}", place.host, place.program), "event", text);
}

}  // namespace hca::cosim
