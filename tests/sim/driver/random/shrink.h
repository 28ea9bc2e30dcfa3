// Finds a short script that still fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>

#include "tests/sim/driver/random/random_script.h"

namespace hca::test {

/// Whether two problems are the same but for the step and the numbers that they name: a script must not shrink into one
/// that shows something else.
inline bool isSameKind(std::string one, std::string other) {
  const auto plain = [](std::string& text) {
    if (text.compare(0, 4, "step") == 0 || text.compare(0, 6, "at the") == 0) text.erase(0, text.find(':'));
    text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }), text.end());
  };
  plain(one);
  plain(other);
  return one == other;
}

/// Delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002), complements
/// alone: leaves out ever smaller parts as long as the rest `fails`. Of the result no single step can be left out,
/// unless `mostTries` ran out.
inline Script shrink(Script script, const std::function<bool(const Script&)>& fails, std::size_t mostTries = 2000) {
  std::size_t part = (script.size() + 1) / 2;
  std::size_t tries = 0;
  while (part >= 1 && script.size() > 1) {
    bool shorter = false;
    for (std::size_t from = 0; from < script.size() && tries < mostTries;) {
      Script rest(script.begin(), script.begin() + static_cast<std::ptrdiff_t>(from));
      const std::size_t until = std::min(from + part, script.size());
      rest.insert(rest.end(), script.begin() + static_cast<std::ptrdiff_t>(until), script.end());
      ++tries;
      if (!rest.empty() && fails(rest)) {
        script = std::move(rest);
        shorter = true;
      } else {
        from = until;
      }
    }
    if (tries >= mostTries) break;
    if (part == 1 && !shorter) break;
    if (!shorter || part > script.size() / 2) part = std::max<std::size_t>(1, std::min(part / 2, script.size() / 2));
  }
  return script;
}

}  // namespace hca::test
