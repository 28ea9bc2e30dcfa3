#include "sim/config/ini_scanner.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "sim/config/text_scan.h"

namespace hca::config {

namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::string_view kUtf16Little = "\xFF\xFE";
constexpr std::string_view kUtf16Big = "\xFE\xFF";

bool isComment(char c) { return c == '#' || c == ';'; }

bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

bool isName(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), isNameCharacter); }

std::string_view withoutComment(std::string_view text) {
  return text.substr(0, std::min(text.size(), text.find_first_of("#;")));
}

class Scanner {
 public:
  Scanner(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  ScannedFile run() {
    if (!refuseEncoding()) scanLines();
    return std::move(file_);
  }

 private:
  void complain(const std::string& key, std::string what) {
    file_.problems.push_back({origin(), key, std::move(what), {}});
  }
  [[nodiscard]] Origin origin() const { return {source_, line_}; }

  // True if the file can't be read at all.
  bool refuseEncoding() {
    line_ = 1;
    if (startsWith(text_, kUtf8Mark)) {
      complain("file", "starts with a byte order mark: save it as UTF-8 without one");
      text_.remove_prefix(kUtf8Mark.size());
    }
    const bool wide = startsWith(text_, kUtf16Little) || startsWith(text_, kUtf16Big);
    if (wide || text_.find('\0') != std::string_view::npos) {
      complain("file", "is not plain text: save it as UTF-8");
      return true;
    }
    return false;
  }

  void scanLines() {
    line_ = 0;
    while (!text_.empty()) {
      ++line_;
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      scanLine(withoutCarriageReturn(text_.substr(0, end)));
      text_.remove_prefix(std::min(end + 1, text_.size()));
    }
  }

  std::string_view withoutCarriageReturn(std::string_view line) {
    if (line.empty() || line.back() != '\r') return line;
    if (!std::exchange(carriageReturnSeen_, true)) {
      complain("file", "has lines that end in CR LF: save it with LF line ends (dos2unix does that)");
    }
    return line.substr(0, line.size() - 1);
  }

  void scanLine(std::string_view line) {
    line = trimmed(line);
    if (line.empty() || isComment(line.front())) return;
    if (line.front() == '[') return scanHeader(line);
    scanAssignment(line);
  }

  void scanHeader(std::string_view line) {
    const std::string_view header = trimmed(withoutComment(line));
    const std::string_view name = trimmed(header.substr(1, header.size() - (header.back() == ']' ? 2 : 1)));
    inBadSection_ = header.back() != ']' || !isName(name);
    if (inBadSection_) return complain(std::string(header), "is no section: write [name]");
    section_ = std::string(name);
    file_.headers.push_back({section_, origin()});
  }

  void scanAssignment(std::string_view line) {
    const std::size_t equals = line.find('=');
    const std::string_view key = trimmed(line.substr(0, equals));
    if (equals == std::string_view::npos || !isName(key)) {
      return complain(std::string(trimmed(withoutComment(line))), "is neither [section] nor key = value");
    }
    const std::optional<std::string> value = scanValue(std::string(key), trimmed(line.substr(equals + 1)));
    if (inBadSection_ || !value || isRepeated(std::string(key))) return;
    file_.assignments.push_back({section_, std::string(key), *value, origin()});
  }

  std::optional<std::string> scanValue(const std::string& key, std::string_view text) {
    if (text.empty() || text.front() != '"') return std::string(trimmed(withoutComment(text)));
    const std::size_t end = text.find('"', 1);
    if (end == std::string_view::npos) {
      complain(key, "has an opening quote without a closing one");
      return std::nullopt;
    }
    const std::string_view rest = trimmed(text.substr(end + 1));
    if (!rest.empty() && !isComment(rest.front())) {
      complain(key, "has text after the closing quote: '" + std::string(rest) + "'");
      return std::nullopt;
    }
    return std::string(text.substr(1, end - 1));
  }

  // `include` may be given several times.
  bool isRepeated(const std::string& key) {
    if (section_.empty() && key == "include") return false;
    const auto [first, isNew] = lines_.insert({{section_, key}, line_});
    if (isNew) return false;
    complain(key, "is set twice in this file: first in line " + std::to_string(first->second));
    return true;
  }

  std::string_view text_;
  const std::string& source_;
  ScannedFile file_;
  int line_ = 0;
  std::string section_;
  bool inBadSection_ = false;
  bool carriageReturnSeen_ = false;
  std::map<std::pair<std::string, std::string>, int> lines_;
};

}  // namespace

ScannedFile scanIni(std::string_view text, const std::string& source) { return Scanner(text, source).run(); }

}  // namespace hca::config
