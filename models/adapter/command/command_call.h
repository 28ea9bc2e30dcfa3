// One command under execution.
#pragma once

#include <cstdint>

#include "models/adapter/command/command_result.h"
#include "models/base/byte_view.h"
#include "models/wire/command_header.h"

namespace hca::adapter {

/// What a handler gets. `input` and `output` have at least the lengths that the command table demands; `output` is
/// zero. Status and syndrome are written by whoever called the handler.
struct CommandCall {
  ByteView input;
  MutableByteView output;

  [[nodiscard]] std::uint32_t modifier() const { return wire::CommandInput::Modifier::get(input); }
};

}  // namespace hca::adapter
