#include "sim/config/problem.h"

namespace hca::config {

std::string describe(const Problem& problem) {
  std::string text = problem.origin.source;
  if (problem.origin.line > 0) text += ':' + std::to_string(problem.origin.line);
  text += ": " + problem.key + ": " + problem.what;
  if (!problem.nearest.empty()) text += " (nearest known: " + problem.nearest + ')';
  return text;
}

}  // namespace hca::config
