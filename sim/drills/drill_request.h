// How a drill is asked for while a simulation runs.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hca::sim {

/// Keys of a [drill.NAME] section with their values.
using DrillKeys = std::vector<std::pair<std::string, std::string>>;

/// As a message: a line a key. And back; what is no line of the form key=value is left out.
[[nodiscard]] std::string toMessage(const DrillKeys& keys);
[[nodiscard]] DrillKeys keysOf(const std::string& message);

/// Where the simulation whose files are in `folder` can be asked.
[[nodiscard]] std::string drillSocketOf(const std::string& folder);

/// What the simulation answered.
struct DrillAnswer {
  bool isAccepted = false;
  std::string text;  ///< lines for a person
};
/// Asks, and waits for the answer. Throws std::runtime_error if nobody listens in `folder`, or nobody answers for ten
/// seconds.
[[nodiscard]] DrillAnswer askForDrill(const std::string& folder, const DrillKeys& keys);

}  // namespace hca::sim
