#include "tools/dump/command_text.h"

#include <cstdlib>
#include <vector>

#include "models/wire/command_header.h"
#include "models/wire/command_status.h"
#include "models/wire/decode_fields.h"
#include "models/wire/device_commands.h"
#include "tools/dump/field_list.h"

namespace hca::dump {
namespace {

void addFields(FieldList& list, const std::vector<wire::DecodedField>& fields) {
  for (const wire::DecodedField& field : fields) list.text(field.name, wire::valueText(field));
}

}  // namespace

std::optional<wire::CommandOpcode> parseOpcode(const std::string& text) {
  constexpr unsigned long kLargest = 0xFFFF;
  char* end = nullptr;
  const unsigned long number = std::strtoul(text.c_str(), &end, 0);
  if (!text.empty() && *end == '\0' && number <= kLargest) return static_cast<wire::CommandOpcode>(number);
  for (unsigned long value = 0; value <= kLargest; ++value) {
    const auto opcode = static_cast<wire::CommandOpcode>(value);
    if (text != "unknown" && text == wire::name(opcode)) return opcode;
  }
  return std::nullopt;
}

std::string commandInputText(ByteView input) {
  const wire::CommandOpcode opcode = wire::CommandInput::opcode(input);
  FieldList list;
  list.named("opcode", static_cast<std::uint64_t>(opcode), wire::name(opcode));
  const auto fields = wire::decodeCommandInput(input, wire::Zeros::kKeep);
  addFields(list, fields);
  return list.toText("");
}

std::string commandOutputText(const CommandOutputOf& of, ByteView output) {
  std::uint8_t input[wire::AccessRegisterInput::kSize] = {};
  wire::CommandInput::begin({input, sizeof input}, of.opcode, of.modifier);
  wire::AccessRegisterInput::Register::set({input, sizeof input}, of.registerId);
  const auto status = static_cast<wire::CommandStatus>(wire::CommandOutput::Status::get(output));
  FieldList list;
  list.named("status", static_cast<std::uint64_t>(status), wire::driverName(status));
  list.hex("syndrome", wire::CommandOutput::Syndrome::get(output));
  const auto fields = wire::decodeCommandOutput({input, sizeof input}, output, wire::Zeros::kKeep);
  addFields(list, fields);
  return list.toText("");
}

}  // namespace hca::dump
