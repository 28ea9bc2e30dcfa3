// Which doorbell register a queue pair rings.
#pragma once

#include <cstdint>
#include <vector>

namespace hca::cosim {

/// Deals the registers of a program's UAR pages to its queue pairs as the stock driver does (Linux
/// drivers/infiniband/hw/mlx5/qp.c, alloc_bfreg): one register each as long as the low-latency ones last, then those
/// that are shared under a lock; register 0 takes no BlueFlame.
class BlueFlameRegisters {
 public:
  BlueFlameRegisters(unsigned total, unsigned lowLatency) : counts_(total), firstHigh_(total - lowLatency) {}

  unsigned take() {
    for (unsigned i = firstHigh_; i < counts_.size(); ++i) {
      if (counts_[i] == 0) return use(i);
    }
    if (firstHigh_ <= 1) return use(0);
    unsigned least = 1;
    for (unsigned i = 1; i < firstHigh_; ++i) {
      if (counts_[i] < counts_[least]) least = i;
    }
    return use(least);
  }
  void give(unsigned number) { --counts_[number]; }
  [[nodiscard]] unsigned total() const { return static_cast<unsigned>(counts_.size()); }

  /// Two of the four registers of a page are dealt out.
  static constexpr unsigned kPerPage = 2;
  [[nodiscard]] static constexpr unsigned pageOf(unsigned number) { return number / kPerPage; }
  /// The number by which the library knows it (adjust_bfregn of the same file).
  [[nodiscard]] static constexpr unsigned libraryNumber(unsigned number) {
    constexpr unsigned kInPage = 4;
    return number / kPerPage * kInPage + number % kPerPage;
  }

 private:
  unsigned use(unsigned number) {
    ++counts_[number];
    return number;
  }
  std::vector<std::uint32_t> counts_;
  unsigned firstHigh_;
};

}  // namespace hca::cosim
