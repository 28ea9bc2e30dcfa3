// The programs of a co-simulation's command line.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "sim/options/cosim_request.h"

namespace hca::options {

/// The number of a host; nothing if `text` is no number.
[[nodiscard]] std::optional<std::uint32_t> parseHost(const std::string& text);

/// What is wrong with the number of a host that the configuration hasn't.
[[nodiscard]] std::string noSuchHost(std::uint32_t host, std::uint32_t hosts);

/// A span of at most an hour, as "0.5"; nothing if `text` is no number of seconds.
[[nodiscard]] std::optional<std::chrono::milliseconds> parseSeconds(const std::string& text);

/// Whether simulations may be called so.
[[nodiscard]] bool isRunName(const std::string& name);
constexpr const char* kNoRunName = "--name: letters, digits, - and _ make a name";

/// Splits "[-H 0] CMD [ARGS] : [-H 1] CMD2 [ARGS]" as mpirun does; `separator` is the word between. A command without
/// -H runs on the next host behind the one before. Nothing, and `problem` says why, if that makes no sense.
[[nodiscard]] std::optional<std::vector<CosimCommand>> splitCommands(const std::vector<std::string>& words,
                                                                     const std::string& separator, std::uint32_t hosts,
                                                                     std::string& problem);

}  // namespace hca::options
