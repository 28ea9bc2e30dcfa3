// From a command line of perftest to a flow.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace hca::options {

/// The keys of a [flow.NAME] section that does what the command line does.
struct PerftestFlow {
  std::string name;                                       ///< the program's, "ib_write_bw"
  std::vector<std::pair<std::string, std::string>> keys;  ///< key and value, as a file would have them
  std::string problem;                                    ///< empty, or why there is no flow
};

/// Understands the eight programs ib_{write,send,read,atomic}_{lat,bw} and the flags that perftestFlags() lists. What
/// `line` doesn't say is as in perftest (src/perftest_parameters.h and .c: DEF_*, force_dependencies), except that the
/// MTU is the flow's default. A server's name is passed over.
[[nodiscard]] PerftestFlow parsePerftest(const std::string& line);

/// The flags with what they mean, a line each, for --help.
[[nodiscard]] std::string perftestFlags();

}  // namespace hca::options
