#include "sim/report/text_table.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace hca::report {

TextTable::TextTable(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void TextTable::add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

std::string TextTable::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line = row[0];
    std::size_t end = widths[0];
    for (std::size_t i = 1; i < widths.size(); ++i) {
      end += 2 + widths[i];
      if (!row[i].empty()) line += std::string(end - row[i].size() - line.size(), ' ') + row[i];
    }
    text += line + '\n';
  }
  return text;
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::istringstream words(text);
  std::string result;
  std::string word;
  std::size_t used = 0;
  while (words >> word) {
    if (used > 0 && used + 1 + word.size() > width) {
      result += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (used > 0) {
      result += ' ';
      ++used;
    }
    result += word;
    used += word.size();
  }
  return result;
}

std::string clipped(const std::string& text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 2) + "..";
}

}  // namespace hca::report
