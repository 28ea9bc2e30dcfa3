// The configuration that a command line names.
#pragma once

#include <optional>

#include "sim/config/config.h"
#include "sim/options/command.h"

namespace hca::options {

/// Loads the operands as files, with --set and its short forms. Nothing, after every problem was written to
/// `environment.err`, a line each.
[[nodiscard]] std::optional<config::Config> loadConfig(const Arguments& arguments, const Environment& environment);

}  // namespace hca::options
