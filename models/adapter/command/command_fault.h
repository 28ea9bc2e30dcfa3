// Commands that go wrong because somebody wants it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "models/adapter/command/command_result.h"
#include "models/adapter/occasions.h"
#include "models/base/units.h"
#include "models/wire/command.h"
#include "models/wire/opcode.h"

namespace hca::adapter {

/// What the adapter's firmware does wrong with a command that it read whole and without a complaint.
enum class CommandFaultKind : std::uint8_t {
  kSwallowed,    ///< never executed, never answered: the slot stays the hardware's until a reset or a disable
  kLate,         ///< executed and answered later; other commands go on meanwhile
  kRefused,      ///< answered by a status and a syndrome, not executed
  kUndelivered,  ///< answered by a delivery status, not executed
};

struct CommandFault {
  CommandFaultKind kind = CommandFaultKind::kSwallowed;
  std::optional<wire::CommandOpcode> opcode;  ///< empty: any
  Occasions occasions;                        ///< of that opcode
  Time delay{};                               ///< kLate
  CommandResult result{};                     ///< kRefused
  wire::DeliveryStatus delivery{};            ///< kUndelivered
  /// Told of each command that goes wrong.
  std::function<void(wire::CommandOpcode opcode, std::uint32_t slot)> happened;
};

/// The faults that are still to come, in the order in which they were asked for. SystemC-free.
class CommandFaults {
 public:
  void add(CommandFault fault) {
    if (!fault.occasions.isOver()) faults_.push_back(std::move(fault));
  }
  /// What goes wrong with this command: the first fault that concerns it and spares none any more. Each that concerns
  /// it and spares some counts it.
  [[nodiscard]] std::optional<CommandFault> next(wire::CommandOpcode opcode);
  [[nodiscard]] std::size_t pending() const { return faults_.size(); }

 private:
  std::vector<CommandFault> faults_;
};

}  // namespace hca::adapter
