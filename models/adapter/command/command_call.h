// One command under execution.
#pragma once

#include <cstdint>
#include <vector>

#include "models/adapter/command/command_result.h"
#include "models/base/byte_view.h"
#include "models/wire/command_header.h"

namespace hca::adapter {

/// A decoded field, for the log. `name` is a string literal.
struct CommandField {
  const char* name;
  std::uint64_t value;
};

/// What a handler gets. `input` and `output` have at least the lengths that the command table demands; `output` is
/// zero. Status and syndrome are written by whoever called the handler.
struct CommandCall {
  ByteView input;
  MutableByteView output;
  std::vector<CommandField>* fields = nullptr;  ///< set only if somebody listens

  [[nodiscard]] std::uint32_t modifier() const { return wire::CommandInput::Modifier::get(input); }
  /// Names a field for the log.
  void note(const char* name, std::uint64_t value) const {
    if (fields != nullptr) fields->push_back({name, value});
  }
};

}  // namespace hca::adapter
