// What is behind each page of a bus address space.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace hca::host {

/// One 4 KiB page of bus addresses. An unmapped one has no accessible byte.
struct BusPage {
  std::uint8_t* direct = nullptr;  ///< the byte at `begin`, or nullptr: through the owner's backend
  std::uint32_t mapping = 0;       ///< index of the mapping it belongs to; counts only while `references` > 0
  std::uint32_t references = 0;    ///< how often it is mapped
  std::uint32_t watchList = 0;     ///< who is told of writes; 0: nobody
  std::uint16_t begin = 0;         ///< first accessible byte
  std::uint16_t end = 0;           ///< behind the last accessible byte, up to 4096

  [[nodiscard]] bool isMapped() const { return references > 0; }
  [[nodiscard]] bool isUsed() const { return references > 0 || watchList != 0; }
};

/// A radix tree of three levels: dense where addresses are dense, and three loads to any page.
class BusPageTable {
 public:
  static constexpr unsigned kPageBits = 12;
  /// Bus addresses have as many bits as a four-level IOMMU page table translates.
  static constexpr unsigned kAddressBits = 48;
  static constexpr std::uint64_t kPages = std::uint64_t{1} << (kAddressBits - kPageBits);

  /// The page's state, or nullptr if nothing near it is used.
  [[nodiscard]] BusPage* find(std::uint64_t page) const {
    const std::uint64_t top = page >> (2 * kLevelBits);
    if (top >= directories_.size()) return nullptr;
    const Directory* directory = directories_[top].get();
    if (directory == nullptr) return nullptr;
    Leaf* leaf = (*directory)[(page >> kLevelBits) & kIndexMask].get();
    return leaf == nullptr ? nullptr : &leaf->pages[page & kIndexMask];
  }

  /// The first page from `page` on whose neighbourhood is used; kPages if there is none.
  [[nodiscard]] std::uint64_t skipUnused(std::uint64_t page) const {
    while (page < kPages) {
      const std::uint64_t top = page >> (2 * kLevelBits);
      if (top >= directories_.size()) return kPages;
      const Directory* directory = directories_[top].get();
      if (directory == nullptr) {
        page = (top + 1) << (2 * kLevelBits);
      } else if ((*directory)[(page >> kLevelBits) & kIndexMask] == nullptr) {
        page = ((page >> kLevelBits) + 1) << kLevelBits;
      } else {
        return page;
      }
    }
    return kPages;
  }

  /// The page's state for changing it. Precondition: page < kPages. Follow a change with `settle`.
  BusPage& obtain(std::uint64_t page) {
    const std::uint64_t top = page >> (2 * kLevelBits);
    if (top >= directories_.size()) directories_.resize(top + 1);
    if (directories_[top] == nullptr) directories_[top] = std::make_unique<Directory>();
    std::unique_ptr<Leaf>& leaf = (*directories_[top])[(page >> kLevelBits) & kIndexMask];
    if (leaf == nullptr) leaf = std::make_unique<Leaf>();
    return leaf->pages[page & kIndexMask];
  }

  /// Accounts for a page that became used or unused (`wasUsed`: before the change); frees what nobody uses.
  void settle(std::uint64_t page, bool wasUsed) {
    std::unique_ptr<Leaf>& leaf = (*directories_[page >> (2 * kLevelBits)])[(page >> kLevelBits) & kIndexMask];
    const bool isUsed = leaf->pages[page & kIndexMask].isUsed();
    if (isUsed == wasUsed) return;
    leaf->used += isUsed ? 1 : -1;
    if (leaf->used == 0) leaf.reset();
  }

 private:
  static constexpr unsigned kLevelBits = 9;
  static constexpr std::uint64_t kFanOut = std::uint64_t{1} << kLevelBits;
  static constexpr std::uint64_t kIndexMask = kFanOut - 1;
  struct Leaf {
    std::array<BusPage, kFanOut> pages;
    int used = 0;
  };
  using Directory = std::array<std::unique_ptr<Leaf>, kFanOut>;

  std::vector<std::unique_ptr<Directory>> directories_;
};

}  // namespace hca::host
