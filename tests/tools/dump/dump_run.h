// One call of the dump tool.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "tools/dump/dump_command.h"

namespace hca::dump::test {

struct DumpRun {
  int exitCode = 0;
  std::string out;
  std::string error;
};

inline DumpRun run(const std::vector<std::string>& arguments, const std::string& input) {
  std::istringstream in(input);
  std::ostringstream out, error;
  const int exitCode = runDump(arguments, in, out, error);
  return {exitCode, out.str(), error.str()};
}

/// `bytes` as two digits each.
inline std::string hexOf(const std::vector<std::uint8_t>& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xF];
  }
  return text + '\n';
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace hca::dump::test
