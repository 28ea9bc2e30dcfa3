// A bit field of a word, by its highest and lowest bit.
#pragma once

#include <cassert>
#include <cstdint>
#include <type_traits>

#include "models/wire/endian.h"

namespace hca::wire {

/// Bits [kHighBit:kLowBit] of a host-order `WordType`, read and written as `ValueType` (an unsigned integer, bool or an
/// enumeration). The compiler's own bit fields are never used: their order is not portable.
template <class WordType, unsigned kHighBit, unsigned kLowBit, class ValueType = WordType>
struct Field {
  static_assert(std::is_unsigned_v<WordType>);
  static_assert(kHighBit >= kLowBit, "high bit first");
  static_assert(kHighBit < sizeof(WordType) * 8, "the field must fit its word");
  static_assert(!std::is_same_v<ValueType, bool> || kHighBit == kLowBit, "a bool is one bit");

  using Word = WordType;
  using Value = ValueType;
  static constexpr unsigned kHigh = kHighBit;
  static constexpr unsigned kLow = kLowBit;
  static constexpr unsigned kWidth = kHighBit - kLowBit + 1;
  /// Largest value.
  static constexpr Word kMax = static_cast<Word>(static_cast<Word>(~Word{0}) >> (sizeof(Word) * 8 - kWidth));
  /// The field's bits set, all others clear.
  static constexpr Word kMask = static_cast<Word>(kMax << kLowBit);

  [[nodiscard]] static constexpr Value get(Word word) { return static_cast<Value>((word >> kLowBit) & kMax); }
  [[nodiscard]] static constexpr Value get(BigEndian<Word> word) { return get(word.host()); }

  /// A word with this field set and all other bits clear. `value` must fit.
  [[nodiscard]] static constexpr Word make(Value value) {
    const Word raw = static_cast<Word>(value);
    assert(raw <= kMax);
    return static_cast<Word>((raw & kMax) << kLowBit);
  }

  static constexpr void set(Word& word, Value value) { word = static_cast<Word>((word & ~kMask) | make(value)); }
  static constexpr void set(BigEndian<Word>& word, Value value) {
    Word host = word.host();
    set(host, value);
    word = BigEndian<Word>(host);
  }
};

}  // namespace hca::wire
