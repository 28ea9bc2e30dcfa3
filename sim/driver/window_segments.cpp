#include "sim/driver/window_segments.h"

#include <cstring>

#include "models/base/byte_view.h"

namespace hca::driver {
namespace {

namespace key_mask = wire::key_mask;
using Context = wire::MemoryKeyContext;
using Control = wire::UmrControlSegment;

Control controlFor(const WindowBind& bind) {
  constexpr std::uint16_t kOnePiecePadded = 4;
  const bool isType2 = bind.type == WindowType::kType2;
  Control control;
  Control::TranslationOffset::set(control.flags, true);
  Control::Inline::set(control.flags, true);
  std::uint64_t mask = key_mask::kFree | key_mask::kVariant | (isType2 ? key_mask::kQp : 0);
  if (bind.length != 0) {
    control.translationOctwords = wire::Be16(kOnePiecePadded);
    Control::MustBeFree::set(control.flags, isType2);
    mask |= key_mask::kLength | key_mask::kStart | key_mask::kLocalWrite | key_mask::kRemoteRead |
            key_mask::kRemoteWrite | key_mask::kAtomic;
  } else {
    Control::MustBeOwn::set(control.flags, isType2);
  }
  control.keyMask = wire::Be64(mask);
  return control;
}

void fillContext(const WindowBind& bind, QpNumber qp, MutableByteView context) {
  const bool ofAnyQp = bind.type == WindowType::kType1 || bind.length == 0;
  Context::Qp::set(context, ofAnyQp ? Context::kAnyQp : qp.value());
  Context::Variant::set(context, bind.newKey.value() & 0xFF);
  if (bind.length == 0) return Context::Free::set(context, true);
  Context::LocalWrite::set(context, has(bind.access, MemoryAccess::kLocalWrite));
  Context::RemoteWrite::set(context, has(bind.access, MemoryAccess::kRemoteWrite));
  Context::RemoteRead::set(context, has(bind.access, MemoryAccess::kRemoteRead));
  Context::Atomic::set(context, has(bind.access, MemoryAccess::kRemoteAtomic));
  Context::StartAddress::set(context, has(bind.access, MemoryAccess::kZeroBased) ? 0 : bind.address);
  Context::Length::set(context, bind.length);
}

}  // namespace

WindowSegments windowSegments(const WindowBind& bind, QpNumber qp) {
  WindowSegments segments;
  segments.control = controlFor(bind);
  fillContext(bind, qp, MutableByteView(segments.context.data(), segments.context.size()));
  if (bind.length == 0) return segments;
  wire::KeyPieceSegment piece;
  piece.byteCount = wire::Be32(static_cast<std::uint32_t>(bind.length));
  piece.key = wire::Be32(bind.region.value());
  piece.address = wire::Be64(bind.address);
  std::memcpy(segments.list.data(), &piece, sizeof piece);
  return segments;
}

}  // namespace hca::driver
