// What the command interface tells about each command, and what it counts.
#pragma once

#include <cstdint>
#include <vector>

#include "models/adapter/command/command_call.h"
#include "models/base/ids.h"
#include "models/base/units.h"
#include "models/wire/command.h"
#include "models/wire/opcode.h"

namespace hca::adapter {

/// One command, decoded, when its answer is on the way to host memory.
struct CommandRecord {
  Time rung;      ///< its doorbell arrived
  Time answered;  ///< owner bit handed back
  HostIndex host;
  AdapterIndex adapter;
  std::uint32_t slot = 0;
  wire::DeliveryStatus delivery = wire::DeliveryStatus::kOk;  ///< not kOk: not executed, what follows is empty
  wire::CommandOpcode opcode{};
  const char* name = "";  ///< as the public driver spells it; "unknown"
  CommandResult result;
  std::vector<CommandField> fields;
};

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

}  // namespace hca::adapter
