// Names for the fields of a format: tables that decoders, logs and dumps read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/base/byte_view.h"
#include "models/wire/context_field.h"

namespace hca::wire {

struct FieldRow;

/// The named fields of one format, in the order in which they are shown. Offsets count from the format's first byte.
struct FieldTable {
  constexpr FieldTable() = default;
  template <std::size_t kCount>
  constexpr FieldTable(const FieldRow (&list)[kCount]) : rows(list), count(kCount) {}  // NOLINT: stands for the rows

  const FieldRow* rows = nullptr;
  std::size_t count = 0;
};

/// A format with the prefix that its fields have.
struct NamedTable {
  const char* name;
  FieldTable fields;
};

/// What a value means.
struct ValueName {
  std::uint64_t value;
  const char* name;
};
struct ValueNames {
  constexpr ValueNames() = default;
  template <std::size_t kCount>
  constexpr ValueNames(const ValueName (&list)[kCount]) : first(list), count(kCount) {}  // NOLINT: stands for the list

  const ValueName* first = nullptr;
  std::size_t count = 0;
};

/// One row of a FieldTable. Made by the functions at the end from the types that lay the format out, so that offset and
/// bits are written once.
struct FieldRow {
  enum class Kind : std::uint8_t {
    kBits,     ///< bits of a big-endian dword
    kWord64,   ///< a big-endian 64-bit word
    kBytes,    ///< `size` bytes: a GID, a MAC address
    kText,     ///< the same, a text filled up with zeros
    kList,     ///< entries of `size` bytes, `most` of them or as many as there are; summarised
    kTable,    ///< another format
    kEntries,  ///< another format repeated every `size` bytes up to the end
    kChoice,   ///< one of several formats, by the command's input
  };
  enum class Use : std::uint8_t {
    kPlain,
    kNumber,          ///< of an object: told even if it is zero
    kVirtualAddress,  ///< of a program
    kBusAddress,
    kPageCount,  ///< of memory: it follows from the address, too
    kSigned,     ///< two's complement of 32 bits
  };
  using Choose = const NamedTable* (*)(ByteView input);

  const char* name;
  Kind kind;
  Use use = Use::kPlain;
  std::size_t offset = 0;
  unsigned high = 0, low = 0;         ///< kBits; kList of 4 bytes: the part of each dword that counts
  std::size_t size = 0;               ///< bytes: kBytes, kText, and of an entry of kList or kEntries
  std::size_t most = 0;               ///< kList: entries, 0: up to the end
  ValueNames meanings = {};           ///< kBits
  const FieldTable* table = nullptr;  ///< kTable, kEntries
  Choose choose = nullptr;            ///< kChoice

  /// Bits of a dword: a ContextField.
  template <class Field>
  static constexpr FieldRow bits(const char* name, ValueNames meanings = {}) {
    FieldRow row{name, Kind::kBits};
    row.offset = Field::kByteOffset;
    row.high = Field::kHigh;
    row.low = Field::kLow;
    row.meanings = meanings;
    return row;
  }
  /// The number of an object: a ContextField.
  template <class Field>
  static constexpr FieldRow number(const char* name, ValueNames meanings = {}) {
    FieldRow row = bits<Field>(name, meanings);
    row.use = Use::kNumber;
    return row;
  }
  /// How many pages memory lies on, in some unit: a ContextField.
  template <class Field>
  static constexpr FieldRow pageCount(const char* name) {
    FieldRow row = bits<Field>(name);
    row.use = Use::kPageCount;
    return row;
  }
  /// A whole dword in two's complement: a ContextField.
  template <class Field>
  static constexpr FieldRow signedNumber(const char* name) {
    static_assert(Field::kHigh == 31 && Field::kLow == 0);
    FieldRow row = bits<Field>(name);
    row.use = Use::kSigned;
    return row;
  }
  /// A ContextWord64.
  template <class Word>
  static constexpr FieldRow word64(const char* name, Use use = Use::kPlain) {
    FieldRow row{name, Kind::kWord64, use};
    row.offset = Word::kByteOffset;
    return row;
  }
  /// A ContextBlock as bytes.
  template <class Block>
  static constexpr FieldRow bytes(const char* name) {
    FieldRow row{name, Kind::kBytes};
    row.offset = Block::kByteOffset;
    row.size = Block::kSize;
    return row;
  }
  /// A ContextBlock that holds a text.
  template <class Block>
  static constexpr FieldRow text(const char* name) {
    FieldRow row = bytes<Block>(name);
    row.kind = Kind::kText;
    return row;
  }
  /// A ContextBlock that holds another format.
  template <class Block>
  static constexpr FieldRow nested(const char* name, const FieldTable& format) {
    FieldRow row{name, Kind::kTable};
    row.offset = Block::kByteOffset;
    row.size = Block::kSize;
    row.table = &format;
    return row;
  }
  /// ContextWords64: addresses of pages if nothing else is said.
  template <class Words>
  static constexpr FieldRow words64(const char* name, Use use = Use::kBusAddress, std::size_t most = 0) {
    FieldRow row{name, Kind::kList, use};
    row.offset = Words::kByteOffset;
    row.size = sizeof(std::uint64_t);
    row.most = most;
    return row;
  }
  /// Dwords up to the end, of each the bits of `First`, the ContextField of the first one.
  template <class First>
  static constexpr FieldRow dwords(const char* name) {
    FieldRow row = bits<First>(name);
    row.kind = Kind::kList;
    row.size = sizeof(std::uint32_t);
    return row;
  }
  /// Entries of `size` bytes from `offset` to the end, shown as bytes.
  static constexpr FieldRow list(const char* name, std::size_t offset, std::size_t size) {
    FieldRow row{name, Kind::kList};
    row.offset = offset;
    row.size = size;
    row.high = 31;
    return row;
  }
  /// A format repeated every `size` bytes from `offset` to the end; `format` has the offsets of the first one.
  static constexpr FieldRow entries(const char* name, std::size_t offset, std::size_t size, const FieldTable& format) {
    FieldRow row{name, Kind::kEntries};
    row.offset = offset;
    row.size = size;
    row.table = &format;
    return row;
  }
  /// At `offset`, a format that `choose` finds in the command's input; nullptr: none that is known.
  static constexpr FieldRow choice(std::size_t offset, Choose choose) {
    FieldRow row{"", Kind::kChoice};
    row.offset = offset;
    row.choose = choose;
    return row;
  }
};

}  // namespace hca::wire
