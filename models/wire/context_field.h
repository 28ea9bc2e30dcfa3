// Named access to the fields of a big context or command, held as plain bytes.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "models/base/byte_view.h"
#include "models/wire/endian.h"
#include "models/wire/field.h"

namespace hca::wire {

/// Bits [kHighBit:kLowBit] of the big-endian dword at byte kOffset of a context. One bit reads as bool.
/// The context's bytes must reach beyond that dword; the length is for the caller to check.
template <std::size_t kOffset, unsigned kHighBit, unsigned kLowBit>
struct ContextField {
  static_assert(kOffset % 4 == 0, "contexts are laid out in dwords");
  using Value = std::conditional_t<kHighBit == kLowBit, bool, std::uint32_t>;
  using Bits = Field<std::uint32_t, kHighBit, kLowBit, Value>;
  static constexpr std::size_t kByteOffset = kOffset;
  static constexpr unsigned kHigh = kHighBit;
  static constexpr unsigned kLow = kLowBit;
  static constexpr std::uint32_t kMax = Bits::kMax;

  [[nodiscard]] static Value get(ByteView context) {
    assert(context.size() >= kOffset + 4);
    return Bits::get(loadBigEndian<std::uint32_t>(context.data() + kOffset));
  }
  static void set(MutableByteView context, Value value) {
    assert(context.size() >= kOffset + 4);
    auto word = loadBigEndian<std::uint32_t>(context.data() + kOffset);
    Bits::set(word, value);
    storeBigEndian(context.data() + kOffset, word);
  }
};

/// The big-endian 64-bit word at byte kOffset of a context.
template <std::size_t kOffset>
struct ContextWord64 {
  static_assert(kOffset % 4 == 0, "contexts are laid out in dwords");
  static constexpr std::size_t kByteOffset = kOffset;

  [[nodiscard]] static std::uint64_t get(ByteView context) {
    assert(context.size() >= kOffset + 8);
    return loadBigEndian<std::uint64_t>(context.data() + kOffset);
  }
  static void set(MutableByteView context, std::uint64_t value) {
    assert(context.size() >= kOffset + 8);
    storeBigEndian(context.data() + kOffset, value);
  }
};

/// kLength bytes from byte kOffset on: a nested context, a GID, a MAC address, a text.
template <std::size_t kOffset, std::size_t kLength>
struct ContextBlock {
  static constexpr std::size_t kByteOffset = kOffset;
  static constexpr std::size_t kSize = kLength;

  [[nodiscard]] static ByteView view(ByteView context) { return context.subview(kOffset, kLength); }
  [[nodiscard]] static MutableByteView mutableView(MutableByteView context) {
    return context.subview(kOffset, kLength);
  }
};

/// 64-bit words from byte kOffset to the end: page lists, translation entries, event masks.
template <std::size_t kOffset>
struct ContextWords64 {
  static constexpr std::size_t kByteOffset = kOffset;

  /// Whole words that `context` holds.
  [[nodiscard]] static std::size_t count(ByteView context) {
    return context.size() < kOffset ? 0 : (context.size() - kOffset) / 8;
  }
  [[nodiscard]] static std::uint64_t get(ByteView context, std::size_t index) {
    assert(index < count(context));
    return loadBigEndian<std::uint64_t>(context.data() + kOffset + 8 * index);
  }
  static void set(MutableByteView context, std::size_t index, std::uint64_t value) {
    assert(index < count(context));
    storeBigEndian(context.data() + kOffset + 8 * index, value);
  }
};

/// Addresses in a page list are 4 KiB aligned; the low bits are flags (memory keys) or zero.
constexpr std::uint64_t kPageAddressMask = ~std::uint64_t{0xFFF};

}  // namespace hca::wire
