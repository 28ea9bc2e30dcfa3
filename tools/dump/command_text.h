// Input or output of a command as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/base/byte_view.h"
#include "models/wire/opcode.h"

namespace hca::dump {

/// The opcode's number from its name ("CREATE_CQ") or itself ("0x400"); nothing if it is neither.
[[nodiscard]] std::optional<wire::CommandOpcode> parseOpcode(const std::string& text);

/// What an output belongs to, as far as its form follows from that.
struct CommandOutputOf {
  wire::CommandOpcode opcode{};
  std::uint32_t modifier = 0;    ///< QUERY_HCA_CAP: which set
  std::uint32_t registerId = 0;  ///< ACCESS_REG
};

/// Opcode and every field; those that are zero, too.
[[nodiscard]] std::string commandInputText(ByteView input);
/// Status, syndrome and every field.
[[nodiscard]] std::string commandOutputText(const CommandOutputOf& of, ByteView output);

}  // namespace hca::dump
