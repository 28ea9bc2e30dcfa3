// The configuration that a command line names.
#pragma once

#include <optional>

#include "sim/config/config.h"
#include "sim/config/config_loader.h"
#include "sim/options/command.h"

namespace hca::options {

/// Loads `files`, with --set and its short forms. Nothing, after every problem was written to
/// `environment.err`, a line each. Any other value is stronger than `weak`.
[[nodiscard]] std::optional<config::Config> loadConfig(const std::vector<std::string>& files,
                                                       const Arguments& arguments, const Environment& environment,
                                                       config::Work work,
                                                       const std::vector<config::Setting>& weak = {});
/// The same for the operands, whose work is the simulation's own.
[[nodiscard]] std::optional<config::Config> loadConfig(const Arguments& arguments, const Environment& environment);

}  // namespace hca::options
