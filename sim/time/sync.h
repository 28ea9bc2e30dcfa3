// How simulated time and programs follow each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hca::sim {

/// How simulated time follows programs.
struct Sync {
  enum class Kind : std::uint8_t {
    kLockstep,  ///< never ahead of a thread that could still act earlier
    kPaced,     ///< at most `scale` times wall time
    kFree       ///< whenever something is pending
  };
  Kind kind = Kind::kLockstep;
  double scale = 1;
};
/// "lockstep", "paced", "paced:0.5", "free"; nothing if it is none of these.
[[nodiscard]] std::optional<Sync> parseSync(const std::string& text);
/// What `parseSync` reads.
[[nodiscard]] std::string toText(const Sync& sync);

}  // namespace hca::sim
