// What the kinds of drills are, and what their keys must be like.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/wire/opcode.h"
#include "sim/drills/drill_config.h"

namespace hca::sim {

struct DrillKindInfo {
  DrillKind kind;
  const char* name;
  std::vector<const char*> keys;  ///< beside kind, host, adapter, at
  const char* hardware;           ///< what the adapter does
  const char* driver;             ///< what the stock driver (Linux 6.1) makes of it
};

/// All kinds but kNone.
[[nodiscard]] const std::vector<DrillKindInfo>& drillKinds();
/// Precondition: not kNone.
[[nodiscard]] const DrillKindInfo& infoOf(DrillKind kind);

struct DrillProblem {
  std::string key;
  std::string what;  ///< completes the sentence that begins with the key
};
/// `givenKeys`: those that were written down. Empty: none.
[[nodiscard]] std::vector<DrillProblem> drillProblems(const DrillConfig& drill,
                                                      const std::vector<std::string>& givenKeys);

/// The opcode of a name such as CREATE_CQ.
[[nodiscard]] std::vector<std::string> opcodeNames();
[[nodiscard]] std::optional<wire::CommandOpcode> opcodeOf(const std::string& name);
/// "command_timeout"
[[nodiscard]] const char* name(DrillKind kind);

}  // namespace hca::sim
