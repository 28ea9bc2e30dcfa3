#include "models/host/bus_address_space.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "models/host/bus_mapping.h"
#include "models/host/bus_page_table.h"
#include "models/host/watch_lists.h"

namespace hca::host {

namespace {

constexpr unsigned kPageBits = BusPageTable::kPageBits;
constexpr std::uint64_t kPageSize = BusAddressSpace::kPageSize;
constexpr std::uint64_t kOffsetMask = kPageSize - 1;
constexpr std::uint64_t kEndOfBus = std::uint64_t{1} << BusPageTable::kAddressBits;
// Writes here are interrupt messages, not memory.
constexpr std::uint64_t kInterruptFirstPage = 0xFEE0'0000 >> kPageBits;
constexpr std::uint64_t kInterruptEndPage = 0xFEF0'0000 >> kPageBits;
// Addresses that are given out start above what a guest's firmware and 32-bit devices use. Below 1 MiB nothing is given
// out even after the addresses came round.
constexpr std::uint64_t kFirstPage = 0x1'0000'0000 >> kPageBits;
constexpr std::uint64_t kLowestPage = 0x10'0000 >> kPageBits;

constexpr std::uint64_t pageOf(std::uint64_t address) { return address >> kPageBits; }
constexpr std::uint64_t pagesAround(std::uint64_t address, std::uint64_t length) {
  return pageOf(address + length - 1) - pageOf(address) + 1;
}
constexpr bool touchesInterrupts(std::uint64_t page, std::uint64_t count) {
  return page < kInterruptEndPage && page + count > kInterruptFirstPage;
}
unsigned lengthClass(std::uint64_t length) { return 63U - static_cast<unsigned>(__builtin_clzll(length)); }
bool isRange(std::uint64_t address, std::uint64_t length) {
  return length > 0 && length <= BusAddressSpace::kLongestMapping && address + (length - 1) >= address;
}

}  // namespace

struct BusAddressSpace::Implementation {
  BusPageTable table;
  WatchLists watches;
  std::vector<BusOwner> owners{1};  // by OwnerId; 0 is nobody
  std::vector<BusMapping> mappings;
  std::vector<std::uint32_t> freeMappings;
  std::uint64_t nextPage = kFirstPage;

  BusOwner* owner(OwnerId id) {
    const bool exists = id.value() < owners.size() && owners[id.value()].backend != nullptr;
    return exists ? &owners[id.value()] : nullptr;
  }

  std::uint64_t allocatePages(std::uint64_t count, std::uint64_t firstPage);
  [[nodiscard]] std::uint64_t firstUsed(std::uint64_t page, std::uint64_t end) const;
  BusAddress create(OwnerId id, std::uint64_t firstPage, std::uint64_t address, std::uint64_t length, bool isShared);
  void fillPages(std::uint32_t index);
  [[nodiscard]] bool isWhole(std::uint32_t index, std::uint64_t firstPage, std::uint64_t count) const;
  BusAddress shareExisting(const BusOwner& owner, std::uint64_t address, std::uint64_t length);
  void clearPage(std::uint64_t page, BusPage& state);
  void destroy(std::uint32_t index);
  [[nodiscard]] bool isAccessible(std::uint64_t address, std::uint64_t length) const;
  template <class Copy>
  DmaStatus copyRuns(std::uint64_t address, std::uint64_t length, Copy&& copy) const;
  void tellWatchers(std::uint64_t address, std::uint64_t length);
};

std::uint64_t BusAddressSpace::Implementation::firstUsed(std::uint64_t page, std::uint64_t end) const {
  for (page = table.skipUnused(page); page < end; page = table.skipUnused(page + 1)) {
    if (table.find(page)->isUsed()) return page;
  }
  return end;
}

// `firstPage`: of the owner. A large range gets bus addresses whose large pages are its own.
std::uint64_t BusAddressSpace::Implementation::allocatePages(std::uint64_t count, std::uint64_t firstPage) {
  constexpr std::uint64_t kLarge = 512;
  std::uint64_t start = nextPage;
  bool cameRound = false;
  for (;;) {
    if (count >= kLarge) start += (firstPage - start) % kLarge;
    if (start + count > BusPageTable::kPages) {
      if (cameRound) throw std::length_error("no bus addresses left");
      cameRound = true;
      start = kLowestPage;
    }
    const std::uint64_t used = firstUsed(start, start + count);
    if (touchesInterrupts(start, count)) {
      start = kInterruptEndPage;
    } else if (used < start + count) {
      start = used + 1;
    } else {
      nextPage = start + count;
      return start;
    }
  }
}

BusAddress BusAddressSpace::Implementation::create(OwnerId id, std::uint64_t firstPage, std::uint64_t address,
                                                   std::uint64_t length, bool isShared) {
  if (freeMappings.empty()) {
    freeMappings.push_back(static_cast<std::uint32_t>(mappings.size()));
    mappings.emplace_back();
  }
  const std::uint32_t index = freeMappings.back();
  freeMappings.pop_back();
  BusMapping& mapping = mappings[index];
  mapping.owner = id;
  mapping.backend = owners[id.value()].backend;
  mapping.firstPage = firstPage;
  mapping.pages = mapping.livePages = pagesAround(address, length);
  mapping.address = address;
  mapping.length = length;
  mapping.isShared = isShared;
  owners[id.value()].mappings.insert(index);
  if (isShared) owners[id.value()].byLength.insert({{lengthClass(length), address}, index});
  fillPages(index);
  return BusAddress((firstPage << kPageBits) + (address & kOffsetMask));
}

void BusAddressSpace::Implementation::fillPages(std::uint32_t index) {
  const BusMapping& mapping = mappings[index];
  std::uint8_t* whole = mapping.backend->direct(mapping.address, mapping.length);
  std::uint64_t done = 0;
  for (std::uint64_t page = mapping.firstPage; done < mapping.length; ++page) {
    const std::uint64_t begin = (mapping.address + done) & kOffsetMask;
    const std::uint64_t size = std::min(kPageSize - begin, mapping.length - done);
    BusPage& state = table.obtain(page);
    const bool wasUsed = state.isUsed();
    state.direct = whole != nullptr ? whole + done : mapping.backend->direct(mapping.address + done, size);
    state.mapping = index;
    state.references = 1;
    state.begin = static_cast<std::uint16_t>(begin);
    state.end = static_cast<std::uint16_t>(begin + size);
    table.settle(page, wasUsed);
    done += size;
  }
}

bool BusAddressSpace::Implementation::isWhole(std::uint32_t index, std::uint64_t firstPage, std::uint64_t count) const {
  for (std::uint64_t page = firstPage; page < firstPage + count; ++page) {
    const BusPage* state = table.find(page);
    if (state == nullptr || !state->isMapped() || state->mapping != index) return false;
  }
  return true;
}

// The bus address of a range that one earlier call mapped as a whole, counted once more; 0 if there is none.
BusAddress BusAddressSpace::Implementation::shareExisting(const BusOwner& owner, std::uint64_t address,
                                                          std::uint64_t length) {
  for (unsigned size = lengthClass(length); size <= lengthClass(kLongestMapping); ++size) {
    const std::uint64_t reach = std::uint64_t{2} << size;
    const auto end = owner.byLength.upper_bound({size, address});
    for (auto it = owner.byLength.lower_bound({size, address < reach ? 0 : address - reach}); it != end; ++it) {
      const BusMapping& mapping = mappings[it->second];
      const std::uint64_t offset = address - mapping.address;
      if (offset >= mapping.length || length > mapping.length - offset) continue;
      const std::uint64_t firstPage = mapping.firstPage + (pageOf(address) - pageOf(mapping.address));
      const std::uint64_t count = pagesAround(address, length);
      if (!isWhole(it->second, firstPage, count)) continue;
      for (std::uint64_t page = firstPage; page < firstPage + count; ++page) ++table.find(page)->references;
      return BusAddress((firstPage << kPageBits) + (address & kOffsetMask));
    }
  }
  return BusAddress(0);
}

void BusAddressSpace::Implementation::clearPage(std::uint64_t page, BusPage& state) {
  const std::uint32_t index = state.mapping;
  const std::uint32_t watchList = state.watchList;
  state = BusPage();
  state.watchList = watchList;
  table.settle(page, true);
  if (--mappings[index].livePages == 0) destroy(index);
}

void BusAddressSpace::Implementation::destroy(std::uint32_t index) {
  const BusMapping& mapping = mappings[index];
  BusOwner& owner = owners[mapping.owner.value()];
  owner.mappings.erase(index);
  if (mapping.isShared) {
    const auto [begin, end] = owner.byLength.equal_range({lengthClass(mapping.length), mapping.address});
    owner.byLength.erase(std::find_if(begin, end, [&](const auto& entry) { return entry.second == index; }));
  }
  freeMappings.push_back(index);
}

bool BusAddressSpace::Implementation::isAccessible(std::uint64_t address, std::uint64_t length) const {
  if (length == 0) return true;
  if (address >= kEndOfBus || length > kEndOfBus - address) return false;
  std::uint64_t done = 0;
  while (done < length) {
    const std::uint64_t offset = (address + done) & kOffsetMask;
    const std::uint64_t size = std::min(kPageSize - offset, length - done);
    const BusPage* page = table.find(pageOf(address + done));
    if (page == nullptr || offset < page->begin || offset + size > page->end) return false;
    done += size;
  }
  return true;
}

// Calls `copy(direct pointer or nullptr, backend, address for the backend, offset in the whole, size)` for each piece:
// one page if it is directly accessible, otherwise as many as one call of the backend can do.
// Precondition: every byte is accessible.
template <class Copy>
DmaStatus BusAddressSpace::Implementation::copyRuns(std::uint64_t address, std::uint64_t length, Copy&& copy) const {
  std::uint64_t done = 0;
  while (done < length) {
    const std::uint64_t start = address + done;
    const std::uint64_t offset = start & kOffsetMask;
    const BusPage& first = *table.find(pageOf(start));
    std::uint64_t size = std::min(kPageSize - offset, length - done);
    while (first.direct == nullptr && done + size < length) {
      const BusPage& next = *table.find(pageOf(start + size));
      if (next.direct != nullptr || next.mapping != first.mapping) break;
      size += std::min(kPageSize, length - done - size);
    }
    std::uint8_t* direct = first.direct == nullptr ? nullptr : first.direct + (offset - first.begin);
    const BusMapping& mapping = mappings[first.mapping];
    const std::uint64_t ownerAddress = mapping.ownerAddress(pageOf(start), offset);
    if (!copy(direct, *mapping.backend, ownerAddress, done, size)) return DmaStatus::kAccessFailed;
    done += size;
  }
  return DmaStatus::kOk;
}

void BusAddressSpace::Implementation::tellWatchers(std::uint64_t address, std::uint64_t length) {
  const std::uint64_t end = address + length;
  for (std::uint64_t page = pageOf(address); page <= pageOf(end - 1); ++page) {
    const BusPage* state = table.find(page);
    // A watcher that was just told may have unmapped or unwatched the rest.
    if (state != nullptr && state->watchList != 0) watches.tell(state->watchList, page << kPageBits, address, end);
  }
}

BusAddressSpace::BusAddressSpace() : implementation_(std::make_unique<Implementation>()) {}
BusAddressSpace::~BusAddressSpace() = default;

OwnerId BusAddressSpace::addOwner(std::string name, MemoryBackend& backend) {
  BusOwner owner;
  owner.name = std::move(name);
  owner.backend = &backend;
  implementation_->owners.push_back(std::move(owner));
  return OwnerId(static_cast<std::uint32_t>(implementation_->owners.size() - 1));
}

void BusAddressSpace::removeOwner(OwnerId id) {
  Implementation& self = *implementation_;
  BusOwner* owner = self.owner(id);
  if (owner == nullptr) return;
  const std::vector<std::uint32_t> indices(owner->mappings.begin(), owner->mappings.end());
  for (const std::uint32_t index : indices) {
    const std::uint64_t firstPage = self.mappings[index].firstPage;
    const std::uint64_t endPage = firstPage + self.mappings[index].pages;
    for (std::uint64_t page = firstPage; page < endPage; ++page) {
      BusPage* state = self.table.find(page);
      if (state != nullptr && state->isMapped() && state->mapping == index) self.clearPage(page, *state);
    }
  }
  owner->backend = nullptr;
}

BusAddress BusAddressSpace::map(OwnerId id, std::uint64_t address, std::uint64_t length) {
  Implementation& self = *implementation_;
  const BusOwner* owner = self.owner(id);
  if (owner == nullptr) throw std::invalid_argument("no such owner of memory");
  if (!isRange(address, length)) throw std::invalid_argument("no range of memory that can be mapped");
  const BusAddress shared = self.shareExisting(*owner, address, length);
  if (shared.value() != 0) return shared;
  return self.create(id, self.allocatePages(pagesAround(address, length), address / kPageSize), address, length, true);
}

bool BusAddressSpace::mapAt(BusAddress bus, OwnerId id, std::uint64_t address, std::uint64_t length) {
  Implementation& self = *implementation_;
  if (self.owner(id) == nullptr || !isRange(address, length)) return false;
  if ((bus.value() & kOffsetMask) != (address & kOffsetMask)) return false;
  if (bus.value() >= kEndOfBus || length > kEndOfBus - bus.value()) return false;
  const std::uint64_t page = pageOf(bus.value());
  const std::uint64_t count = pagesAround(address, length);
  if (touchesInterrupts(page, count)) return false;
  for (std::uint64_t used = self.firstUsed(page, page + count); used < page + count;
       used = self.firstUsed(used + 1, page + count)) {
    if (self.table.find(used)->isMapped()) return false;
  }
  self.create(id, page, address, length, false);
  return true;
}

void BusAddressSpace::unmap(BusAddress bus, std::uint64_t length) {
  Implementation& self = *implementation_;
  if (length == 0 || bus.value() >= kEndOfBus) return;
  const std::uint64_t last = bus.value() + std::min(length, kEndOfBus - bus.value()) - 1;
  const std::uint64_t end = pageOf(last) + 1;
  for (std::uint64_t page = self.firstUsed(pageOf(bus.value()), end); page < end;
       page = self.firstUsed(page + 1, end)) {
    BusPage& state = *self.table.find(page);
    if (!state.isMapped()) continue;
    if (state.references > 1) {
      --state.references;
    } else {
      self.clearPage(page, state);
    }
  }
}

DmaStatus BusAddressSpace::read(BusAddress address, MutableByteView into) const {
  const Implementation& self = *implementation_;
  const std::uint64_t offset = address.value() & kOffsetMask;
  if (into.empty()) return DmaStatus::kOk;
  if (offset + into.size() <= kPageSize) {
    const BusPage* page = self.table.find(pageOf(address.value()));
    if (page == nullptr || offset < page->begin || offset + into.size() > page->end) return DmaStatus::kUnmapped;
    if (page->direct != nullptr) {
      std::memcpy(into.data(), page->direct + (offset - page->begin), into.size());
      return DmaStatus::kOk;
    }
  } else if (!self.isAccessible(address.value(), into.size())) {
    return DmaStatus::kUnmapped;
  }
  const auto copy = [&](const std::uint8_t* direct, MemoryBackend& backend, std::uint64_t from, std::uint64_t done,
                        std::uint64_t size) {
    const MutableByteView part = into.subview(done, size);
    if (direct == nullptr) return backend.read(from, part);
    std::memcpy(part.data(), direct, size);
    return true;
  };
  return self.copyRuns(address.value(), into.size(), copy);
}

DmaStatus BusAddressSpace::write(BusAddress address, ByteView bytes) {
  Implementation& self = *implementation_;
  const std::uint64_t offset = address.value() & kOffsetMask;
  if (bytes.empty()) return DmaStatus::kOk;
  if (offset + bytes.size() <= kPageSize) {
    const BusPage* page = self.table.find(pageOf(address.value()));
    if (page == nullptr || offset < page->begin || offset + bytes.size() > page->end) return DmaStatus::kUnmapped;
    if (page->direct != nullptr) {
      std::memcpy(page->direct + (offset - page->begin), bytes.data(), bytes.size());
      if (page->watchList != 0) self.tellWatchers(address.value(), bytes.size());
      return DmaStatus::kOk;
    }
  } else if (!self.isAccessible(address.value(), bytes.size())) {
    return DmaStatus::kUnmapped;
  }
  const auto copy = [&](std::uint8_t* direct, MemoryBackend& backend, std::uint64_t to, std::uint64_t done,
                        std::uint64_t size) {
    const ByteView part = bytes.subview(done, size);
    if (direct == nullptr) return backend.write(to, part);
    std::memcpy(direct, part.data(), size);
    return true;
  };
  const DmaStatus status = self.copyRuns(address.value(), bytes.size(), copy);
  if (status == DmaStatus::kOk) self.tellWatchers(address.value(), bytes.size());
  return status;
}

bool BusAddressSpace::contains(BusAddress address, std::uint64_t length) const {
  return implementation_->isAccessible(address.value(), length);
}

void BusAddressSpace::watch(BusAddress address, std::uint64_t length, MemoryWatcher& watcher) {
  Implementation& self = *implementation_;
  if (!isRange(address.value(), length) || address.value() + length > kEndOfBus) {
    throw std::invalid_argument("no range of bus addresses that can be watched");
  }
  const std::uint64_t end = address.value() + length;
  for (std::uint64_t page = pageOf(address.value()); page <= pageOf(end - 1); ++page) {
    BusPage& state = self.table.obtain(page);
    const bool wasUsed = state.isUsed();
    state.watchList = self.watches.add(state.watchList, {address.value(), end, &watcher});
    self.table.settle(page, wasUsed);
  }
}

void BusAddressSpace::unwatch(BusAddress address, std::uint64_t length, MemoryWatcher& watcher) {
  Implementation& self = *implementation_;
  if (length == 0 || address.value() >= kEndOfBus) return;
  const std::uint64_t end = address.value() + std::min(length, kEndOfBus - address.value());
  for (std::uint64_t page = self.firstUsed(pageOf(address.value()), pageOf(end - 1) + 1); page <= pageOf(end - 1);
       page = self.firstUsed(page + 1, pageOf(end - 1) + 1)) {
    BusPage& state = *self.table.find(page);
    state.watchList = self.watches.remove(state.watchList, {address.value(), end, &watcher});
    self.table.settle(page, true);
  }
}

}  // namespace hca::host
