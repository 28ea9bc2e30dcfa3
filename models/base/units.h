// Typed physical quantities. Every raw number that crosses a public interface has a unit in its type.
#pragma once

#include <cstdint>

namespace hca {

/// A signed integer amount of one unit. Construction is explicit; only like units add and compare.
/// Range: 63 bits; simulated time in picoseconds therefore wraps after 106 days.
template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::int64_t count) : count_(count) {}

  /// The bare amount, in the unit that the type names.
  [[nodiscard]] constexpr std::int64_t count() const { return count_; }

  constexpr Quantity& operator+=(Quantity other) {
    count_ += other.count_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    count_ -= other.count_;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.count_ + b.count_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.count_ - b.count_); }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) { return Quantity(a.count_ * n); }
  friend constexpr Quantity operator*(std::int64_t n, Quantity a) { return Quantity(a.count_ * n); }
  friend constexpr bool operator==(Quantity a, Quantity b) { return a.count_ == b.count_; }
  friend constexpr bool operator!=(Quantity a, Quantity b) { return a.count_ != b.count_; }
  friend constexpr bool operator<(Quantity a, Quantity b) { return a.count_ < b.count_; }
  friend constexpr bool operator<=(Quantity a, Quantity b) { return a.count_ <= b.count_; }
  friend constexpr bool operator>(Quantity a, Quantity b) { return a.count_ > b.count_; }
  friend constexpr bool operator>=(Quantity a, Quantity b) { return a.count_ >= b.count_; }

 private:
  std::int64_t count_ = 0;
};

using Picoseconds = Quantity<struct PicosecondsTag>;
using Bytes = Quantity<struct BytesTag>;
using BitsPerSecond = Quantity<struct BitsPerSecondTag>;
using Hertz = Quantity<struct HertzTag>;
using Cycles = Quantity<struct CyclesTag>;
using Entries = Quantity<struct EntriesTag>;

/// Simulated time, both an instant (since the start of the simulation) and a span.
using Time = Picoseconds;

constexpr Time picoseconds(std::int64_t n) { return Time(n); }
constexpr Time nanoseconds(std::int64_t n) { return Time(n * 1000); }
constexpr Time microseconds(std::int64_t n) { return Time(n * 1'000'000); }
constexpr Time milliseconds(std::int64_t n) { return Time(n * 1'000'000'000); }
constexpr Time kForever = Time(INT64_MAX);

constexpr Time later(Time a, Time b) { return a < b ? b : a; }
constexpr Time earlier(Time a, Time b) { return a < b ? a : b; }

/// Wide enough for a product of two quantities.
__extension__ using WideInteger = __int128;

/// Serialisation time of `size` at `rate`, rounded up to a whole picosecond.
constexpr Time transferTime(Bytes size, BitsPerSecond rate) {
  constexpr std::int64_t kPerByte = 8 * std::int64_t{1'000'000'000'000};  // picoseconds times bits
  constexpr std::int64_t kNarrowLimit = INT64_MAX / kPerByte / 2;         // 64-bit division is several times faster
  if (size.count() < kNarrowLimit && rate.count() < INT64_MAX / 2) {
    return Time((size.count() * kPerByte + rate.count() - 1) / rate.count());
  }
  const auto scaled = static_cast<WideInteger>(size.count()) * kPerByte;
  return Time(static_cast<std::int64_t>((scaled + rate.count() - 1) / rate.count()));
}

}  // namespace hca
