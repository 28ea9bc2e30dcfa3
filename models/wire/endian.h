// Integers in the byte order of the adapter's interface: most significant byte first.
#pragma once

#include <cstdint>
#include <cstring>

namespace hca::wire {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the swaps below assume a little-endian host");

[[nodiscard]] constexpr std::uint8_t swapBytes(std::uint8_t value) { return value; }
[[nodiscard]] constexpr std::uint16_t swapBytes(std::uint16_t value) { return __builtin_bswap16(value); }
[[nodiscard]] constexpr std::uint32_t swapBytes(std::uint32_t value) { return __builtin_bswap32(value); }
[[nodiscard]] constexpr std::uint64_t swapBytes(std::uint64_t value) { return __builtin_bswap64(value); }

/// An unsigned integer stored most significant byte first. Aligned as `Word`; structures that hold it at an odd
/// address are copied out first (hca::structFrom).
template <class Word>
class BigEndian {
 public:
  using value_type = Word;
  constexpr BigEndian() = default;
  constexpr explicit BigEndian(Word host) : stored_(swapBytes(host)) {}

  /// The value in the host's byte order.
  [[nodiscard]] constexpr Word host() const { return swapBytes(stored_); }

  friend constexpr bool operator==(BigEndian a, BigEndian b) { return a.stored_ == b.stored_; }
  friend constexpr bool operator!=(BigEndian a, BigEndian b) { return a.stored_ != b.stored_; }

 private:
  Word stored_ = 0;
};

using Be16 = BigEndian<std::uint16_t>;
using Be32 = BigEndian<std::uint32_t>;
using Be64 = BigEndian<std::uint64_t>;

static_assert(sizeof(Be16) == 2 && alignof(Be16) == 2);
static_assert(sizeof(Be32) == 4 && alignof(Be32) == 4);
static_assert(sizeof(Be64) == 8 && alignof(Be64) == 8);

/// 24 bits in three bytes, for packet headers. Alignment 1.
class Be24 {
 public:
  constexpr Be24() = default;
  /// The top byte of `host` is dropped.
  constexpr explicit Be24(std::uint32_t host)
      : bytes_{static_cast<std::uint8_t>(host >> 16), static_cast<std::uint8_t>(host >> 8),
               static_cast<std::uint8_t>(host)} {}
  [[nodiscard]] constexpr std::uint32_t host() const {
    return std::uint32_t{bytes_[0]} << 16 | std::uint32_t{bytes_[1]} << 8 | bytes_[2];
  }

 private:
  std::uint8_t bytes_[3] = {};
};

static_assert(sizeof(Be24) == 3 && alignof(Be24) == 1);

/// 64 bits most significant byte first, alignment 1, for packet headers that put them at an odd offset.
class Be64Unaligned {
 public:
  Be64Unaligned() = default;
  explicit Be64Unaligned(std::uint64_t host) {
    const std::uint64_t stored = swapBytes(host);
    std::memcpy(bytes_, &stored, sizeof stored);
  }
  [[nodiscard]] std::uint64_t host() const {
    std::uint64_t stored;
    std::memcpy(&stored, bytes_, sizeof stored);
    return swapBytes(stored);
  }

 private:
  std::uint8_t bytes_[8] = {};
};

static_assert(sizeof(Be64Unaligned) == 8 && alignof(Be64Unaligned) == 1);

/// The integer whose first byte is at `source`, which may be unaligned.
template <class Word>
[[nodiscard]] Word loadBigEndian(const std::uint8_t* source) {
  Word stored;
  std::memcpy(&stored, source, sizeof stored);
  return swapBytes(stored);
}

/// Stores `value` from `destination` on, which may be unaligned.
template <class Word>
void storeBigEndian(std::uint8_t* destination, Word value) {
  const Word stored = swapBytes(value);
  std::memcpy(destination, &stored, sizeof stored);
}

}  // namespace hca::wire
