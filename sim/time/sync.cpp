#include "sim/time/sync.h"

#include <cstdlib>

namespace hca::sim {

std::optional<Sync> parseSync(const std::string& text) {
  if (text == "lockstep") return Sync{};
  if (text == "free") return Sync{Sync::Kind::kFree, 1};
  const std::string paced = "paced";
  if (text == paced) return Sync{Sync::Kind::kPaced, 1};
  if (text.compare(0, paced.size() + 1, paced + ':') != 0) return std::nullopt;
  const char* number = text.c_str() + paced.size() + 1;
  char* end = nullptr;
  const double scale = std::strtod(number, &end);
  constexpr double kLeast = 1e-6, kMost = 1e6;
  if (end == number || *end != '\0' || !(scale >= kLeast && scale <= kMost)) return std::nullopt;
  return Sync{Sync::Kind::kPaced, scale};
}

std::string toText(const Sync& sync) {
  if (sync.kind == Sync::Kind::kLockstep) return "lockstep";
  return sync.kind == Sync::Kind::kFree ? "free" : "paced:" + std::to_string(sync.scale);
}

}  // namespace hca::sim
