#include "models/adapter/memory/mkey_context.h"

#include <algorithm>

#include "models/wire/endian.h"
#include "models/wire/wqe.h"

namespace hca::adapter {

using Context = wire::MemoryKeyContext;

namespace {

std::uint8_t byte(std::uint32_t value) { return static_cast<std::uint8_t>(value); }

MkeyMode modeOf(ByteView context) {
  // The other modes beyond the first four are of special memories, which the model does not have.
  const std::uint32_t mode = (Context::AccessModeHigh::get(context) << 2) | Context::AccessModeLow::get(context);
  if (mode == static_cast<std::uint32_t>(MkeyMode::kDeviceMemory)) return MkeyMode::kDeviceMemory;
  return static_cast<MkeyMode>(std::min(mode, static_cast<std::uint32_t>(MkeyMode::kFixedIndirect)));
}

}  // namespace

MkeyAttributes decodeMkeyContext(ByteView context) {
  MkeyAttributes key;
  key.free = Context::Free::get(context);
  key.mode = modeOf(context);
  key.rights.localRead = Context::LocalRead::get(context);
  key.rights.localWrite = Context::LocalWrite::get(context);
  key.rights.remoteRead = Context::RemoteRead::get(context);
  key.rights.remoteWrite = Context::RemoteWrite::get(context);
  key.rights.atomic = Context::Atomic::get(context);
  key.relaxedOrderingWrite = Context::RelaxedOrderingWrite::get(context);
  key.relaxedOrderingRead = Context::RelaxedOrderingRead::get(context);
  key.anyLength = Context::Length64::get(context);
  key.variant = byte(Context::Variant::get(context));
  key.boundQp = Context::Qp::get(context);
  key.pd = PdNumber(Context::ProtectionDomain::get(context));
  key.start = Context::StartAddress::get(context);
  key.length = Context::Length::get(context);
  key.logPageSize = byte(Context::LogPageSize::get(context));
  key.updatable = Context::UmrEnabled::get(context);
  key.remoteInvalidate = Context::RemoteInvalidate::get(context);
  key.translationOctwords = Context::TranslationOctwords::get(context);
  return key;
}

void encodeMkeyContext(const MkeyAttributes& key, MutableByteView context) {
  Context::Free::set(context, key.free);
  Context::AccessModeHigh::set(context, static_cast<std::uint32_t>(key.mode) >> 2);
  Context::AccessModeLow::set(context, static_cast<std::uint32_t>(key.mode) & 3U);
  Context::LocalRead::set(context, key.rights.localRead);
  Context::LocalWrite::set(context, key.rights.localWrite);
  Context::RemoteRead::set(context, key.rights.remoteRead);
  Context::RemoteWrite::set(context, key.rights.remoteWrite);
  Context::Atomic::set(context, key.rights.atomic);
  Context::RelaxedOrderingWrite::set(context, key.relaxedOrderingWrite);
  Context::RelaxedOrderingRead::set(context, key.relaxedOrderingRead);
  Context::Length64::set(context, key.anyLength);
  Context::Variant::set(context, key.variant);
  Context::Qp::set(context, key.boundQp);
  Context::ProtectionDomain::set(context, key.pd.value());
  Context::StartAddress::set(context, key.start);
  Context::Length::set(context, key.length);
  Context::LogPageSize::set(context, key.logPageSize);
  Context::UmrEnabled::set(context, key.updatable);
  Context::RemoteInvalidate::set(context, key.remoteInvalidate);
  const auto pages = static_cast<std::uint32_t>((key.pages.size() + 1) / 2);
  const auto pieces = static_cast<std::uint32_t>(key.pieces.size());
  Context::TranslationOctwords::set(context, std::max({key.translationOctwords, pages, pieces}));
}

KeyPiece decodeKeyPiece(ByteView list, std::size_t n) {
  constexpr std::size_t kSize = sizeof(wire::KeyPieceSegment);
  const auto row = structFrom<wire::KeyPieceSegment>(list.subview(n * kSize, kSize));
  return {MemoryKey(row.key.host()), row.address.host(), row.byteCount.host()};
}

BusAddress decodeTranslation(ByteView list, std::size_t n) {
  using Entry = wire::TranslationEntry;
  const ByteView entry = list.subview(n * Entry::kSize, Entry::kSize);
  return BusAddress(wire::loadBigEndian<std::uint64_t>(entry.data()) & Entry::kAddressMask);
}

}  // namespace hca::adapter
