// The command line of tools/cqe_dump.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace hca::dump {

/// Runs it and returns the exit code: 0 done, 2 bad input. `arguments` without the program's name; `input` is read when
/// no file is named, or the file `-`.
[[nodiscard]] int runDump(const std::vector<std::string>& arguments, std::istream& input, std::ostream& out,
                          std::ostream& error);

}  // namespace hca::dump
