// Columns that line up, and paragraphs that fit.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hca::report {

/// A table for the terminal: the first column to the left, the others to the right, two blanks between.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  /// As many cells as the header has.
  void add(std::vector<std::string> row);
  /// Every line ends in LF; no trailing blanks.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// `text` broken between words into lines of at most `width` characters, all but the first indented by `indent`.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t indent, std::size_t width);

/// Shortened to `width` with ".." at the end if it is longer.
[[nodiscard]] std::string clipped(const std::string& text, std::size_t width);

}  // namespace hca::report
