// Memory keys changed by work requests: windows bound and unbound, regions registered and invalidated.
#include <algorithm>
#include <utility>

#include "models/adapter/memory/mkey_context.h"
#include "models/adapter/memory/mkey_table.h"
#include "models/wire/wqe.h"

namespace hca::adapter {

namespace {

namespace key_mask = wire::key_mask;

constexpr std::size_t kOctword = 16;
constexpr std::size_t kPagesPerOctword = kOctword / wire::TranslationEntry::kSize;
constexpr unsigned kMostLevels = 4;  // keys of keys of keys

bool ofOtherQp(const MkeyAttributes& attributes, QpNumber qp) {
  return attributes.boundQp != wire::MemoryKeyContext::kAnyQp && attributes.boundQp != qp.value();
}

void applyRights(std::uint64_t mask, const AccessRights& from, AccessRights& into) {
  if ((mask & key_mask::kLocalRead) != 0) into.localRead = from.localRead;
  if ((mask & key_mask::kLocalWrite) != 0) into.localWrite = from.localWrite;
  if ((mask & key_mask::kRemoteRead) != 0) into.remoteRead = from.remoteRead;
  if ((mask & key_mask::kRemoteWrite) != 0) into.remoteWrite = from.remoteWrite;
  if ((mask & key_mask::kAtomic) != 0) into.atomic = from.atomic;
}

bool asksForWrite(const AccessRights& rights) { return rights.localWrite || rights.remoteWrite || rights.atomic; }
bool asksForRead(const AccessRights& rights) { return rights.localRead || rights.remoteRead; }

void setFree(MkeyAttributes& attributes) {
  attributes.free = true;
  attributes.boundQp = wire::MemoryKeyContext::kAnyQp;
  attributes.pieces.clear();
}

}  // namespace

KeyFault MkeyTable::update(const KeyUpdate& update) {
  Entry* entry = find(indexOf(update.key));
  if (const KeyFault fault = admit(entry, update); fault != KeyFault::kNone) return fault;
  MkeyAttributes next = entry->attributes;
  if (const KeyFault fault = applyFields(update, next); fault != KeyFault::kNone) return fault;
  if (const KeyFault fault = applyTranslations(update, next); fault != KeyFault::kNone) return fault;
  if (next.free) {
    setFree(next);
  } else if (next.mode == MkeyMode::kIndirect) {
    if (const KeyFault fault = checkPieces(next, update.qp); fault != KeyFault::kNone) return fault;
  } else if (!check(next).ok()) {
    return KeyFault::kOutOfRange;
  }
  replace(*entry, std::move(next));
  return KeyFault::kNone;
}

KeyFault MkeyTable::admit(const Entry* entry, const KeyUpdate& update) {
  if (entry == nullptr) return KeyFault::kUnknownKey;
  const MkeyAttributes& attributes = entry->attributes;
  if (!attributes.updatable || attributes.mode == MkeyMode::kDeviceMemory) return KeyFault::kNotUpdatable;
  if (!update.isPrivileged && attributes.pd != update.pd) return KeyFault::kWrongPd;
  if (attributes.free ? update.mustBeValid : update.mustBeFree) return KeyFault::kWrongState;
  if (!attributes.free && variantOf(update.key) != attributes.variant) return KeyFault::kUnknownKey;
  if (update.mustBeOwn && attributes.boundQp != update.qp.value()) return KeyFault::kWrongQp;
  return entry->users == 0 ? KeyFault::kNone : KeyFault::kInUse;
}

// A queue pair may take a key for itself or for all of its domain, and for nobody else.
KeyFault MkeyTable::applyFields(const KeyUpdate& update, MkeyAttributes& attributes) const {
  const MkeyAttributes wanted = decodeMkeyContext(update.context);
  const std::uint64_t mask = update.mask;
  if ((mask & key_mask::kProtectionDomain) != 0) {
    if (wanted.pd != attributes.pd && !(update.isPrivileged && pds_.contains(wanted.pd))) return KeyFault::kWrongPd;
    attributes.pd = wanted.pd;
  }
  if ((mask & key_mask::kQp) != 0) {
    if (ofOtherQp(wanted, update.qp)) return KeyFault::kWrongQp;
    attributes.boundQp = wanted.boundQp;
  }
  if ((mask & key_mask::kLength) != 0) {
    attributes.length = wanted.length;
    attributes.anyLength = wanted.anyLength;
  }
  if ((mask & key_mask::kPageSize) != 0) attributes.logPageSize = wanted.logPageSize;
  if ((mask & key_mask::kStart) != 0) attributes.start = wanted.start;
  if ((mask & key_mask::kRemoteInvalidate) != 0) attributes.remoteInvalidate = wanted.remoteInvalidate;
  if ((mask & key_mask::kVariant) != 0) attributes.variant = wanted.variant;
  if ((mask & key_mask::kRelaxedOrderingWrite) != 0) attributes.relaxedOrderingWrite = wanted.relaxedOrderingWrite;
  if ((mask & key_mask::kRelaxedOrderingRead) != 0) attributes.relaxedOrderingRead = wanted.relaxedOrderingRead;
  if ((mask & key_mask::kFree) != 0) attributes.free = wanted.free;
  applyRights(mask, wanted.rights, attributes.rights);
  return KeyFault::kNone;
}

// Rows of zero bytes are padding; so are pages beyond what the key's length needs.
KeyFault MkeyTable::applyTranslations(const KeyUpdate& update, MkeyAttributes& attributes) const {
  const std::size_t octwords = update.translations.size() / kOctword;
  if (octwords == 0) return KeyFault::kNone;
  // The list comes in units of 64 bytes, with zeros behind what the key has room for (Linux MLX5_UMR_MTT_ALIGNMENT).
  constexpr std::uint64_t kOctwordsPerUnit = 4;
  const std::uint64_t room =
      (attributes.translationOctwords + kOctwordsPerUnit - 1) / kOctwordsPerUnit * kOctwordsPerUnit;
  if (update.offset > room || octwords > room - update.offset) return KeyFault::kTooLong;
  if (!update.partial) {
    attributes.pieces.clear();
    attributes.pages.clear();
  }
  if (attributes.mode == MkeyMode::kIndirect) {
    if (update.offset > attributes.pieces.size()) return KeyFault::kOutOfRange;
    attributes.pieces.resize(update.offset);
    for (std::size_t n = 0; n < octwords; ++n) {
      const KeyPiece piece = decodeKeyPiece(update.translations, n);
      if (piece.length != 0) attributes.pieces.push_back(piece);
    }
    return attributes.pieces.size() > config_.maxMkeyPages ? KeyFault::kTooLong : KeyFault::kNone;
  }
  const std::uint64_t first = update.offset * kPagesPerOctword;
  const std::size_t count = octwords * kPagesPerOctword;
  if (first > attributes.pages.size()) return KeyFault::kOutOfRange;
  if (first + count > config_.maxMkeyPages) return KeyFault::kTooLong;
  attributes.pages.resize(std::max<std::uint64_t>(attributes.pages.size(), first + count));
  for (std::size_t n = 0; n < count; ++n) attributes.pages[first + n] = decodeTranslation(update.translations, n);
  return KeyFault::kNone;
}

// What InfiniBand volume 1, 10.6, asks of a bind: every piece is of a valid key of the domain, within its range,
// and gives no right that its key lacks.
KeyFault MkeyTable::checkPieces(const MkeyAttributes& attributes, QpNumber qp) const {
  std::uint64_t covered = 0;
  for (const KeyPiece& piece : attributes.pieces) {
    if (const KeyFault fault = checkPiece(attributes, piece, qp); fault != KeyFault::kNone) return fault;
    covered += piece.length;
  }
  const bool wraps = attributes.length != 0 && attributes.start + (attributes.length - 1) < attributes.start;
  if (attributes.anyLength || wraps || covered < attributes.length) return KeyFault::kOutOfRange;
  return levelsOf(attributes) > kMostLevels ? KeyFault::kBadPiece : KeyFault::kNone;
}

KeyFault MkeyTable::checkPiece(const MkeyAttributes& whole, const KeyPiece& piece, QpNumber qp) const {
  const Entry* entry = find(indexOf(piece.key));
  if (entry == nullptr) return KeyFault::kBadPiece;
  const MkeyAttributes& part = entry->attributes;
  if (part.free || variantOf(piece.key) != part.variant) return KeyFault::kBadPiece;
  if (part.pd != whole.pd || ofOtherQp(part, qp)) return KeyFault::kBadPiece;
  if (!inRange(part, piece.address, piece.length)) return KeyFault::kOutOfRange;
  if (asksForWrite(whole.rights) && !part.rights.localWrite) return KeyFault::kDenied;
  return asksForRead(whole.rights) && !part.rights.localRead ? KeyFault::kDenied : KeyFault::kNone;
}

// Keys can't go round in a circle: one that others are made of can't be changed.
unsigned MkeyTable::levelsOf(const MkeyAttributes& attributes) const {
  unsigned deepest = 0;
  for (const KeyPiece& piece : attributes.pieces) {
    deepest = std::max(deepest, levelsOf(find(indexOf(piece.key))->attributes));
  }
  return deepest + 1;
}

KeyFault MkeyTable::invalidate(const KeyInvalidation& request) {
  Entry* entry = find(indexOf(request.key));
  if (entry == nullptr) return KeyFault::kUnknownKey;
  const MkeyAttributes& attributes = entry->attributes;
  if (variantOf(request.key) != attributes.variant) return KeyFault::kUnknownKey;
  if (attributes.free) return KeyFault::kWrongState;
  if (!(request.remote ? attributes.remoteInvalidate : attributes.updatable)) return KeyFault::kNotUpdatable;
  if (attributes.pd != request.pd) return KeyFault::kWrongPd;
  if (ofOtherQp(attributes, request.qp)) return KeyFault::kWrongQp;
  if (entry->users != 0) return KeyFault::kInUse;
  MkeyAttributes next = attributes;
  setFree(next);
  replace(*entry, std::move(next));
  return KeyFault::kNone;
}

void MkeyTable::replace(Entry& entry, MkeyAttributes attributes) {
  use(attributes.pieces);
  unuse(entry.attributes.pieces);
  if (attributes.pd != entry.attributes.pd) {
    (void)pds_.hold(attributes.pd);  // known: checked with the other attributes
    pds_.drop(entry.attributes.pd);
  }
  entry.rights = rightsMask(attributes.rights);
  entry.attributes = std::move(attributes);
}

void MkeyTable::use(const std::vector<KeyPiece>& pieces) {
  for (const KeyPiece& piece : pieces) ++find(indexOf(piece.key))->users;
}

void MkeyTable::unuse(const std::vector<KeyPiece>& pieces) {
  for (const KeyPiece& piece : pieces) --find(indexOf(piece.key))->users;
}

}  // namespace hca::adapter
