#include "models/adapter/command/command_fault.h"

#include <algorithm>

namespace hca::adapter {

std::optional<CommandFault> CommandFaults::next(wire::CommandOpcode opcode) {
  std::optional<CommandFault> hit;
  for (CommandFault& fault : faults_) {
    if (fault.opcode && *fault.opcode != opcode) continue;
    if (hit && fault.occasions.after == 0) continue;
    if (fault.occasions.take()) hit = fault;
  }
  const auto isOver = [](const CommandFault& fault) { return fault.occasions.isOver(); };
  faults_.erase(std::remove_if(faults_.begin(), faults_.end(), isOver), faults_.end());
  return hit;
}

}  // namespace hca::adapter
