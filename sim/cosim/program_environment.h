// What a program must find in its environment to use a simulation.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/config/config.h"

namespace hca::cosim {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// A library of hcasim, which lies beside the program's folder in the build tree and where it is installed. Throws
/// std::runtime_error if it is missing, or made for another processor than libhcasim_verbs knows.
[[nodiscard]] std::string findLibrary(const char* name);

/// LD_PRELOAD for programs that need the library `name` of hcasim: what is there, and that.
[[nodiscard]] std::string preloadList(const char* name);

/// Of a program on host `host` of the run in `folder`, but for the way to the simulation. LD_PRELOAD keeps what is
/// there.
[[nodiscard]] Variables programEnvironment(const config::Config& config, std::uint32_t host, const std::string& folder,
                                           bool hasVirtualTime);

/// Keeps the variables of each host in the run's folder, for programs that come later.
void writeEnvironments(const config::Config& config, const std::string& folder, const std::string& socket,
                       bool hasVirtualTime);
/// Reads them; with this process's own LD_PRELOAD. Throws std::runtime_error if there is no such host.
[[nodiscard]] Variables readEnvironment(const std::string& folder, std::uint32_t host);

}  // namespace hca::cosim
