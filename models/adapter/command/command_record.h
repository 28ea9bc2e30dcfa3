// What the command interface tells about each command, and what it counts.
#pragma once

#include <cstdint>
#include <optional>

#include "models/adapter/command/command_call.h"
#include "models/base/byte_view.h"
#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/wire/command.h"
#include "models/wire/opcode.h"

namespace hca::adapter {

/// Why software's doing led to no command, or to one that wasn't executed. A command that was executed and refused is
/// counted by its status instead.
enum class CommandRejection : std::uint8_t {
  kRegisterWidth,        ///< a write that is no whole register
  kRegisterNotWritable,  ///< a write to a read-only or missing register, or of an unknown interface state
  kNotReady,             ///< a doorbell while initialising
  kNoQueue,              ///< a doorbell before the queue's address, or while disabled
  kSlotBusy,             ///< a doorbell of a slot that is under way
  kEntryUnreadable,      ///< host memory refused the queue entry: nobody can be told
  kEntryNotOwned,        ///< the entry's owner bit says software
  kDescriptorType,
  kReservedField,
  kSignature,
  kToken,
  kBlockNumber,
  kInputLength,
  kOutputLength,
  kInputPointer,
  kOutputPointer,
  kMailboxUnreadable,
  kAnswerUnwritable,  ///< host memory refused a part of the answer
  kCount,
};
/// A few words for logs and results.
[[nodiscard]] const char* name(CommandRejection kind);

/// One command when its answer is on the way to host memory, or something that led to none. Input and output are taken
/// apart by wire::decodeCommandInput and wire::decodeCommandOutput.
struct CommandRecord {
  Time rung;      ///< its doorbell arrived
  Time answered;  ///< owner bit handed back
  HostIndex host;
  AdapterIndex adapter;
  std::optional<std::uint32_t> slot;
  /// Why it wasn't executed. Nobody is told (`delivery` is kOk) where there is no entry that could be answered, and
  /// there is no slot where a register is the reason, or an answer that can't be written.
  std::optional<CommandRejection> rejection;
  wire::DeliveryStatus delivery = wire::DeliveryStatus::kOk;  ///< not kOk: not executed
  wire::CommandOpcode opcode{};                               ///< as the next two only if the input was read
  const char* name = "";                                      ///< as the public driver spells it; "unknown"
  CommandResult result;
  ByteView input;   ///< as far as it was read; valid while listeners are told, as the next
  ByteView output;  ///< with status and syndrome; what is longer than that is zero if it was refused
};

}  // namespace hca::adapter
