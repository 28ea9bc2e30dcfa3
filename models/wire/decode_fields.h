// Formats taken apart by their tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/base/byte_view.h"
#include "models/wire/field_table.h"

namespace hca::wire {

/// One field with what it holds.
struct DecodedField {
  enum class Kind : std::uint8_t { kNumber, kBytes, kText, kList };

  std::string name;  ///< with the names of the formats around it: "qpc.primary_address_path.rlid"
  Kind kind = Kind::kNumber;
  FieldRow::Use use = FieldRow::Use::kPlain;
  std::uint64_t value = 0;        ///< kNumber
  const char* meaning = nullptr;  ///< kNumber: the value's name, if it has one
  std::string text = {};          ///< kText; kBytes in hexadecimal
  std::size_t count = 0;          ///< kList: entries up to the last that isn't zero
  std::string first = {};         ///< kList: the first entry
  std::string last = {};          ///< kList: the last that isn't zero
};

/// Whether fields that are zero are told: beside the numbers of objects, which always are.
enum class Zeros : std::uint8_t { kOmit, kKeep };

/// The fields of `bytes`, which may be shorter than the format: what it has no room for is left out. Bits that no row
/// names and that aren't zero follow as dwords "at_0x14", so that nothing is lost. `input`: of the command that `bytes`
/// belong to.
[[nodiscard]] std::vector<DecodedField> decodeFields(const FieldTable& table, ByteView bytes, ByteView input,
                                                     Zeros zeros = Zeros::kOmit);

/// Of a command, by the opcode that its input begins with: uid and op_mod where they aren't zero, and the fields of
/// findCommandFields. An opcode without a table gives its dwords.
[[nodiscard]] std::vector<DecodedField> decodeCommandInput(ByteView input, Zeros zeros = Zeros::kOmit);
/// The same of its output, without status and syndrome.
[[nodiscard]] std::vector<DecodedField> decodeCommandOutput(ByteView input, ByteView output,
                                                            Zeros zeros = Zeros::kOmit);

/// The value alone, as people read it: "3(RTS)", "0x40", "[17: 0x1000 .. 0x11000]".
[[nodiscard]] std::string valueText(const DecodedField& field);
/// " name=value" of each.
[[nodiscard]] std::string fieldsText(const std::vector<DecodedField>& fields);

}  // namespace hca::wire
