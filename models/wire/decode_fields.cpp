#include "models/wire/decode_fields.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "models/wire/command_fields.h"
#include "models/wire/command_header.h"
#include "models/wire/endian.h"

namespace hca::wire {
namespace {

constexpr std::size_t kDword = 4;
constexpr std::uint64_t kLargestDecimal = 9;

std::string hexNumber(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string numberText(std::uint64_t value) {
  return value <= kLargestDecimal ? std::to_string(value) : hexNumber(value);
}

std::string hexBytes(ByteView bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

std::string printable(ByteView bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) {
    if (byte == 0) break;
    constexpr std::uint8_t kFirst = 0x20, kLast = 0x7E;
    text += byte >= kFirst && byte <= kLast ? static_cast<char>(byte) : '?';
  }
  return text;
}

bool isZero(ByteView bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

const char* meaningOf(const ValueNames& names, std::uint64_t value) {
  for (std::size_t i = 0; i < names.count; ++i) {
    if (names.first[i].value == value) return names.first[i].name;
  }
  return nullptr;
}

/// Walks tables over bytes. What rows name is cleared from a copy; what remains was named by none.
class FieldReader {
 public:
  FieldReader(ByteView bytes, ByteView input, Zeros zeros)
      : rest_(bytes.begin(), bytes.end()), input_(input), keepsZeros_(zeros == Zeros::kKeep) {}

  void read(const FieldTable& table, const std::string& prefix, std::size_t base) {
    for (std::size_t i = 0; i < table.count; ++i) readRow(table.rows[i], prefix, base);
  }
  /// Bits of the dword at `offset`, under a name of their own if there is one.
  void take(std::size_t offset, std::uint32_t mask, const char* name) {
    if (offset + kDword > rest_.size()) return;
    FieldRow row{"", FieldRow::Kind::kBits};
    row.offset = offset;
    for (row.high = 31; ((mask >> row.high) & 1) == 0;) --row.high;
    while (((mask >> row.low) & 1) == 0) ++row.low;
    const std::uint64_t value = takeBits(row, offset);
    if (name != nullptr && value != 0) add(number(name, value));
  }
  std::vector<DecodedField> finish() {
    readRest();
    return std::move(fields_);
  }

 private:
  static constexpr std::size_t kMostEntries = 8;
  static constexpr std::size_t kMostDwords = 64;

  static DecodedField number(std::string name, std::uint64_t value) {
    DecodedField field;
    field.name = std::move(name);
    field.value = value;
    return field;
  }

  [[nodiscard]] bool has(std::size_t at, std::size_t size) const { return at + size <= rest_.size(); }
  [[nodiscard]] ByteView view(std::size_t at, std::size_t size) const { return ByteView(rest_).subview(at, size); }
  void clear(std::size_t at, std::size_t size) {
    std::fill_n(rest_.begin() + static_cast<std::ptrdiff_t>(at), size, 0);
  }
  void add(DecodedField field) { fields_.push_back(std::move(field)); }

  std::uint64_t takeBits(const FieldRow& row, std::size_t at) {
    const auto word = loadBigEndian<std::uint32_t>(rest_.data() + at);
    const std::uint64_t mask = ((std::uint64_t{1} << (row.high - row.low + 1)) - 1) << row.low;
    storeBigEndian(rest_.data() + at, static_cast<std::uint32_t>(word & ~mask));
    return (word & mask) >> row.low;
  }

  void readRow(const FieldRow& row, const std::string& prefix, std::size_t base) {
    const std::size_t at = base + row.offset;
    switch (row.kind) {
      case FieldRow::Kind::kBits:
        if (has(at, kDword)) addNumber(row, prefix, takeBits(row, at));
        return;
      case FieldRow::Kind::kWord64:
        return readWord(row, prefix, at);
      case FieldRow::Kind::kBytes:
      case FieldRow::Kind::kText:
        return readBytes(row, prefix, at);
      case FieldRow::Kind::kList:
        return readList(row, prefix, at);
      case FieldRow::Kind::kTable:
        return read(*row.table, prefix + row.name + '.', at);
      case FieldRow::Kind::kEntries:
        return readEntries(row, prefix, base);
      case FieldRow::Kind::kChoice:
        if (const NamedTable* chosen = row.choose(input_)) read(chosen->fields, prefix + chosen->name + '.', at);
        return;
    }
  }

  void addNumber(const FieldRow& row, const std::string& prefix, std::uint64_t value) {
    if (value == 0 && !keepsZeros_ && row.use != FieldRow::Use::kNumber) return;
    DecodedField field = number(prefix + row.name, value);
    field.use = row.use;
    field.meaning = meaningOf(row.meanings, value);
    add(std::move(field));
  }

  void readWord(const FieldRow& row, const std::string& prefix, std::size_t at) {
    constexpr std::size_t kWord = 8;
    if (!has(at, kWord)) return;
    addNumber(row, prefix, loadBigEndian<std::uint64_t>(rest_.data() + at));
    clear(at, kWord);
  }

  void readBytes(const FieldRow& row, const std::string& prefix, std::size_t at) {
    if (!has(at, row.size)) return;
    const ByteView bytes = view(at, row.size);
    if (keepsZeros_ || !isZero(bytes)) {
      DecodedField field = number(prefix + row.name, 0);
      const bool isText = row.kind == FieldRow::Kind::kText;
      field.kind = isText ? DecodedField::Kind::kText : DecodedField::Kind::kBytes;
      field.text = isText ? printable(bytes) : hexBytes(bytes);
      add(std::move(field));
    }
    clear(at, row.size);
  }

  [[nodiscard]] std::string entryText(const FieldRow& row, std::size_t at) {
    if (row.size == kDword) return hexNumber(takeBits(row, at));
    const ByteView bytes = view(at, row.size);
    return row.size == 2 * kDword ? hexNumber(loadBigEndian<std::uint64_t>(bytes.data())) : hexBytes(bytes);
  }

  // A list ends at its last entry that isn't zero: outputs are often longer than what they return.
  void readList(const FieldRow& row, const std::string& prefix, std::size_t at) {
    const std::size_t room = rest_.size() > at ? (rest_.size() - at) / row.size : 0;
    std::size_t count = row.most == 0 ? room : std::min(room, row.most);
    while (count != 0 && isZero(view(at + (count - 1) * row.size, row.size))) --count;
    if (count == 0) return;
    DecodedField field = number(prefix + row.name, 0);
    field.kind = DecodedField::Kind::kList;
    field.use = row.use;
    field.count = count;
    field.last = entryText(row, at + (count - 1) * row.size);
    field.first = count == 1 ? field.last : entryText(row, at);
    add(std::move(field));
    if (row.size != kDword) return clear(at, count * row.size);
    for (std::size_t i = 0; i < count; ++i) takeBits(row, at + i * row.size);
  }

  void readEntries(const FieldRow& row, const std::string& prefix, std::size_t base) {
    for (std::size_t i = 0; i < kMostEntries && has(base + row.offset + i * row.size, row.size); ++i) {
      read(*row.table, prefix + row.name + '[' + std::to_string(i) + "].", base + i * row.size);
    }
  }

  void readRest() {
    std::size_t told = 0, untold = 0;
    for (std::size_t at = 0; at < rest_.size(); at += kDword) {
      std::uint8_t dword[kDword] = {};
      std::copy_n(rest_.begin() + static_cast<std::ptrdiff_t>(at), std::min(kDword, rest_.size() - at), dword);
      const auto value = loadBigEndian<std::uint32_t>(dword);
      if (value == 0) continue;
      if (++told > kMostDwords) {
        ++untold;
        continue;
      }
      char name[24];
      std::snprintf(name, sizeof name, "at_0x%02zx", at);
      add(number(name, value));
    }
    if (untold != 0) add(number("further_dwords", untold));
  }

  std::vector<std::uint8_t> rest_;
  ByteView input_;
  bool keepsZeros_;
  std::vector<DecodedField> fields_;
};

const CommandFields* tablesOf(ByteView input) {
  return input.size() < CommandInput::kMinimumSize ? nullptr : findCommandFields(CommandInput::opcode(input));
}

}  // namespace

std::vector<DecodedField> decodeFields(const FieldTable& table, ByteView bytes, ByteView input, Zeros zeros) {
  FieldReader reader(bytes, input, zeros);
  reader.read(table, "", 0);
  return reader.finish();
}

std::vector<DecodedField> decodeCommandInput(ByteView input, Zeros zeros) {
  FieldReader reader(input, input, zeros);
  reader.take(CommandInput::Opcode::kByteOffset, CommandInput::Opcode::Bits::kMask, nullptr);
  reader.take(CommandInput::Uid::kByteOffset, CommandInput::Uid::Bits::kMask, "uid");
  reader.take(CommandInput::Modifier::kByteOffset, CommandInput::Modifier::Bits::kMask, "op_mod");
  if (const CommandFields* tables = tablesOf(input)) reader.read(tables->input, "", 0);
  return reader.finish();
}

std::vector<DecodedField> decodeCommandOutput(ByteView input, ByteView output, Zeros zeros) {
  FieldReader reader(output, input, zeros);
  reader.take(CommandOutput::Status::kByteOffset, CommandOutput::Status::Bits::kMask, nullptr);
  reader.take(CommandOutput::Syndrome::kByteOffset, CommandOutput::Syndrome::Bits::kMask, nullptr);
  const bool isRefused = output.size() < CommandOutput::kMinimumSize || CommandOutput::Status::get(output) != 0;
  const CommandFields* tables = isRefused ? nullptr : tablesOf(input);
  if (tables != nullptr) reader.read(tables->output, "", 0);
  return reader.finish();
}

std::string valueText(const DecodedField& field) {
  switch (field.kind) {
    case DecodedField::Kind::kNumber:
      break;
    case DecodedField::Kind::kText:
      return '"' + field.text + '"';
    case DecodedField::Kind::kBytes: {
      constexpr std::size_t kAlwaysWhole = 32;  // digits
      const std::size_t last = field.text.find_last_not_of('0');
      if (field.text.size() <= kAlwaysWhole || last == std::string::npos) return field.text;
      const std::size_t length = std::min(field.text.size(), (last / 2 + 1) * 2);
      return field.text.substr(0, length) + (length < field.text.size() ? ".." : "");
    }
    case DecodedField::Kind::kList: {
      const std::string range = field.count == 1 ? field.first : field.first + " .. " + field.last;
      return '[' + std::to_string(field.count) + ": " + range + ']';
    }
  }
  if (field.use == FieldRow::Use::kSigned) {
    return std::to_string(static_cast<std::int32_t>(static_cast<std::uint32_t>(field.value)));
  }
  const std::string text = numberText(field.value);
  return field.meaning == nullptr ? text : text + '(' + field.meaning + ')';
}

std::string fieldsText(const std::vector<DecodedField>& fields) {
  std::string text;
  for (const DecodedField& field : fields) text += ' ' + field.name + '=' + valueText(field);
  return text;
}

}  // namespace hca::wire
