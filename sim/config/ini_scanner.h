// Reads the lines of a configuration file. Knows nothing of sections' meaning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/problem.h"

namespace hca::config {

/// `key = value` in a section.
struct Assignment {
  std::string section;  ///< empty: before the first section
  std::string key;
  std::string value;
  Origin origin;
};

/// `[section]`
struct SectionHeader {
  std::string section;
  Origin origin;
};

struct ScannedFile {
  std::vector<SectionHeader> headers;
  std::vector<Assignment> assignments;
  Problems problems;
};

/// Scans `text`, which came from `source`.
///
/// A line is blank, a comment, `[section]` or `key = value`. `#` and `;` start a comment, at the start of a line or
/// after a value; a value in double quotes may hold them. Lines end in LF. A carriage return, a byte order mark, a NUL,
/// a line of any other form, an unfinished quote, and the same key twice in one section are problems; scanning goes on
/// behind each.
[[nodiscard]] ScannedFile scanIni(std::string_view text, const std::string& source);

}  // namespace hca::config
