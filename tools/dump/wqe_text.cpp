#include "tools/dump/wqe_text.h"

#include <algorithm>
#include <vector>

#include "models/wire/describe.h"
#include "models/wire/wqe.h"
#include "tools/dump/field_list.h"

namespace hca::dump {
namespace {

using wire::ControlSegment;
using wire::SendOpcode;

constexpr std::size_t kUnit = wire::kSegmentUnit;

std::string heading(const RingSlots& ring, std::uint64_t index) {
  return "index " + std::to_string(index) + " slot " + std::to_string(ring.slotOf(index)) + ": ";
}

std::string dataText(const wire::DataSegment& segment) {
  FieldList list;
  list.decimal("byte_count", wire::DataSegment::Length::get(segment.byteCount));
  list.hex("lkey", segment.key.host());
  list.hex("addr", segment.address.host());
  return "    data segment\n" + list.toText("      ");
}

std::string remoteText(ByteView bytes) {
  const auto segment = structFrom<wire::RemoteAddressSegment>(bytes);
  FieldList list;
  list.hex("raddr", segment.address.host());
  list.hex("rkey", segment.key.host());
  return "    remote address segment\n" + list.toText("      ");
}

std::string atomicText(ByteView bytes) {
  const auto segment = structFrom<wire::AtomicSegment>(bytes);
  FieldList list;
  list.hex("swap_add", segment.swapOrAdd.host());
  list.hex("compare", segment.compare.host());
  return "    atomic segment\n" + list.toText("      ");
}

bool isAtomic(SendOpcode opcode) {
  return opcode == SendOpcode::kCompareSwap || opcode == SendOpcode::kFetchAdd ||
         opcode == SendOpcode::kMaskedCompareSwap || opcode == SendOpcode::kMaskedFetchAdd;
}

bool hasRemoteAddress(SendOpcode opcode) {
  return opcode == SendOpcode::kWrite || opcode == SendOpcode::kWriteImmediate || opcode == SendOpcode::kRead ||
         isAtomic(opcode);
}

// Segments that carry data, inline or not. What an opcode alone does not explain, such as an address vector of a
// datagram queue pair, is left as bytes.
std::string segmentsText(ByteView body, SendOpcode opcode) {
  std::string text;
  std::size_t at = 0;
  const auto take = [&](std::size_t size) {
    at += size;
    return body.subview(at - size, size);
  };
  if (hasRemoteAddress(opcode) && body.size() >= kUnit) text += remoteText(take(kUnit));
  if (isAtomic(opcode) && body.size() - at >= kUnit) text += atomicText(take(kUnit));
  const bool data = hasRemoteAddress(opcode) || opcode == SendOpcode::kSend || opcode == SendOpcode::kSendImmediate ||
                    opcode == SendOpcode::kSendInvalidate;
  while (data && body.size() - at >= kUnit) {
    const auto segment = structFrom<wire::DataSegment>(body.subview(at, kUnit));
    if (!wire::DataSegment::Inline::get(segment.byteCount)) {
      text += dataText(segment);
      at += kUnit;
      continue;
    }
    const std::size_t length = wire::InlineHeader::Length::get(segment.byteCount);
    const std::size_t end = std::min(body.size(), at + sizeof(wire::InlineHeader) + length);
    FieldList list;
    list.decimal("byte_count", length);
    list.bytes("bytes", body.data() + at + sizeof(wire::InlineHeader), end - at - sizeof(wire::InlineHeader));
    text += "    inline data\n" + list.toText("      ");
    at = std::min(body.size(), (end + kUnit - 1) / kUnit * kUnit);
  }
  if (at < body.size()) {
    FieldList list;
    list.bytes("other_segments", body.data() + at, body.size() - at);
    text += list.toText("    ");
  }
  return text;
}

FieldList controlFields(const ControlSegment& control) {
  FieldList list;
  const std::uint32_t word = control.modifierIndexOpcode.host();
  const std::uint8_t flags = control.fenceCompletionSolicited;
  list.named("opcode", word & ControlSegment::Opcode::kMask, wire::name(ControlSegment::Opcode::get(word)));
  list.hex("opmod", ControlSegment::Modifier::get(word));
  list.decimal("wqe_index", ControlSegment::Index::get(word));
  list.hex("qpn", ControlSegment::QpNumber::get(control.qpSize));
  list.decimal("ds", ControlSegment::Size::get(control.qpSize));
  list.hex("signature", control.signature);
  list.decimal("fence", static_cast<std::uint8_t>(ControlSegment::Fence::get(flags)));
  list.decimal("ce", static_cast<std::uint8_t>(ControlSegment::Completion::get(flags)));
  list.flag("se", ControlSegment::Solicited::get(flags));
  list.hex("imm", control.immediate.host());
  return list;
}

/// All blocks of a WQE, which may go over the end of the ring. Empty if some are missing in the dump.
std::vector<std::uint8_t> wqeAt(const RingSlots& ring, std::uint64_t index, std::size_t size) {
  std::vector<std::uint8_t> bytes;
  for (std::uint64_t block = index; bytes.size() < size; ++block) {
    if (!ring.has(block)) return {};
    const ByteView slot = ring.at(block);
    bytes.insert(bytes.end(), slot.begin(), slot.end());
  }
  bytes.resize(size);
  return bytes;
}

/// Text of one WQE, and how many blocks it takes.
std::uint64_t sendText(const RingSlots& ring, std::uint64_t index, bool brief, std::string& text) {
  const auto control = structFrom<ControlSegment>(ring.at(index));
  const std::uint32_t word = control.modifierIndexOpcode.host();
  const std::size_t size = ControlSegment::Size::get(control.qpSize) * kUnit;
  if (ControlSegment::Index::get(word) != (index & wire::kWqeCounterMask) || size < sizeof control) {
    text += "not posted in this pass (its block index is " + std::to_string(ControlSegment::Index::get(word)) +
            ", its size " + std::to_string(size) + ")\n";
    return 1;
  }
  text += std::string(wire::name(ControlSegment::Opcode::get(word))) + ", " + std::to_string(size) + " bytes\n";
  const std::uint64_t blocks = (size + ring.slotSize() - 1) / ring.slotSize();
  if (brief) return blocks;
  text += controlFields(control).toText("    ");
  const std::vector<std::uint8_t> wqe = wqeAt(ring, index, size);
  if (wqe.empty()) {
    text += "    the blocks behind the first are not in the dump\n";
    return blocks;
  }
  text += segmentsText(ByteView(wqe).subview(sizeof control, size - sizeof control), ControlSegment::Opcode::get(word));
  return blocks;
}

std::string scatterText(ByteView entry) {
  std::string text;
  for (std::size_t at = 0; at + kUnit <= entry.size(); at += kUnit) {
    const auto segment = structFrom<wire::DataSegment>(entry.subview(at, kUnit));
    if (segment.key.host() == wire::DataSegment::kTerminatorKey) return text + "    end of the list\n";
    text += dataText(segment);
  }
  return text;
}

}  // namespace

std::string sendQueueText(const RingSlots& ring, const DumpOptions& options) {
  std::string text;
  const std::uint64_t end = options.index + ring.size();
  for (std::uint64_t index = options.index; index < end;) {
    text += heading(ring, index);
    if (ring.has(index)) {
      index += sendText(ring, index, options.brief, text);
    } else {
      text += "not in the dump\n";
      ++index;
    }
  }
  return text;
}

std::string receiveQueueText(const RingSlots& ring, const DumpOptions& options) {
  const bool shared = options.queue == QueueKind::kSharedReceive;
  std::string text;
  for (std::uint64_t index = options.index; index < options.index + ring.size(); ++index) {
    text += heading(ring, index);
    if (!ring.has(index)) {
      text += "not in the dump\n";
      continue;
    }
    ByteView entry = ring.at(index);
    if (shared) {
      const auto next = structFrom<wire::NextSegment>(entry);
      text += "next " + std::to_string(next.nextIndex.host()) + ", ";
      entry = entry.subview(sizeof next, entry.size() - sizeof next);
    }
    text += std::to_string(entry.size() / kUnit) + " segments\n";
    if (!options.brief) text += scatterText(entry);
  }
  return text;
}

}  // namespace hca::dump
