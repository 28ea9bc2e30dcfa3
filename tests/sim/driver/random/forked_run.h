// A script in a process of its own.
#pragma once

#include <string>

#include "tests/sim/driver/random/random_script.h"

namespace hca::test {

/// What is wrong, or empty. SystemC elaborates once a process, and a crash or a hang is a result, too.
[[nodiscard]] std::string forkedRun(const RandomWorld& world, const Script& script);

}  // namespace hca::test
