#include "models/adapter/memory/mkey_table.h"

#include <algorithm>

#include "models/wire/memory_key_context.h"

namespace hca::adapter {
namespace {

constexpr std::uint64_t kLongestPiece = std::uint64_t{1} << 31;  // fits Segment::length, keeps alignment
constexpr std::uint32_t kAnyQp = wire::MemoryKeyContext::kAnyQp;
constexpr std::uint8_t kSmallestLogPage = 12;
constexpr std::uint8_t kLargestLogPage = 47;  // no host page is larger than a 48-bit address space

constexpr std::uint8_t bit(Access access) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(access)); }

bool isWrite(Access access) {
  return access == Access::kLocalWrite || access == Access::kRemoteWrite || access == Access::kRemoteAtomic;
}

/// Appends a piece, or lengthens the last one that this access appended if the piece follows it on the bus.
void append(std::vector<Segment>& segments, std::size_t first, std::uint64_t address, std::uint32_t length) {
  if (segments.size() > first) {
    Segment& last = segments.back();
    const bool follows = last.address.value() + last.length == address;
    if (follows && std::uint64_t{last.length} + length <= kLongestPiece) {
      last.length += length;
      return;
    }
  }
  Segment& piece = segments.emplace_back();
  piece.address = BusAddress(address);
  piece.length = length;
}

std::uint64_t pageMask(std::uint8_t logPageSize) { return (std::uint64_t{1} << logPageSize) - 1; }

// A key made of others gives a peer what its owner may do with those (InfiniBand volume 1, 10.6).
Access accessToPiece(Access access) {
  if (access == Access::kRemoteRead) return Access::kLocalRead;
  return access == Access::kRemoteWrite || access == Access::kRemoteAtomic ? Access::kLocalWrite : access;
}

}  // namespace

std::uint8_t MkeyTable::rightsMask(const AccessRights& rights) {
  std::uint8_t mask = 0;
  if (rights.localRead) mask |= bit(Access::kLocalRead);
  if (rights.localWrite) mask |= bit(Access::kLocalWrite);
  if (rights.remoteRead) mask |= bit(Access::kRemoteRead);
  if (rights.remoteWrite) mask |= bit(Access::kRemoteWrite);
  if (rights.atomic) mask |= bit(Access::kRemoteAtomic);
  return mask;
}

MkeyTable::MkeyTable(const MemoryConfig& config, PdTable& pds, CachePort& cache)
    : config_(config),
      pds_(pds),
      cache_(cache),
      indices_(kFirstMkeyIndex, (1U << config.logMaxMkey) - kFirstMkeyIndex) {}

CommandResult MkeyTable::create(const MkeyAttributes& attributes, MkeyIndex& index) {
  if (const CommandResult result = check(attributes); !result.ok()) return result;
  const auto allocated = indices_.allocate();
  if (!allocated) return {CommandStatus::kNoResources, Syndrome::kMemoryKeyLimit};
  if (!pds_.hold(attributes.pd)) {
    indices_.release(*allocated);
    return {CommandStatus::kBadResource, Syndrome::kMemoryKeyPdUnknown};
  }
  const std::uint32_t slot = *allocated - kFirstMkeyIndex;
  if (slot >= entries_.size()) entries_.resize(slot + 1);
  entries_[slot] = Entry{true, rightsMask(attributes.rights), attributes};
  use(attributes.pieces);
  if (attributes.mode == MkeyMode::kDeviceMemory) deviceMemory_->hold(attributes.start);
  ++live_;
  index = MkeyIndex(*allocated);
  return {};
}

CommandResult MkeyTable::destroy(MkeyIndex index) {
  Entry* entry = find(index);
  if (entry == nullptr) return {CommandStatus::kBadResource, Syndrome::kUnknownMemoryKey};
  if (entry->users != 0) return {CommandStatus::kResourceBusy, Syndrome::kMemoryKeyInUse};
  unuse(entry->attributes.pieces);
  if (entry->attributes.mode == MkeyMode::kDeviceMemory) deviceMemory_->drop(entry->attributes.start);
  pds_.drop(entry->attributes.pd);
  *entry = Entry{};
  --live_;
  indices_.release(index.value());
  return {};
}

CommandResult MkeyTable::query(MkeyIndex index, MkeyAttributes& attributes) const {
  const Entry* entry = find(index);
  if (entry == nullptr) return {CommandStatus::kBadResource, Syndrome::kUnknownMemoryKey};
  attributes = entry->attributes;
  return {};
}

void MkeyTable::reset() {
  indices_.reset();
  entries_.clear();
  live_ = 0;
}

CommandResult MkeyTable::check(const MkeyAttributes& attributes) const {
  if (attributes.mode == MkeyMode::kFixedIndirect) {
    return {CommandStatus::kBadParameter, Syndrome::kMemoryKeyModeUnsupported};
  }
  if (!pds_.contains(attributes.pd)) return {CommandStatus::kBadResource, Syndrome::kMemoryKeyPdUnknown};
  const bool wraps = attributes.length != 0 && attributes.start + (attributes.length - 1) < attributes.start;
  if (!attributes.anyLength && wraps) return {CommandStatus::kBadParameter, Syndrome::kMemoryKeyRangeBad};
  if (attributes.mode == MkeyMode::kTranslated) return checkPages(attributes);
  if (attributes.mode == MkeyMode::kDeviceMemory) return checkDeviceMemory(attributes);
  if (attributes.mode == MkeyMode::kPhysical || attributes.free) return {};
  if (checkPieces(attributes, QpNumber(attributes.boundQp)) == KeyFault::kNone) return {};
  return {CommandStatus::kBadParameter, Syndrome::kMemoryKeyPiecesWrong};
}

CommandResult MkeyTable::checkDeviceMemory(const MkeyAttributes& attributes) const {
  if (deviceMemory_ == nullptr) return {CommandStatus::kBadParameter, Syndrome::kMemoryKeyModeUnsupported};
  const bool isAllocated = !attributes.anyLength && deviceMemory_->isAllocated(attributes.start, attributes.length);
  return isAllocated ? CommandResult{} : CommandResult{CommandStatus::kBadParameter, Syndrome::kMemoryKeyRangeBad};
}

CommandResult MkeyTable::checkPages(const MkeyAttributes& attributes) const {
  const CommandResult wrong{CommandStatus::kBadParameter, Syndrome::kMemoryKeyPagesWrong};
  if (attributes.logPageSize < kSmallestLogPage || attributes.logPageSize > kLargestLogPage) return wrong;
  if (attributes.pages.size() > config_.maxMkeyPages) {
    return {CommandStatus::kExceedLimit, Syndrome::kMemoryKeyPagesWrong};
  }
  const std::uint64_t mask = pageMask(attributes.logPageSize);
  for (const BusAddress page : attributes.pages) {
    if ((page.value() & mask) != 0) return wrong;
  }
  if (attributes.free) return {};  // translations come with the work request that enables the key
  // A table of pages can't cover the whole address space.
  if (attributes.anyLength) return {CommandStatus::kBadParameter, Syndrome::kMemoryKeyRangeBad};
  if (attributes.length == 0) return {};
  const std::uint64_t lastPage = ((attributes.start & mask) + (attributes.length - 1)) >> attributes.logPageSize;
  return lastPage < attributes.pages.size() ? CommandResult{} : wrong;
}

const MkeyTable::Entry* MkeyTable::find(MkeyIndex index) const {
  const std::uint32_t slot = index.value() - kFirstMkeyIndex;
  if (slot >= entries_.size() || !entries_[slot].live) return nullptr;
  return &entries_[slot];
}

Translation MkeyTable::translate(const AccessRequest& request, std::vector<Segment>& segments) {
  Translation result;
  if (request.length == 0) return result;
  const MkeyIndex index = indexOf(request.key);
  cache_.access(CachedObject::kMemoryKey, index.value());
  const Entry* entry = find(index);
  result.fault = entry == nullptr ? AccessFault::kUnknownKey : examine(*entry, request);
  if (result.fault != AccessFault::kNone) return result;
  const MkeyAttributes& attributes = entry->attributes;
  result.relaxedOrdering = isWrite(request.access) ? attributes.relaxedOrderingWrite : attributes.relaxedOrderingRead;
  if (request.checkOnly && attributes.mode != MkeyMode::kIndirect) return result;
  if (attributes.mode == MkeyMode::kTranslated) {
    appendTranslated(*entry, request, segments);
  } else if (attributes.mode == MkeyMode::kPhysical) {
    appendPhysical(request, segments);
  } else if (attributes.mode == MkeyMode::kDeviceMemory) {
    append(segments, segments.size(), DeviceMemory::busAddress(attributes.start + request.address).value(),
           static_cast<std::uint32_t>(request.length));
  } else {
    appendPieces(attributes, request, segments, result);
  }
  return result;
}

// By the key of each piece, which may be made of pieces in turn.
void MkeyTable::appendPieces(const MkeyAttributes& attributes, const AccessRequest& request,
                             std::vector<Segment>& segments, Translation& result) {
  const std::size_t first = segments.size();
  std::uint64_t skip = request.address - attributes.start;
  std::uint64_t left = request.length;
  for (const KeyPiece& piece : attributes.pieces) {
    if (left == 0) return;
    if (skip >= piece.length) {
      skip -= piece.length;
      continue;
    }
    AccessRequest part = request;
    part.key = piece.key;
    part.address = piece.address + skip;
    part.length = std::min(piece.length - skip, left);
    part.access = accessToPiece(request.access);
    const Translation translation = translate(part, segments);
    result.fault = translation.fault;
    if (result.fault != AccessFault::kNone) return segments.resize(first);
    left -= part.length;
    skip = 0;
  }
}

AccessFault MkeyTable::examine(const Entry& entry, const AccessRequest& request) {
  const MkeyAttributes& attributes = entry.attributes;
  if (variantOf(request.key) != attributes.variant || attributes.free) return AccessFault::kUnknownKey;
  if (!request.isPrivileged && request.pd != attributes.pd) return AccessFault::kWrongPd;
  if (attributes.boundQp != kAnyQp && attributes.boundQp != request.qp.value()) return AccessFault::kWrongQp;
  if ((entry.rights & bit(request.access)) == 0) return AccessFault::kDenied;
  if (!inRange(attributes, request.address, request.length)) return AccessFault::kOutOfRange;
  return AccessFault::kNone;
}

bool MkeyTable::inRange(const MkeyAttributes& attributes, std::uint64_t address, std::uint64_t length) {
  if (attributes.anyLength) return address + (length - 1) >= address;
  // No sum that could wrap: the offset must leave room for the length.
  const std::uint64_t start = attributes.mode == MkeyMode::kDeviceMemory ? 0 : attributes.start;
  if (address < start || length > attributes.length) return false;
  return address - start <= attributes.length - length;
}

void MkeyTable::appendPhysical(const AccessRequest& request, std::vector<Segment>& segments) {
  std::uint64_t address = request.address;
  std::uint64_t left = request.length;
  while (left != 0) {
    const std::uint64_t piece = std::min(left, kLongestPiece);
    segments.push_back(Segment{BusAddress(address), static_cast<std::uint32_t>(piece)});
    address += piece;
    left -= piece;
  }
}

void MkeyTable::appendTranslated(const Entry& entry, const AccessRequest& request, std::vector<Segment>& segments) {
  const MkeyAttributes& attributes = entry.attributes;
  const std::uint64_t mask = pageMask(attributes.logPageSize);
  const std::uint64_t pageKey = std::uint64_t{indexOf(request.key).value()} << 32;
  const std::size_t first = segments.size();
  std::uint64_t position = request.address - (attributes.start & ~mask);
  std::uint64_t left = request.length;
  while (left != 0) {
    const std::uint64_t page = position >> attributes.logPageSize;
    const std::uint64_t offset = position & mask;
    const std::uint64_t piece = std::min({left, mask + 1 - offset, kLongestPiece});
    cache_.access(CachedObject::kTranslation, pageKey | page);
    append(segments, first, attributes.pages[page].value() + offset, static_cast<std::uint32_t>(piece));
    position += piece;
    left -= piece;
  }
}

}  // namespace hca::adapter
