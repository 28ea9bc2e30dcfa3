// What every command's input and output begin with, and the layouts that many commands share.
#pragma once

#include "models/wire/context_field.h"
#include "models/wire/opcode.h"

namespace hca::wire {

/// Linux include/linux/mlx5/mlx5_ifc.h, struct mlx5_ifc_mbox_in_bits.
struct CommandInput {
  static constexpr std::size_t kMinimumSize = 8;
  using Opcode = ContextField<0x00, 31, 16>;  ///< CommandOpcode
  using Uid = ContextField<0x00, 15, 0>;
  using Modifier = ContextField<0x04, 15, 0>;

  /// Starts an input: opcode and modifier; everything else must be zero already.
  static void begin(MutableByteView input, CommandOpcode opcode, std::uint32_t modifier = 0) {
    Opcode::set(input, static_cast<std::uint32_t>(opcode));
    Modifier::set(input, modifier);
  }
  [[nodiscard]] static CommandOpcode opcode(ByteView input) { return static_cast<CommandOpcode>(Opcode::get(input)); }
};

/// struct mlx5_ifc_mbox_out_bits. A refused command returns these two and nothing else.
struct CommandOutput {
  static constexpr std::size_t kMinimumSize = 8;
  using Status = ContextField<0x00, 31, 24>;
  using Syndrome = ContextField<0x04, 31, 0>;
};

/// Input and output of the commands that carry one object number: ALLOC and DEALLOC of PD, UAR, XRCD and transport
/// domain, CREATE (output), DESTROY and QUERY (input) of memory key, CQ, QP, SRQ, RMP.
struct ObjectCommand {
  static constexpr std::size_t kSize = 16;
  using Number = ContextField<0x08, 23, 0>;
};

/// As ObjectCommand, for event queues.
struct EqCommand {
  static constexpr std::size_t kSize = 16;
  using Number = ContextField<0x08, 7, 0>;
};

}  // namespace hca::wire
