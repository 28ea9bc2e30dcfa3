// The named fields of every command's input and output.
#pragma once

#include "models/wire/field_table.h"
#include "models/wire/opcode.h"

namespace hca::wire {

/// Without what all commands begin with: opcode, uid, op_mod; status, syndrome.
struct CommandFields {
  CommandOpcode opcode;
  FieldTable input;
  FieldTable output;
};

/// nullptr for an opcode without a table.
[[nodiscard]] const CommandFields* findCommandFields(CommandOpcode opcode);

}  // namespace hca::wire
