// Objects that are a number and a count of those who use it.
#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

#include "models/adapter/command/command_result.h"
#include "models/adapter/memory/index_allocator.h"
#include "models/base/ids.h"

namespace hca::adapter {

/// The refusals of one kind of object.
struct NumberSyndromes {
  Syndrome unknown;
  Syndrome inUse;
  Syndrome limit;
};

/// Numbers [first, first + count). Whoever refers to a number holds it; a held number can't be released.
template <class Number>
class NumberTable {
 public:
  NumberTable(std::uint32_t first, std::uint32_t count, NumberSyndromes syndromes)
      : allocator_(first, count), syndromes_(syndromes) {}

  /// `number` is set on success; kNoResources when all are in use.
  CommandResult allocate(Number& number) {
    const auto index = allocator_.allocate();
    if (!index) return {CommandStatus::kNoResources, syndromes_.limit};
    const std::uint32_t slot = *index - allocator_.first();
    if (slot >= entries_.size()) entries_.resize(slot + 1);
    entries_[slot] = Entry{true, 0};
    ++live_;
    number = Number(*index);
    return {};
  }
  /// kBadResource if unknown, kResourceBusy while held.
  CommandResult release(Number number) {
    Entry* entry = find(number);
    if (entry == nullptr) return {CommandStatus::kBadResource, syndromes_.unknown};
    if (entry->holders != 0) return {CommandStatus::kResourceBusy, syndromes_.inUse};
    *entry = Entry{};
    --live_;
    allocator_.release(number.value());
    return {};
  }

  [[nodiscard]] bool contains(Number number) const {
    const std::uint32_t slot = number.value() - allocator_.first();
    return slot < entries_.size() && entries_[slot].live;
  }
  [[nodiscard]] std::uint32_t holders(Number number) const {
    return contains(number) ? entries_[number.value() - allocator_.first()].holders : 0;
  }
  /// Allocated numbers.
  [[nodiscard]] std::uint32_t size() const { return live_; }
  [[nodiscard]] std::uint32_t capacity() const { return allocator_.count(); }

  /// False if there is no such number.
  [[nodiscard]] bool hold(Number number) {
    Entry* entry = find(number);
    if (entry == nullptr) return false;
    ++entry->holders;
    return true;
  }
  /// Precondition: held.
  void drop(Number number) {
    Entry* entry = find(number);
    assert(entry != nullptr && entry->holders != 0);
    --entry->holders;
  }

  /// Nothing is allocated, as at construction.
  void reset() {
    allocator_.reset();
    entries_.clear();
    live_ = 0;
  }

 private:
  struct Entry {
    bool live = false;
    std::uint32_t holders = 0;
  };
  Entry* find(Number number) { return contains(number) ? &entries_[number.value() - allocator_.first()] : nullptr; }

  IndexAllocator allocator_;
  NumberSyndromes syndromes_;
  std::vector<Entry> entries_;
  std::uint32_t live_ = 0;
};

using XrcdNumber = Id<struct XrcdNumberTag>;                        ///< 24 bits
using TransportDomainNumber = Id<struct TransportDomainNumberTag>;  ///< 24 bits

/// Protection domains. Held by memory keys and queue pairs. Number 0 is not handed out: a context that was left zero
/// must not match by chance.
class PdTable : public NumberTable<PdNumber> {
 public:
  explicit PdTable(std::uint32_t count)
      : NumberTable(1, count, {Syndrome::kUnknownPd, Syndrome::kPdInUse, Syndrome::kPdLimit}) {}
};
/// Pages of doorbell registers in BAR0, by page number. Nobody holds one: the stock driver gives a page back while
/// there are queues whose doorbells it has (a program that closes its device and leaves them, as perftest does).
class UarTable : public NumberTable<UarIndex> {
 public:
  UarTable(UarIndex first, std::uint32_t count)
      : NumberTable(first.value(), count, {Syndrome::kUnknownUar, Syndrome::kUnknownUar, Syndrome::kUarLimit}) {}
};
/// Extended reliable connection domains.
class XrcdTable : public NumberTable<XrcdNumber> {
 public:
  explicit XrcdTable(std::uint32_t count)
      : NumberTable(1, count, {Syndrome::kUnknownXrcd, Syndrome::kXrcdInUse, Syndrome::kXrcdLimit}) {}
};
/// Transport domains.
class TransportDomainTable : public NumberTable<TransportDomainNumber> {
 public:
  explicit TransportDomainTable(std::uint32_t count)
      : NumberTable(
            1, count,
            {Syndrome::kUnknownTransportDomain, Syndrome::kTransportDomainInUse, Syndrome::kTransportDomainLimit}) {}
};

}  // namespace hca::adapter
