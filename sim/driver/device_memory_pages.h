// Which pages of an adapter's device memory are taken.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace hca::driver {

/// Pieces of device memory have pages of their own, as programs map whole pages (Linux
/// drivers/infiniband/hw/mlx5/dm.c).
class DeviceMemoryPages {
 public:
  static constexpr std::uint32_t kPage = 4096;

  /// Forgets everything; `bytes` of memory are there.
  void reset(std::uint32_t bytes) {
    taken_.assign(bytes / kPage, false);
    pieces_.clear();
  }

  /// Takes as many free pages in a row as `length` bytes need, from page `from` on. Returns the first.
  std::optional<std::uint32_t> take(std::uint32_t length, std::uint32_t from);
  void giveBack(std::uint32_t page, std::uint32_t length) { mark(page, length, false); }

  /// What the adapter allocated on the pages from `page` on.
  struct Piece {
    std::uint64_t start;  ///< offset in BAR0
    std::uint32_t length;
  };
  void add(std::uint32_t page, const Piece& piece) { pieces_[page] = piece; }
  /// Precondition: added.
  [[nodiscard]] const Piece& at(std::uint32_t page) const { return pieces_.at(page); }
  /// With its pages.
  void remove(std::uint32_t page);

 private:
  [[nodiscard]] static std::uint32_t pagesOf(std::uint32_t length) { return (length + kPage - 1) / kPage; }
  void mark(std::uint32_t page, std::uint32_t length, bool isTaken);

  std::vector<bool> taken_;
  std::map<std::uint32_t, Piece> pieces_;
};

}  // namespace hca::driver
